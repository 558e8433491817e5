"""The commands and their options; what they do stands in the files of their names."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from freshet.cli.compile import compile_script
from freshet.cli.demo import run_demo
from freshet.cli.explain import explain_on_spark, explain_script
from freshet.cli.factorized import Choices, compile_factorized, explain_factorized
from freshet.cli.pipeline import Job, run_on_spark
from freshet.cli.run import Outputs, run_script
from freshet.cli.spark_demo import run_on_spark as demo_on_spark
from freshet.errors import FreshetError, FreshetWarning, UnsupportedSql
from freshet.plan.options import Strategy
from freshet.runtime.settings import EngineName, ModeChoice, Settings

app = typer.Typer(
    help="Views in SQL, kept fresh by deltas as the data changes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

RunEngine = Literal["spark", "process", "auto", "native", "reference"]

Script = Annotated[Path, typer.Argument(help="a script of CREATE STREAM, TABLE and VIEW")]
StrategyOption = Annotated[Strategy, typer.Option(help="how the views are maintained")]
ModeOption = Annotated[ModeChoice, typer.Option(help="triggers for batches or for single rows")]
DtreeOption = Annotated[
    Path | None, typer.Option(help="factorized: a file with the variable order")
]
StrictOption = Annotated[bool, typer.Option("--strict", help="refuse views that recompute")]


@app.command()
def explain(
    script: Script,
    view: Annotated[str, typer.Argument(help="one view; all of them by default")] = "",
    engine: Annotated[EngineName, typer.Option(help="whose program is shown")] = "reference",
    strategy: StrategyOption = "auto",
    mode: ModeOption = "auto",
    strict: StrictOption = False,
    spark: Annotated[bool, typer.Option("--spark", help="how it is spread over workers")] = False,
    dtree: DtreeOption = None,
) -> None:
    """Show each stage of a view: its term after every pass, its maps, triggers and the choice."""
    _check_dtree(dtree, strategy)
    if dtree is not None and (spark or engine != "reference"):
        raise FreshetError(
            "--dtree is explained for the reference engine", instead="drop --spark and --engine"
        )
    if strategy == "factorized" and engine == "reference" and not spark:
        try:
            typer.echo("\n\n\n".join(explain_factorized(script, view, Choices(dtree))))
            return
        except UnsupportedSql as e:
            if dtree is not None:
                raise
            _tell(f"no listing in M3: {e}")
    settings = Settings(strategy=strategy, mode=mode, strict=strict, engine=engine)
    tell = explain_on_spark if spark else explain_script
    typer.echo("\n\n\n".join(tell(script, view, settings)))


@app.command("compile")
def compile_(
    script: Script,
    out: Annotated[Path, typer.Option("--out", "-o", help="the folder to write into")],
    strategy: StrategyOption = "auto",
    mode: ModeOption = "auto",
    strict: StrictOption = False,
    dtree: DtreeOption = None,
    compact: Annotated[
        bool, typer.Option(help="factorized: make views in a chain one view")
    ] = True,
    inline: Annotated[
        bool, typer.Option(help="factorized: put a delta that is read once where it is read")
    ] = True,
    drawn: Annotated[
        bool, typer.Option("--diagram/--no-diagram", help="factorized: draw the view tree")
    ] = True,
    check_m3: Annotated[bool, typer.Option(help="factorized: read the M3 back")] = True,
) -> None:
    """Write each view's program as M3 text, diagram, C++ source and shared library."""
    _check_dtree(dtree, strategy)
    settings = Settings(strategy=strategy, mode=mode, strict=strict)
    if strategy == "factorized":
        choices = Choices(dtree, compact, inline, drawn, check_m3)
        for path in compile_factorized(script, out, choices, settings, _tell):
            typer.echo(path)
        return
    for path in compile_script(script, out, settings, _tell):
        typer.echo(path)


