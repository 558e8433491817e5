"""The commands and their options; what they do stands in the files of their names."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from freshet.cli.compile import compile_script
from freshet.cli.demo import run_demo
from freshet.cli.run import run_script
from freshet.cli.script import read_script
from freshet.errors import FreshetError
from freshet.ivm.options import Mode
from freshet.plan.options import Options, Strategy

app = typer.Typer(
    help="Views in SQL, kept fresh by deltas as the data changes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Script = Annotated[Path, typer.Argument(help="a script of CREATE STREAM, TABLE and VIEW")]
StrategyOption = Annotated[Strategy, typer.Option(help="how the views are maintained")]
ModeOption = Annotated[Mode, typer.Option(help="triggers for batches or for single rows")]
StrictOption = Annotated[bool, typer.Option("--strict", help="refuse views that recompute")]


@app.command()
def explain(
    script: Script,
    view: Annotated[str, typer.Argument(help="one view; all of them by default")] = "",
    strategy: StrategyOption = "auto",
    mode: ModeOption = "batch",
    strict: StrictOption = False,
) -> None:
    """Show each stage of a view: its term after every pass, its maps, triggers and the choice."""
    db = read_script(script, Options(strategy=strategy, mode=mode, strict=strict))
    views = [db.view(view)] if view else db.views
    typer.echo("\n\n\n".join(v.explain() for v in views))


@app.command("compile")
def compile_(
    script: Script,
    out: Annotated[Path, typer.Option("--out", "-o", help="the folder to write into")],
    strategy: StrategyOption = "auto",
    mode: ModeOption = "batch",
    strict: StrictOption = False,
) -> None:
    """Write each view's trigger program as M3 text, and as a Mermaid diagram."""
    for path in compile_script(script, out, Options(strategy=strategy, mode=mode, strict=strict)):
        typer.echo(path)


@app.command()
def run(
    script: Script,
    batch: Annotated[int, typer.Option(min=1, help="rows of a stream in one change")] = 1000,
    strategy: StrategyOption = "auto",
    mode: ModeOption = "batch",
    strict: StrictOption = False,
) -> None:
    """Read the files that the script names, batch by batch, and print the views."""
    run_script(script, Options(strategy=strategy, mode=mode, strict=strict), batch, Console())


@app.command()
def demo(
    events: Annotated[int, typer.Option(min=1, help="how many orders come or go")] = 3000,
    seed: Annotated[int, typer.Option(help="which of the made-up order books")] = 1,
) -> None:
    """Watch views over an order book follow every change, and compare with recomputation."""
    run_demo(events, seed, Console())


def main() -> None:
    """Run a command; what goes wrong on purpose is one line on stderr and exit code 2."""
    try:
        app()
    except FreshetError as e:
        print(f"freshet: {e}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output has left (as `head` does): no complaint, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
