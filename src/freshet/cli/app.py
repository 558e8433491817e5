"""The commands and their options; what they do stands in the files of their names."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from freshet.cli.compile import compile_script
from freshet.cli.demo import run_demo
from freshet.cli.explain import explain_on_spark, explain_script
from freshet.cli.run import Outputs, run_script
from freshet.errors import FreshetError, FreshetWarning
from freshet.plan.options import Strategy
from freshet.runtime.settings import EngineChoice, EngineName, ModeChoice, Settings

app = typer.Typer(
    help="Views in SQL, kept fresh by deltas as the data changes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Script = Annotated[Path, typer.Argument(help="a script of CREATE STREAM, TABLE and VIEW")]
StrategyOption = Annotated[Strategy, typer.Option(help="how the views are maintained")]
ModeOption = Annotated[ModeChoice, typer.Option(help="triggers for batches or for single rows")]
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
) -> None:
    """Show each stage of a view: its term after every pass, its maps, triggers and the choice."""
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
) -> None:
    """Write each view's program as M3 text, diagram, C++ source and shared library."""
    settings = Settings(strategy=strategy, mode=mode, strict=strict)
    for path in compile_script(script, out, settings, _tell):
        typer.echo(path)


@app.command()
def run(
    script: Script,
    batch: Annotated[int, typer.Option(min=1, help="rows of a stream in one change")] = 1000,
    engine: Annotated[EngineChoice, typer.Option(help="what runs the views")] = "auto",
    out: Annotated[Path | None, typer.Option(help="write the views as CSV to this folder")] = None,
    changes: Annotated[
        Path | None, typer.Option(help="write every change as a line: view, version, count, row")
    ] = None,
    listen: Annotated[
        str, typer.Option(help="send the changes to the one who connects to HOST:PORT")
    ] = "",
    strategy: StrategyOption = "auto",
    mode: ModeOption = "auto",
    strict: StrictOption = False,
) -> None:
    """Read the files and sockets that the script names, batch by batch, and print the views."""
    settings = Settings(strategy=strategy, mode=mode, strict=strict, engine=engine)
    run_script(script, settings, batch, Console(), Outputs(out, changes, listen), _tell)


@app.command()
def demo(
    events: Annotated[int, typer.Option(min=1, help="how many orders come or go")] = 3000,
    seed: Annotated[int, typer.Option(help="which of the made-up order books")] = 1,
) -> None:
    """Watch views over an order book follow every change, and compare with recomputation."""
    run_demo(events, seed, Console())


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