@app.command()
def run(
    script: Script,
    engine: Annotated[
        RunEngine, typer.Option(help="what runs the views: Spark, or an engine of this process")
    ] = "spark",
    master: Annotated[str, typer.Option(help="where Spark runs")] = "local[*]",
    checkpoint: Annotated[
        Path | None, typer.Option(help="a folder from which a later run goes on")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="parts of the state; as many as cores if not told")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(min=1, help="records of a file in one change")
    ] = None,
    trigger: Annotated[str, typer.Option(help="how often sources are asked, as '1 second'")] = "",
    follow: Annotated[bool, typer.Option("--follow", help="go on until it is stopped")] = False,
    out: Annotated[
        str,
        typer.Option(
            help="write the views: to a folder as CSV, parquet:FOLDER, delta:FOLDER or"
            " kafka:HOST:PORT/TOPIC"
        ),
    ] = "",
    changes: Annotated[
        Path | None, typer.Option(help="write every change as a line: view, version, count, row")
    ] = None,
    listen: Annotated[
        str, typer.Option(help="send the changes to the one who connects to HOST:PORT")
    ] = "",
    metrics: Annotated[
        Path | None, typer.Option(help="a file for figures in Prometheus's text, after each batch")
    ] = None,
    dead_letters: Annotated[
        Path | None, typer.Option(help="a folder for rows that do not fit, with the reason")
    ] = None,
    package: Annotated[
        list[str] | None, typer.Option(help="Maven coordinates of a jar that Spark needs")
    ] = None,
    strategy: StrategyOption = "auto",
    mode: ModeOption = "auto",
    strict: StrictOption = False,
) -> None:
    """Read the sources that the script names, batch by batch, and print the views."""
    if engine == "spark":
        job = Job(
            master,
            checkpoint,
            workers,
            batch,
            trigger,
            follow,
            out,
            changes,
            listen,
            metrics,
            dead_letters,
            tuple(package or ()),
            strategy,
            strict,
        )
        run_on_spark(script, job, Console(), _tell)
        return
    asked = {
        "--checkpoint": checkpoint,
        "--workers": workers,
        "--trigger": trigger,
        "--follow": follow,
        "--metrics": metrics,
        "--dead-letters": dead_letters,
        "--package": package,
    }
    for option, value in asked.items():
        if value:
            raise FreshetError(f"{option} is for Spark", instead=f"leave out --engine {engine}")
    chosen = "auto" if engine == "process" else engine
    settings = Settings(strategy=strategy, mode=mode, strict=strict, engine=chosen)
    outputs = Outputs(Path(out) if out else None, changes, listen)
    run_script(script, settings, batch or 1000, Console(), outputs, _tell)


@app.command()
def demo(
    events: Annotated[int | None, typer.Option(min=40, help="how many orders come or go")] = None,
    seed: Annotated[int, typer.Option(help="which of the made-up order books")] = 1,
    batches: Annotated[int, typer.Option(min=1, help="in how many batches, on Spark")] = 20,
    master: Annotated[str, typer.Option(help="where Spark runs")] = "local[*]",
    engine: Annotated[
        Literal["spark", "process"], typer.Option(help="Spark, or this process")
    ] = "spark",
) -> None:
    """Watch views over an order book follow every change, and compare with recomputation."""
    if engine == "process":
        run_demo(events or 3000, seed, Console())
    else:
        demo_on_spark(events or 40_000, batches, seed, Console(), master)


def _check_dtree(dtree: Path | None, strategy: Strategy) -> None:
    if dtree is not None and strategy != "factorized":
        raise FreshetError("--dtree is for view trees", instead="add --strategy factorized")


def _tell(words: object) -> None:
    print(f"freshet: {words}", file=sys.stderr, flush=True)


def main() -> None:
    """Run a command; what goes wrong on purpose is one line on stderr and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", FreshetWarning)
            warnings.showwarning = lambda message, *_, **__: _tell(message)
            app()
    except FreshetError as e:
        _tell(e)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output has left (as `head` does): no complaint, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
