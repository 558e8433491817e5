"""A signal query as versioned work: one stage a batch, and what a partition does in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from freshview.durable.step import Clock, SentBlocks
from freshview.durable.storage.files import load_whole, save_whole
from freshview.durable.work import Role
from freshview.errors import BadRow, BadValue, FreshviewError
from freshview.signal.execute.query import Query
from freshview.signal.execute.snapshot import snapshot
from freshview.signal.language.events import EventOperators
from freshview.spark.one_job import BATCH, READY, STATUS, OneJob, Stage
from freshview.spark.plan_work import InMemoryNode, PlanWork
from freshview.spark.signal.groups import pack_events, unpack_share

SCHEDULES: Mapping[str, OneJob] = {name: OneJob((Stage(),)) for name in (READY, BATCH, STATUS)}


class QueryNode(InMemoryNode):
    """The query over the groups of one partition."""

    def __init__(self, plan: EventOperators) -> None:
        self.plan = plan
        self.query: Query = plan.query()

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
class SignalWork(PlanWork[EventOperators, OneJob]):
    """A query on so many partitions, with its checkpoint at `place`."""

    @staticmethod
    def schedules_of(plan: EventOperators) -> Mapping[str, OneJob]:
        """See `PlanWork`."""
        return SCHEDULES

    def kind(self, role: Role) -> str:
        """See `Work`."""
        return "signal"

    def node(self, role: Role, folder: Path) -> QueryNode:
        """See `Work`."""
        return QueryNode(self.plan)

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
