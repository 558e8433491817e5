"""Routines that are one job: the schedule of work whose driver has no state of its own."""

from __future__ import annotations

from dataclasses import dataclass

READY, BATCH, STATUS = "ready", "batch", "status"
"""The routines: the first version, a batch, and a read of what the partitions have."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """What workers send to each other."""

    kind: str = "repart"


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage, and whether it receives what the one before it sent."""

    receives: tuple[Transfer, ...] = ()


@dataclass(frozen=True, slots=True)
class NoTurn:
    """The driver has no state of its own: there is nothing to do for it."""

    receives: tuple[object, ...] = ()
    blocks: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class OneJob:
    """The schedule of a routine that is one job."""

    stages: tuple[Stage, ...]

    @property
    def turns(self) -> tuple[NoTurn, NoTurn]:
        """See `ScheduleLike`."""
        return NoTurn(), NoTurn()

    @property
    def jobs(self) -> tuple[tuple[Stage, ...]]:
        """See `ScheduleLike`."""
        return (self.stages,)

    def first(self, job: int) -> int:
        """See `ScheduleLike`."""
        return len(self.stages) if job else 0
