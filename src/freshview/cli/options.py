"""The options of the commands: their types and what the help says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from freshview.plan.options import Strategy
from freshview.runtime.settings import ModeChoice

RunEngine = Literal["spark", "process", "auto", "native", "reference"]

Script = Annotated[Path, typer.Argument(help="a script of CREATE STREAM, TABLE and VIEW")]
StrategyOption = Annotated[Strategy, typer.Option(help="how the views are maintained")]
ModeOption = Annotated[ModeChoice, typer.Option(help="triggers for batches or for single rows")]
DtreeOption = Annotated[
    Path | None, typer.Option(help="factorized: a file with the variable order")
]
SwitchOption = Annotated[
    list[str] | None,
    typer.Option(help="a switch of the compiler, as depth=1 or always_update=yes; may be repeated"),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="refuse views that recompute")]

# Those of `freshview run`.
EngineOption = Annotated[
    RunEngine, typer.Option(help="what runs the views: Spark, or an engine of this process")
]
MasterOption = Annotated[str, typer.Option(help="where Spark runs")]
CheckpointOption = Annotated[
    Path | None, typer.Option(help="a folder from which a later run goes on")
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="parts of the state; as many as cores by default")
]
BatchOption = Annotated[int | None, typer.Option(min=1, help="records of a file in one change")]
TriggerOption = Annotated[str, typer.Option(help="how often sources are asked, as '1 second'")]
FollowOption = Annotated[bool, typer.Option("--follow", help="go on until it is stopped")]
OutOption = Annotated[
    str,
    typer.Option(
        help="write the views: to a folder as CSV, parquet:FOLDER, delta:FOLDER or"
        " kafka:HOST:PORT/TOPIC"
    ),
]
ChangesOption = Annotated[
    Path | None, typer.Option(help="write every change as a line: view, version, count, row")
]
ListenOption = Annotated[
    str, typer.Option(help="send the changes to the one who connects to HOST:PORT")
]
MetricsOption = Annotated[
    Path | None, typer.Option(help="a file for figures in Prometheus's text, after each batch")
]
DeadLettersOption = Annotated[
    Path | None, typer.Option(help="a folder for rows that do not fit, with the reason")
]
PackageOption = Annotated[
    list[str] | None,
    typer.Option(help="kafka, delta, or the Maven coordinates of a jar that Spark needs"),
]
TrustedOption = Annotated[
    list[str] | None, typer.Option(help="a stream whose changes are not checked; 'all' of them")
]
