"""Work that goes version by version: what workers, the driver and jobs need to know of it.

A pipeline of views is such work, and so is a matrix program. Each brings nodes of its own, and says
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
    """The state of one part, as far as versions and files are concerned.

    One that is `shared` lives in files of its folder: another process that makes a node over the
    same folder goes on with what it finds. Others are lost with their process.
    """

    @property
    def shared(self) -> bool:
        """Whether it lives in the files of its folder."""

    @property
    def bytes(self) -> int:
        """What the state takes."""

    def stamp(self) -> None:
        """Mark this moment in the files of a shared node, if they have a place for that."""

    def take_over(self) -> None:
        """Forget the batches: another process has been at work on the state since they came."""

    def save(self, path: Path) -> None:
        """Write the state to a file that does not exist yet."""

    def restore(self, path: Path) -> None:
        """Take the state from a file that `save` wrote for the same work and role."""

    def close(self) -> None:
        """Give the memory back."""


class TransferLike(Protocol):
    """Something that is sent: by the driver (`scatter`), or by workers."""

    @property
    def kind(self) -> str:
        """How it travels."""


class StageLike(Protocol):
    """What every worker does in one go."""

    @property
    def receives(self) -> Sequence[TransferLike]:
        """What it takes from others."""


class TurnLike(Protocol):
    """What the driver does in one go."""

    @property
    def receives(self) -> Sequence[Any]:
        """What it takes from the workers."""

    @property
    def blocks(self) -> Sequence[Any]:
        """What it does."""


class Rounds(Protocol):
    """Turns of the driver around jobs: one turn more than there are jobs."""

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

    @property
    @abstractmethod
    def rounds(self) -> Mapping[str, Rounds]:
        """The turns and jobs of every routine, by name."""

    @abstractmethod
    def kind(self, role: Role) -> str:
        """What tells nodes apart that can make nothing of each other's state."""

    @abstractmethod
    def node(self, role: Role, folder: Path) -> Any:
        """A node over an own folder in shared memory, with what it has before any version."""

    @abstractmethod
    def fill(self, node: Any) -> None:
        """Give a new node what it has before any version."""

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
        """A step of one part; `batch` is what it has of the batch and was not given yet."""

    @property
    def log(self) -> BatchLog:
        """The log of its batches."""
        return BatchLog(self.folder)

    @property
    def driver(self) -> int:
        """The number of the driver among the parts: it comes after the workers."""
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
        schedule = self.rounds[routine]
        if part != self.driver:
            return tuple(range(len(schedule.stages)))
        return tuple(i for i, t in enumerate(schedule.turns) if t.receives or t.blocks)
