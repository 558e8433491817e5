"""What every process of a pipeline knows: its program, its schedules, and where things are."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from freshet.calculus.functions import Functions
from freshet.program.text import show_program
from freshet.spark.run.blocks import pack, unpack
from freshet.spark.run.files import Folder, folder_at
from freshet.spark.run.kernels import Shipped
from freshet.spark.run.log import Log
from freshet.spark.run.node import READY, Role, change, reading
from freshet.spark.run.settings import Settings
from freshet.spark.stages import Schedule, schedule
from freshet.spark.terms import Distributed
from freshet.spark.text import show_distributed

FORMAT = 3

NONE = "nothing"
"""The routine of a batch that no view waits for."""


@dataclass(frozen=True)
class Pipeline:
    """A settled program on so many workers, with its checkpoint at `place`."""

    name: str
    place: str
    workers: int
    made: Distributed
    functions: Functions
    settings: Settings
    folder: Folder = field(compare=False)
    schedules: Mapping[str, Schedule] = field(compare=False)
    kernels: Mapping[Role, Shipped] = field(compare=False, default_factory=dict)
    """By role; where there is none, Python keeps the maps."""

    @classmethod
    def of(
        cls,
        name: str,
        place: str,
        workers: int,
        made: Distributed,
        functions: Functions,
        settings: Settings,
        kernels: Mapping[Role, Shipped] | None = None,
    ) -> Pipeline:
        """With everything that follows from the rest."""
        folder = folder_at(place, sync=settings.sync)
        found = schedules(made)
        return cls(name, place, workers, made, functions, settings, folder, found, kernels or {})

    @property
    def log(self) -> Log:
        """The log of its batches."""
        return Log(self.folder)

    @property
    def driver(self) -> int:
        """The number of the driver among the parts: it comes after the workers."""
        return self.workers

    def role(self, part: int) -> Role:
        """Whether a part is a worker or the driver."""
        return "driver" if part == self.driver else "worker"

    def memory(self, part: int) -> Path:
        """The folder of a part in this machine's shared memory."""
        return Path(self.settings.memory) / self.name / f"p{part:04}"

    def steps(self, routine: str, part: int) -> tuple[int, ...]:
        """The stages of a worker, or the turns in which the driver has something to do."""
        found = self.schedules[routine]
        if part != self.driver:
            return tuple(range(len(found.stages)))
        return tuple(i for i, t in enumerate(found.turns) if t.receives or t.blocks)

    def tables(self) -> dict[str, list[pa.RecordBatch]]:
        """The rows of the static tables."""
        return unpack(self.folder.read("tables") or b"")


def schedules(made: Distributed) -> dict[str, Schedule]:
    """The schedule of every routine of a settled program, by name."""
    found = {NONE: schedule(()), READY: schedule(made.ready.blocks)}
    found |= {change(i): schedule(r.blocks) for i, r in enumerate(made.routines)}
    return found | {reading(r.query.name): schedule(r.blocks) for r in made.readouts}


def digest(made: Distributed) -> str:
    """What tells programs apart: their text, and where their maps are."""
    text = show_program(made.program) + show_distributed(made)
    return sha256(text.encode()).hexdigest()


def save_pipeline(pipeline: Pipeline, tables: Mapping[str, list[pa.RecordBatch]]) -> None:
    """Begin a checkpoint; the description comes last, so that there is none without the rest."""
    save_program(pipeline)
    pipeline.folder.write("tables", pack(tables))
    description = {
        "format": FORMAT,
        "name": pipeline.name,
        "workers": pipeline.workers,
        "program": digest(pipeline.made),
    }
    pipeline.folder.write("pipeline", json.dumps(description).encode(), new=True)


def save_program(pipeline: Pipeline) -> None:
    """The program for the workers; its functions and settings may change with a restart."""
    from pyspark import cloudpickle

    told = (pipeline.made, pipeline.functions, pipeline.settings, pipeline.kernels)
    pipeline.folder.write("program", cloudpickle.dumps(told))  # type: ignore[no-untyped-call]


def describe(folder: Folder) -> dict[str, Any] | None:
    """What a checkpoint says of itself; None where there is none."""
    data = folder.read("pipeline")
    return None if data is None else dict(json.loads(data))


def open_pipeline(place: str) -> Pipeline:
    """The pipeline of a checkpoint, as a worker sees it."""
    folder = folder_at(place)
    told, program = describe(folder), folder.read("program")
    assert told is not None, f"there is no checkpoint in {place}"
    assert program is not None, f"there is no program in {place}"
    made, functions, settings, kernels = pickle.loads(program)
    return Pipeline.of(told["name"], place, told["workers"], made, functions, settings, kernels)
