"""The commands and their options; what they do stands in the files of their names."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from freshview.cli.compile import compile_script
from freshview.cli.demo import run_demo
from freshview.cli.doctor import diagnose, print_findings
from freshview.cli.explain import explain_on_spark, explain_passes, explain_script
from freshview.cli.factorized import DiagramOptions, compile_factorized, explain_factorized
from freshview.cli.init import create_project
from freshview.cli.options import (
    BatchOption,
    ChangesOption,
    CheckpointOption,
    DeadLettersOption,
    DtreeOption,
    EngineOption,
    FollowOption,
    ListenOption,
    MasterOption,
    MetricsOption,
    ModeOption,
    OutOption,
    PackageOption,
    Script,
    StrategyOption,
    StrictOption,
    SwitchOption,
    TriggerOption,
    TrustedOption,
    WorkersOption,
)
from freshview.cli.pipeline import RunOptions, run_on_spark
from freshview.cli.run import outputs_of, run_script
from freshview.cli.serve import serve_script
from freshview.cli.shell import run_shell
from freshview.cli.spark_demo import run_on_spark as demo_on_spark
from freshview.cli.switches import switches_of
from freshview.errors import FreshviewError, FreshviewWarning, UnsupportedSql
from freshview.plan.options import Strategy
from freshview.runtime.settings import DatabaseSettings, EngineChoice
from freshview.server.options import ServeOptions

app = typer.Typer(
    help="Views in SQL, kept fresh by deltas as the data changes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from freshview import __version__

        typer.echo(f"freshview {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="the version"),
    ] = False,
) -> None:
    """Views in SQL, kept fresh by deltas as the data changes."""


@app.command()
def explain(
    script: Script,
    view: Annotated[str, typer.Argument(help="one view; all of them by default")] = "",
    engine: Annotated[
        EngineChoice, typer.Option(help="whose program is shown; auto: that of connect()")
    ] = "auto",
    strategy: StrategyOption = "auto",
    mode: ModeOption = "auto",
    strict: StrictOption = False,
    switch: SwitchOption = None,
    spark: Annotated[bool, typer.Option("--spark", help="how it is spread over workers")] = False,
    dtree: DtreeOption = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="also its terms, and its program"),
    ] = False,
    passes: Annotated[
        bool, typer.Option("--passes", help="the kernel after every pass: layout and loops")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="with --passes: check what each pass has made")
    ] = False,
) -> None:
    """Show how a view is kept: the choice, what it is expected to cost, its joins, its engine."""
    _check_dtree(dtree, strategy)
    switches = switches_of(switch)
    if check and not passes:
        raise FreshviewError("--check belongs to --passes", instead="add --passes")
    if passes:
        if spark or dtree is not None or engine == "reference":
            raise FreshviewError(
                "--passes shows the kernel of this process",
                instead="drop --spark, --dtree and --engine reference",
            )
        settings = DatabaseSettings(strategy, mode, strict, "native", switches=switches)
        typer.echo("\n\n\n".join(explain_passes(script, view, settings, check)))
        return
    if dtree is not None and (spark or engine != "auto"):
        raise FreshviewError(
            "--dtree is explained as M3, not as the program of an engine",
            instead="drop --spark and --engine",
        )
    settings = DatabaseSettings(strategy, mode, strict, engine, switches=switches)
    if strategy == "factorized" and engine == "auto" and not spark:
        try:
            typer.echo("\n\n\n".join(explain_factorized(script, view, DiagramOptions(dtree))))
            return
        except UnsupportedSql as e:
            if dtree is not None:
                raise
            _tell(f"no listing in M3: {e}")
    if spark:
        typer.echo("\n\n\n".join(explain_on_spark(script, view, settings)))
    else:
        typer.echo("\n\n\n".join(explain_script(script, view, settings, verbose=verbose)))


@app.command("compile")
def compile_(
    script: Script,
    out: Annotated[Path, typer.Option("--out", "-o", help="the folder to write into")],
    strategy: StrategyOption = "auto",
    mode: ModeOption = "auto",
    strict: StrictOption = False,
    switch: SwitchOption = None,
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
    standalone: Annotated[
        bool, typer.Option(help="write a program, a library for C and a package of Python")
    ] = True,
) -> None:
    """Write each view's program as M3 text, diagram, C++ and library; and standalone code."""
    _check_dtree(dtree, strategy)
    settings = DatabaseSettings(strategy, mode, strict, switches=switches_of(switch))
    if strategy == "factorized":
        choices = DiagramOptions(dtree, compact, inline, drawn, check_m3, standalone)
        for line in compile_factorized(script, out, choices, settings, _tell):
            typer.echo(line)
        return
    for line in compile_script(script, out, settings, _tell, standalone=standalone):
        typer.echo(line)


