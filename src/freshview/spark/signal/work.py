"""A signal query as versioned work: one stage a batch, and what a partition does in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from freshview.durable.settings import FlowSettings
from freshview.durable.step import Clock, SentBlocks
from freshview.durable.storage.files import Folder, load_whole, save_whole
from freshview.durable.storage.folders import folder_at
from freshview.durable.work import Role, Work
from freshview.errors import BadRow, BadValue, FreshviewError
from freshview.signal.execute.query import Query
from freshview.signal.execute.snapshot import snapshot
from freshview.signal.language.events import EventOperators
from freshview.spark.signal.groups import pack_events, unpack_share
from freshview.spark.theta.work import BATCH, READY, STATUS, OneJob, Stage

SCHEDULES: Mapping[str, OneJob] = {name: OneJob((Stage(),)) for name in (READY, BATCH, STATUS)}


class QueryNode:
    """The query over the groups of one partition, in the memory of a process.

    Another process that runs a task of the partition brings its own copy up to date, by the log.
    """

    shared = False

    def __init__(self, plan: EventOperators) -> None:
        self.plan = plan
        self.query: Query = plan.query()

    def stamp(self) -> None:
        """See `DurableNode`: no file has its state."""

    def take_over(self) -> None:
        """See `DurableNode`: no other process has this node."""

    def close(self) -> None:
        """See `DurableNode`."""
        self.query = self.plan.query()

    @property
    def bytes(self) -> int:
        """See `DurableNode`."""
        return self.query.bytes

    def save(self, path: Path) -> None:
        """See `DurableNode`."""
        save_whole(path, snapshot(self.query))

    def restore(self, path: Path) -> None:
        """See `DurableNode`."""
        self.query = self.plan.restore(bytes(load_whole(path)))


@dataclass(frozen=True)
class SignalWork(Work):
    """A query on so many partitions, with its checkpoint at `place`."""

    name: str
    place: str
    workers: int
    plan: EventOperators
    settings: FlowSettings
    folder: Folder = field(compare=False)
    schedules: Mapping[str, OneJob] = field(compare=False)

    @classmethod
    def of(
        cls, name: str, place: str, workers: int, plan: EventOperators, settings: FlowSettings
    ) -> SignalWork:
        """The work with all its derived fields."""
        folder = folder_at(place, sync=settings.sync)
        return cls(name, place, workers, plan, settings, folder, SCHEDULES)

    def kind(self, role: Role) -> str:
        """See `Work`."""
        return "signal"

    def node(self, role: Role, folder: Path) -> QueryNode:
        """See `Work`."""
        return QueryNode(self.plan)

    def fill(self, node: QueryNode) -> None:
        """See `Work`: queries begin with nothing."""

    def perform(
        self,
        node: QueryNode,
        part: int,
        routine: str,
        step: int,
        inputs: Sequence[bytes],
        batch: bytes | memoryview,
        clock: Clock,
    ) -> SentBlocks:
        """See `Work`."""
        if routine == STATUS:
            return SentBlocks((), pack_events(node.query.result()))
        if routine == READY:
            return SentBlocks(())
        tables, watermarks = unpack_share(batch)
        began = perf_counter()
        try:
            change = node.query.push(tables)
            if watermarks:
                node.query.advance(**watermarks)
        except (BadRow, BadValue, MemoryError):
            raise
        except FreshviewError as e:
            raise BadRow(str(e)) from e
        except Exception as e:
            raise BadRow(
                f"a function of the query raised {type(e).__name__}: {e}",
                instead="let it answer for all events, or leave events out",
            ) from e
        finally:
            clock.native += perf_counter() - began
        return SentBlocks((), pack_events(change))
