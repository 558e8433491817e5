"""Checkpoints of views: written, reopened, and refused for another program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from freshview.calculus.functions import Functions
from freshview.distributed.batches.prepare import prepare
from freshview.distributed.terms import Distributed
from freshview.distributed.text import show_distributed
from freshview.durable.checkpoint import (
    DESCRIPTION,
    FORMAT,
    CheckpointProblem,
    checkpoint_errors,
    describe,
    place_of,
)
from freshview.durable.settings import FlowSettings
from freshview.durable.storage.blocks import pack
from freshview.durable.storage.files import TornFile
from freshview.durable.storage.folders import folder_at
from freshview.program.text import show_program
from freshview.spark.nodes.view_work import ViewWork, tables_name


def digest(distributed: Distributed) -> str:
    """A hash of the program's text and of the placement of its maps."""
    text = show_program(distributed.program) + show_distributed(distributed)
    return sha256(text.encode()).hexdigest()


def save_pipeline(work: ViewWork, tables: Mapping[str, list[pa.RecordBatch]]) -> None:
    """Write a new checkpoint; the description is last, so that it is never without the rest.

    The description has a hash of the program, not the program: a restart provides it again.
    """
    work.folder.write(tables_name(work.name), pack(tables))
    distributed = work.distributed
    asked = {*(p.query for p in distributed.changes), *distributed.compared}
    description = {
        "format": FORMAT,
        "name": work.name,
        "workers": work.workers,
        "program": digest(distributed),
        "native": bool(work.kernels),
        "changes": sorted(asked),
    }
    work.folder.write(DESCRIPTION, json.dumps(description).encode(), new=True)


def collected_queries(checkpoint: str | Path) -> tuple[str, ...]:
    """The queries whose changes the program of a checkpoint was asked to collect."""
    place = place_of(checkpoint)
    with checkpoint_errors(place):
        description = describe(folder_at(place)) or {}
    return tuple(description.get("changes", ()))


def reopen(
    distributed: Distributed,
    checkpoint: str | Path,
    workers: int | None,
    functions: Functions,
    settings: FlowSettings,
) -> ViewWork:
    """The pipeline of a checkpoint; refuse one of another program."""
    place = place_of(checkpoint)
    try:
        description = describe(folder_at(place))
    except TornFile as e:
        raise CheckpointProblem(
            f"the checkpoint in {place} is damaged, or of another version of Freshview",
            instead="restart with that version, or start over in another folder",
        ) from e
    if description is None:
        raise CheckpointProblem(f"there is no checkpoint in {place}", instead="start a flow")
    if description["format"] != FORMAT:
        raise CheckpointProblem(
            f"{place} was written by another version of Freshview",
            instead="restart with that version, or start over in another folder",
        )
    if workers is not None and workers != description["workers"]:
        raise CheckpointProblem(
            f"the checkpoint in {place} has {description['workers']} workers, not {workers}",
            instead=f"restart with {description['workers']}, or start over in another folder",
        )
    prepared = prepare(distributed, functions)
    if digest(prepared) != description["program"]:
        raise CheckpointProblem(
            f"the checkpoint in {place} belongs to another program",
            instead="restart with the same views, or start over in another folder",
        )
    name, count = description["name"], description["workers"]
    return ViewWork.of(name, place, count, prepared, functions, settings)


def check_nodes(work: ViewWork) -> None:
    """Refuse maps of kernels without kernels, and maps of Python with kernels."""
    description = describe(work.folder)
    kernels = description is not None and description["native"]
    if kernels and not work.kernels:
        raise CheckpointProblem(
            f"the maps in {work.place} were written by native kernels, and there are none now",
            instead="install a C++ compiler, and restart with FlowSettings(native=True)",
        )
    if work.kernels and not kernels:
        raise CheckpointProblem(
            f"the maps in {work.place} are kept by Python",
            instead="restart with FlowSettings(native=False), or start over in another folder",
        )
