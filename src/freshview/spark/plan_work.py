"""Work that is a plan on so many partitions: joins, signals, matrix programs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

from freshview.durable.settings import FlowSettings
from freshview.durable.storage.files import Folder
from freshview.durable.storage.folders import folder_at
from freshview.durable.work import ScheduleLike, Work

AnyPlan = TypeVar("AnyPlan")
Schedule = TypeVar("Schedule", bound=ScheduleLike)


@dataclass(frozen=True)
class PlanWork(Work, Generic[AnyPlan, Schedule]):
    """A plan on so many partitions, with its checkpoint at `place`."""

    name: str
    place: str
    workers: int
    plan: AnyPlan
    settings: FlowSettings
    folder: Folder = field(compare=False)
    schedules: Mapping[str, Schedule] = field(compare=False)

    @classmethod
    def of(cls, name: str, place: str, workers: int, plan: AnyPlan, settings: FlowSettings) -> Self:
        """The work with all its derived fields."""
        folder = folder_at(place, sync=settings.sync)
        return cls(name, place, workers, plan, settings, folder, cls.schedules_of(plan))

    @staticmethod
    @abstractmethod
    def schedules_of(plan: AnyPlan) -> Mapping[str, Schedule]:
        """The schedules of its routines."""

    def fill(self, node: Any) -> None:
        """See `Work`: nodes begin with nothing."""


class InMemoryNode:
    """A node in the memory of a process.

    Another process that runs a task of its part brings its own copy up to date, by the log.
    """

    shared = False

    def stamp(self) -> None:
        """See `DurableNode`: no file has its state."""

    def take_over(self) -> None:
        """See `DurableNode`: no other process has this node."""
