"""Queries over signals that follow their sources batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from freshview.errors import NotAdmitted, UnknownName
from freshview.signal.columns import store
from freshview.signal.columns.directory import Directory
from freshview.signal.columns.ranges import MIN_TIME
from freshview.signal.columns.rows import (
    Rows,
    apart,
    concat,
    consolidated,
    order_by_group,
)
from freshview.signal.columns.store import Absent, Store
from freshview.signal.execute.build import Graph
from freshview.signal.execute.events import Events
from freshview.signal.execute.intake import read_rows
from freshview.signal.operators.node import State
from freshview.signal.terms import BadSignal, Source, Term
from freshview.temporal import Watermark

MOST_LATE = 1000
"""How many of the late events of a source are kept to be looked at."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a source has come: its watermark, how many events were late, and the last of them."""

    watermark: Watermark
    late: int
    set_aside: Rows


@dataclass(frozen=True, slots=True)
class Admitted:
    """The rows of a batch that came in time, by source, and how far the sources are with it."""

    rows: Mapping[Source, Rows]
    progress: dict[Source, Progress]


class Query:
    """A signal query with its state: batches in, changes of the result out.

    After each batch the result is what the query says about all the events that were accepted,
    whatever batches they came in. A batch that raises changes nothing. Sources that declare a
    delay refuse events that come later: they are counted and set aside, see `late`.
    """

    def __init__(self, term: Term, *, is_uniform: bool = False, keep_result: bool = True) -> None:
        self.term = term
        self.directory = Directory()
        self.is_uniform = is_uniform
        self._graph = Graph(self.directory)
        self._graph.place(term)
        self._states: list[State] = [
            ()
            if node is None
            else node.operator.start(*(self._graph.schemas[i] for i in node.inputs))
            for node in self._graph.nodes
        ]
        self.progress = {
            source: Progress(Watermark(source.delay), 0, self._graph.schemas[place])
            for source, place in self._graph.sources.items()
        }
        self._result = Store(self._graph.schemas[-1]) if keep_result else None
        self._since_forgotten = 0

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources."""
        return tuple(s.name for s in self._graph.sources)

    @property
    def schema(self) -> Rows:
        """The result without rows."""
        return self._graph.schemas[-1]

    @property
    def is_grouped(self) -> bool:
        """Whether events of the result are in groups."""
        return self._graph.grouped[-1]

    @property
    def keys(self) -> dict[str, str]:
        """The key columns with the kinds of their types, as NumPy has them: i or U."""
        return dict(self._graph.keys)

    def declared(self, source: str = "") -> Source:
        """A source as the query declares it."""
        return self._source(source)

    def push(self, data: object) -> Events:
        """Take in a batch, and say how the result changed.

        `data` maps sources to tables: Arrow, data frames, or dicts of arrays; if there is only one
        source, it may be its table. A column `__count` makes rows come (1) or go (-1).
        """
        return self.take_in(self.admit(data))

    def push_last(self, data: object) -> Events:
        """As `push`, without a copy of the batch: the query must not be used after it."""
        batch = self.admit(data, copy=False)
        events = self.take_in(batch)
        return replace(events, rows=apart(events.rows, list(batch.rows.values())))

    def admit(self, data: object, *, copy: bool = True) -> Admitted:
        """Read a batch, and set aside what is late; nothing changes before `take_in`."""
        changes, progress = {}, dict(self.progress)
        for source, table in self._by_source(data).items():
            rows = read_rows(source, table, copy=copy)
            progress[source], admitted = _admitted(progress[source], rows)
            net = admitted if admitted.is_plain else consolidated(admitted)
            changes[source] = net
        return Admitted(changes, progress)

    def take_in(self, batch: Admitted) -> Events:
        """Follow a batch that was admitted last."""
        places = self._graph.sources
        changes = {places[source]: rows for source, rows in batch.rows.items()}
        return self._run(changes, batch.progress)

    def advance(self, **times: int) -> Events:
        """Sources promise that no event starts before a time any more."""
        progress = dict(self.progress)
        for name, time in times.items():
            source = self._source(name)
            old = progress[source]
            progress[source] = Progress(old.watermark.advance(int(time)), old.late, old.set_aside)
        return self._run({}, progress, forget=True)

    def result(self) -> Events:
        """All that the query says now, by group and time."""
        if self._result is None:
            raise BadSignal(
                "this query does not keep its result", instead="add up its changes, or keep it"
            )
        return self._events(self._result.all(), False)

    def late(self, source: str = "") -> Events:
        """The last events of a source that came too late; `late_count` says how many there were."""
        rows = self.progress[self._source(source)].set_aside
        return Events(rows, self.directory, False, True, False)

    def late_count(self, source: str = "") -> int:
        """How many events of a source came too late."""
        return self.progress[self._source(source)].late

    def watermark(self, source: str = "") -> int | None:
        """The time before which no event of a source is taken any more."""
        at = self.progress[self._source(source)].watermark.at
        return None if at is None else int(at)

    @property
    def stored(self) -> int:
        """How many rows the operators remember, the result apart."""
        return sum(len(part) for state in self._states for part in state)

    @property
    def bytes(self) -> int:
        """The size of what is remembered, the result included."""
        stores = [part for state in self._states for part in state]
        return sum(s.bytes for s in (*stores, *([self._result] if self._result else [])))

    def _run(
        self, changes: dict[int, Rows], progress: dict[Source, Progress], forget: bool = False
    ) -> Events:
        graph, states = self._graph, list(self._states)
        flow: list[Rows] = []
        try:
            for number, node in enumerate(graph.nodes):
                if node is None:
                    flow.append(changes.get(number, graph.schemas[number]))
                    continue
                inputs = [flow[i] for i in node.inputs]
                states[number], change = node.operator.step(states[number], *inputs)
                flow.append(change)
            change = consolidated(flow[-1])
            result = None if self._result is None else self._result.apply(change)
        except Absent as e:
            raise self._not_there(e.row) from None
        self._states, self.progress, self._result = states, progress, result
        self._since_forgotten += sum(len(c) for c in changes.values())
        if forget or self._since_forgotten > max(store.PATIENCE, self.stored // 2):
            self._forget()
        return self._events(change, True)

    def _forget(self) -> None:
        """Drop what no event needs any more that may still come."""
        self._since_forgotten = 0
        graph, groups = self._graph, max(len(self.directory), 1)
        if all(p.watermark.at is None for p in self.progress.values()):
            return
        at = {}
        for source, place in graph.sources.items():
            time = self.progress[source].watermark.at
            at[place] = np.full(groups, MIN_TIME if time is None else int(time))
        ahead = []
        for number, node in enumerate(graph.nodes):
            if node is None:
                ahead.append(at[number])
                continue
            inputs = [ahead[i] for i in node.inputs]
            self._states[number], reach = node.operator.forget(self._states[number], *inputs)
            ahead.append(np.maximum(reach, MIN_TIME))

    def _events(self, rows: Rows, is_change: bool) -> Events:
        grouped = self._graph.grouped[-1]
        if grouped and len(rows):
            rows = by_key(rows, self.directory)
        return Events(rows, self.directory, self.is_uniform, is_change, grouped)

    def _by_source(self, data: object) -> dict[Source, object]:
        names = self.sources
        if isinstance(data, Mapping) and set(data) <= set(names):
            return {self._source(name): table for name, table in data.items()}
        if len(names) == 1:
            return {self._source(names[0]): data}
        raise UnknownName(
            "the batch does not say which source it is of",
            instead=f"give a dict of tables by source: {', '.join(names)}",
        )

    def _source(self, name: str) -> Source:
        sources = self._graph.sources
        if not name and len(sources) == 1:
            return next(iter(sources))
        for source in sources:
            if source.name == name:
                return source
        raise UnknownName(
            f"the query has no source '{name}'", instead=f"it has {', '.join(self.sources)}"
        )

    def _not_there(self, row: Rows) -> NotAdmitted:
        group = self.directory.show(int(row.group[0])) if len(self.directory) else "the only group"
        return NotAdmitted(
            f"an event of {group} at time {int(row.start[0])} is deleted that is not there",
            instead="delete events with the values that they came with",
        )


def _admitted(progress: Progress, rows: Rows) -> tuple[Progress, Rows]:
    watermark = progress.watermark
    if (runs := rows.runs) is not None and not watermark.is_late(runs.first).any():
        return replace(progress, watermark=watermark.observe(runs.last)), rows
    is_late = watermark.is_late(rows.start)
    late = int(is_late.sum())
    set_aside = progress.set_aside
    if late:
        set_aside = concat([set_aside, rows.take(is_late)]).take(slice(-MOST_LATE, None))
        rows = rows.take(~is_late)
    watermark = watermark.observe(rows.start[rows.weight > 0])
    return Progress(watermark, progress.late + late, set_aside), rows


def by_key(rows: Rows, directory: Directory) -> Rows:
    """Rows in the order of their keys; groups are numbered as they come, first of all by key."""
    if rows.runs is not None:
        by_run = directory.ranks()[rows.runs.group]
        if (by_run[1:] >= by_run[:-1]).all():
            return rows
    ranks = directory.ranks()[rows.group]
    return rows if (ranks[1:] >= ranks[:-1]).all() else rows.take(order_by_group(ranks))
