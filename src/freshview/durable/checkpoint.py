"""Checkpoints from outside: which pipeline one is of, and whether a program may go on from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from freshview.calculus.functions import Functions
from freshview.distributed.batches.prepare import prepare
from freshview.distributed.terms import Distributed
from freshview.durable.files import Torn, folder_at
from freshview.durable.settings import Settings
from freshview.errors import FreshviewError
from freshview.spark.nodes.view_work import FORMAT, ViewWork, describe, digest


class CheckpointProblem(FreshviewError):
    """A checkpoint that is not there, is damaged, or is of another program."""


def place_of(checkpoint: str | Path) -> str:
    """A checkpoint as every process may name it."""
    text = str(checkpoint)
    return text if "://" in text else str(Path(text).absolute())


@contextmanager
def opening(place: str) -> Iterator[None]:
    """While a checkpoint is begun or taken over: what its disk refuses is told in our words."""
    try:
        yield
    except Torn as e:
        raise CheckpointProblem(
            f"the checkpoint in {place} cannot be read: {e}",
            instead="bring that file back, or begin anew in another folder",
        ) from e
    except OSError as e:
        raise CheckpointProblem(
            f"the checkpoint in {place} cannot be opened: {e.strerror or e}",
            instead="mend that, and start again; what is there stays as it is",
        ) from e


def is_there(checkpoint: str | Path) -> bool:
    """Whether there is a checkpoint, be it damaged."""
    try:
        return describe(folder_at(place_of(checkpoint))) is not None
    except Torn:
        return True


def reopen(
    made: Distributed,
    checkpoint: str | Path,
    workers: int | None,
    functions: Functions,
    settings: Settings,
) -> ViewWork:
    """The pipeline of a checkpoint, if it is one of this program."""
    place = place_of(checkpoint)
    try:
        told = describe(folder_at(place))
    except Torn as e:
        raise CheckpointProblem(
            f"the checkpoint in {place} is damaged, or of another version of Freshview",
            instead="restart with that one, or begin anew in another folder",
        ) from e
    if told is None:
        raise CheckpointProblem(f"there is no checkpoint in {place}", instead="start a flow")
    if told["format"] != FORMAT:
        raise CheckpointProblem(
            f"{place} was written by another version of Freshview",
            instead="restart with that one, or begin anew in another folder",
        )
    if workers is not None and workers != told["workers"]:
        raise CheckpointProblem(
            f"{place} is of {told['workers']} workers, not of {workers}",
            instead=f"restart with {told['workers']}, or begin anew in another folder",
        )
    settled = prepare(made, functions)
    if digest(settled) != told["program"]:
        raise CheckpointProblem(
            f"{place} is of another program",
            instead="restart with the same views, or begin anew in another folder",
        )
    name, count = told["name"], told["workers"]
    return ViewWork.of(name, place, count, settled, functions, settings)


def check_nodes(pipeline: ViewWork) -> None:
    """Maps that kernels wrote are read by kernels, and those of Python by Python."""
    told = describe(pipeline.folder)
    kernels = told is not None and told["native"]
    if kernels and not pipeline.kernels:
        raise CheckpointProblem(
            f"the maps in {pipeline.place} are of kernels, and there are none now",
            instead="install a C++ compiler, and restart with Settings(native=True)",
        )
    if pipeline.kernels and not kernels:
        raise CheckpointProblem(
            f"the maps in {pipeline.place} are kept by Python",
            instead="restart with Settings(native=False), or begin anew in another folder",
        )