@app.command()
def run(
    script: Script,
    engine: EngineOption = "spark",
    master: MasterOption = "local[*]",
    checkpoint: CheckpointOption = None,
    workers: WorkersOption = None,
    batch: BatchOption = None,
    trigger: TriggerOption = "",
    follow: FollowOption = False,
    out: OutOption = "",
    changes: ChangesOption = None,
    listen: ListenOption = "",
    metrics: MetricsOption = None,
    dead_letters: DeadLettersOption = None,
    package: PackageOption = None,
    trusted: TrustedOption = None,
    strategy: StrategyOption = "auto",
    mode: ModeOption = "auto",
    strict: StrictOption = False,
    switch: SwitchOption = None,
) -> None:
    """Read the sources that the script names, batch by batch, and print the views."""
    if engine == "spark":
        options = RunOptions(
            master=master,
            checkpoint=checkpoint,
            workers=workers,
            batch=batch,
            trigger=trigger,
            follow=follow,
            out=out,
            changes=changes,
            listen=listen,
            metrics=metrics,
            dead_letters=dead_letters,
            packages=tuple(package or ()),
            trusted="all" in (trusted or ()) or tuple(trusted or ()),
            strategy=strategy,
            strict=strict,
            switches=switches_of(switch),
        )
        run_on_spark(script, options, Console(), _tell)
        return
    _refuse_spark_options(
        engine,
        {
            "checkpoint": checkpoint,
            "workers": workers,
            "trigger": trigger,
            "follow": follow,
            "metrics": metrics,
            "dead-letters": dead_letters,
            "package": package,
            "trusted": trusted,
        },
    )
    chosen = "auto" if engine == "process" else engine
    settings = DatabaseSettings(strategy, mode, strict, chosen, switches=switches_of(switch))
    outputs = outputs_of(out, changes, listen)
    run_script(script, settings, batch or 1000, Console(), outputs, _tell)


def _refuse_spark_options(engine: str, options: Mapping[str, object]) -> None:
    for option, value in options.items():
        if value:
            raise FreshviewError(f"--{option} is for Spark", instead=f"leave out --engine {engine}")


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


@app.command()
def shell(
    script: Annotated[
        Path | None, typer.Argument(help="a script to begin with; its sources are read")
    ] = None,
    engine: Annotated[EngineChoice, typer.Option(help="what serves the views")] = "auto",
) -> None:
    """Type statements and questions over a database in this process."""
    run_shell(script, DatabaseSettings(engine=engine), Console(), _tell)


@app.command()
def serve(
    script: Script,
    host: Annotated[str, typer.Option(help="the address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free")] = 8080,
    token: Annotated[
        str, typer.Option(help="what visitors must know; made up if it is not given")
    ] = "",
    batch: Annotated[int, typer.Option(min=1, help="rows of a file in one change")] = 1000,
    engine: Annotated[EngineChoice, typer.Option(help="what serves the views")] = "auto",
) -> None:
    """Show the views of a script on a page, as they change, with an API over HTTP."""
    options = ServeOptions(host, port, token, batch)
    serve_script(script, DatabaseSettings(engine=engine), options, _tell)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="where; the current folder by default")] = Path(),
) -> None:
    """Write a commented script to begin with, and the data that it reads."""
    for line in create_project(folder):
        typer.echo(line)


@app.command()
def doctor() -> None:
    """Look at what this machine has, and name the command that adds what is missing."""
    if not print_findings(diagnose(), Console()):
        raise typer.Exit(1)


def _check_dtree(dtree: Path | None, strategy: Strategy) -> None:
    if dtree is not None and strategy != "factorized":
        raise FreshviewError("--dtree is for view trees", instead="add --strategy factorized")


def _tell(words: object) -> None:
    print(f"freshview: {words}", file=sys.stderr, flush=True)


def main() -> None:
    """Run a command; what goes wrong on purpose is one line on stderr and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", FreshviewWarning)
            warnings.showwarning = lambda message, *_, **__: _tell(message)
            app()
    except FreshviewError as e:
        _tell(e)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output has left (as `head` does): no complaint, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
