"""Versioned work: the interface that workers, the driver and jobs need.

A pipeline of views is such work, and so is a matrix program. Each has nodes of its own, and defines
what a step does on one; versions, logs, snapshots and pinned tasks are the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from freshview.durable.batch_log import BatchLog
from freshview.durable.settings import FlowSettings
from freshview.durable.step import Clock, SentBlocks
from freshview.durable.storage.files import Folder
from freshview.durable.storage.shared_memory import memory_root

Role = Literal["driver", "worker"]


class DurableNode(Protocol):
    """The state of one part, as versions and files see it.

    A `shared` one is in files of its folder: another process that opens a node over the same folder
    continues with them. Others are lost with their process.
    """

    @property
    def shared(self) -> bool:
        """Whether its state is in the files of its folder."""

    @property
    def bytes(self) -> int:
        """The size of the state."""

    def stamp(self) -> None:
        """Write a random stamp to the files of a shared node, if they have a place for it."""

    def take_over(self) -> None:
        """Forget the batches: another process has changed the state since."""

    def save(self, path: Path) -> None:
        """Write the state to a file that does not exist yet."""

    def restore(self, path: Path) -> None:
        """Load the state from a file that `save` wrote for the same work and role."""

    def close(self) -> None:
        """Release the memory."""


class TransferLike(Protocol):
    """A transfer: by the driver (`scatter`), or by workers."""

    @property
    def kind(self) -> str:
        """The kind of transfer."""


class StageLike(Protocol):
    """A stage: what every worker runs without a break."""

    @property
    def receives(self) -> Sequence[TransferLike]:
        """The transfers that it receives."""


class TurnLike(Protocol):
    """A turn: what the driver runs without a break."""

    @property
    def receives(self) -> Sequence[object]:
        """The transfers that it receives from the workers."""

    @property
    def blocks(self) -> Sequence[object]:
        """The blocks that it runs."""


class ScheduleLike(Protocol):
    """A schedule: turns of the driver around jobs: one turn more than there are jobs."""

    @property
    def turns(self) -> Sequence[TurnLike]:
        """The turns of the driver."""

    @property
    def jobs(self) -> Sequence[Sequence[StageLike]]:
        """The stages of each job."""

    @property
    def stages(self) -> Sequence[StageLike]:
        """The stages of all the jobs."""

    def first(self, job: int) -> int:
        """The number of a job's first stage among all of them."""


class Work(ABC):
    """Work of `workers` workers and a driver, with its checkpoint at `place`."""

    name: str
    place: str
    workers: int
    settings: FlowSettings
    folder: Folder
    schedules: Mapping[str, ScheduleLike]
    """The turns and jobs of every routine, by name."""

    @abstractmethod
    def kind(self, role: Role) -> str:
        """A name of the state's format: nodes of another kind cannot read it."""

    @abstractmethod
    def node(self, role: Role, folder: Path) -> Any:
        """A new node over its own folder in shared memory."""

    @abstractmethod
    def fill(self, node: Any) -> None:
        """Load what a new node has before any version."""

    @abstractmethod
    def perform(
        self,
        node: Any,
        part: int,
        routine: str,
        step: int,
        inputs: Sequence[bytes],
        batch: bytes | memoryview,
        clock: Clock,
    ) -> SentBlocks:
        """Run a step of one part; `batch` are its rows of the batch that were not added yet."""

    @property
    def log(self) -> BatchLog:
        """The log of its batches."""
        return BatchLog(self.folder)

    @property
    def driver(self) -> int:
        """The part number of the driver: it follows the workers."""
        return self.workers

    def role(self, part: int) -> Role:
        """Whether a part is a worker or the driver."""
        return "driver" if part == self.driver else "worker"

    def memory(self, part: int) -> Path:
        """The folder of a part in this machine's shared memory."""
        folder = self.settings.memory
        root = memory_root() if folder is None else Path(folder)
        return root / self.name / f"p{part:04}"

    def steps(self, routine: str, part: int) -> tuple[int, ...]:
        """The stages of a worker, or the turns in which the driver has something to do."""
        schedule = self.schedules[routine]
        if part != self.driver:
            return tuple(range(len(schedule.stages)))
        return tuple(i for i, t in enumerate(schedule.turns) if t.receives or t.blocks)
