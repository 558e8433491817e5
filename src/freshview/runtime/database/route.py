"""The shortest way of rows: native calls alone, where nobody else needs to see the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from freshview.calculus.schema import Relation
from freshview.codegen.library.load import Instance, Sign
from freshview.errors import FreshviewError, StateLost
from freshview.runtime.database.state import State
from freshview.runtime.ingest.change import Change
from freshview.runtime.relations.stored_base import AnyBase, StatelessBase, StoredBase
from freshview.runtime.views.engines import KernelGroupEngine
from freshview.runtime.views.group import ViewGroup

if TYPE_CHECKING:
    import pyarrow as pa
else:
    from freshview.runtime.ingest.lazy_imports import pa


class Route:
    """Where the rows of a relation go: into its row store, then into the kernels of views."""

    def __init__(
        self,
        relation: Relation,
        base: AnyBase,
        groups: Sequence[ViewGroup],
        steps: Sequence[tuple[Instance, int]],
    ) -> None:
        self.relation = relation
        self.steps = tuple(steps)
        """The kernels in this order, and the number by which each knows the relation."""
        self.keeps_rows = isinstance(base, StoredBase)
        self._base = base
        self._groups = groups
        self._schema: pa.Schema | None = None

    def batch(self, rows: Any) -> Any:
        """Rows as an Arrow batch for kernels; None where somebody must look at them first."""
        kind = type(rows)
        if kind.__name__ not in ("RecordBatch", "Table"):  # most are not, and Arrow loads slowly
            return None
        if kind is pa.Table:
            pieces = rows.to_batches()
            if len(pieces) != 1:
                return None
            rows = pieces[0]
        elif kind is not pa.RecordBatch:
            return None
        schema = rows.schema
        if self._schema is None or not schema.equals(self._schema):
            from freshview.runtime.ingest.normalize_types import normalize_types

            if normalize_types(self.relation, rows) is not rows:
                return None
            self._schema = schema
        return rows

    def take_back(self, change: Change, steps: int) -> None:
        """Take a change back from the first steps, which have taken it."""
        groups = self._groups[: steps - self.keeps_rows] if steps else ()
        for group in reversed(groups):
            group.take_back(change)
        if self.keeps_rows and steps:
            self._base.leave(change)

    def lose(self, step: int) -> None:
        """What the kernel of a step kept is lost; it is filled anew when it is needed."""
        if step >= self.keeps_rows:
            self._groups[step - self.keeps_rows].reset()


def route_of(relation: Relation, base: AnyBase, groups: Sequence[ViewGroup]) -> Route | None:
    """The route of a relation's rows, if only the row store and kernels need them."""
    if not isinstance(base, StoredBase | StatelessBase):
        return None
    if any(g.built is None or not g.is_started for g in groups):
        return None
    if any(v.history is not None for g in groups for v in g.readers([relation.name])):
        return None
    steps = [(base.instance, 0)] if isinstance(base, StoredBase) else []
    for group in groups:
        engine = group.engine
        if not isinstance(engine, KernelGroupEngine) or relation.name not in engine.index:
            return None
        steps.append((engine.instance, engine.index[relation.name]))
    return Route(relation, base, groups, steps) if steps else None


class Part(NamedTuple):
    """An Arrow batch on a route, with counts or a sign."""

    route: Route
    rows: Any
    counts: Any
    sign: Sign


class RouteHost(Protocol):
    """The database of routes."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Held while rows change."""

    @property
    def state(self) -> State:
        """What the database holds."""

    @property
    def is_building(self) -> bool:
        """Whether kernels are being built, so that the database must look at every change."""


class Routes:
    """The routes of all the relations that have one, by their names."""

    def __init__(self) -> None:
        self.by_name: dict[str, Route] = {}
        self.are_stale = False
        """Whether a change was taken back from kernels, some of which may be others now."""

    def apply(self, db: RouteHost, batch: Mapping[str, object]) -> bool:
        """Apply Arrow batches with NumPy counts by routes alone; False where nothing was done."""
        parts = []
        for name, rows in batch.items():
            if type(rows) is not tuple or len(rows) != 2:
                return False
            table, counts = rows
            dtype = getattr(counts, "dtype", None)
            route = self.by_name.get(name)
            if route is None or dtype is None or getattr(dtype, "char", "") not in ("l", "q"):
                return False
            table = route.batch(table)
            if table is None or len(counts) != table.num_rows:
                return False
            parts.append(Part(route, table, counts, 1))
        return self._take(db, parts)

    def change(self, db: RouteHost, relation: str, rows: object, sign: Sign) -> bool:
        """Insert or delete the rows of an Arrow table; False where nothing was done."""
        route = self.by_name.get(relation)
        table = None if route is None else route.batch(rows)
        if route is None or table is None:
            return False
        return self._take(db, [Part(route, table, None, sign)])

    def _take(self, db: RouteHost, parts: Sequence[Part]) -> bool:
        """All of the parts, as one change; what is refused goes the usual way, which says why."""
        done = 0
        with db.lock:
            current = all(self.by_name.get(p.route.relation.name) is p.route for p in parts)
            if db.is_building or not current:  # somebody else had the lock meanwhile
                return False
            try:
                for route, rows, counts, sign in parts:
                    for instance, index in route.steps:
                        instance.apply_arrow(index, rows, counts, sign)
                        done += 1
            except BaseException as e:
                self.are_stale = True
                self._take_back(parts, done, e)
                if isinstance(e, FreshviewError):
                    return False
                raise
            state = db.state
            state.version += 1
            for route, rows, _, _ in parts:
                if route.relation.name not in state.fed and rows.num_rows:
                    state.fed.add(route.relation.name)
                    state.has_changes = True
        return True

    def _take_back(self, parts: Sequence[Part], done: int, e: BaseException) -> None:
        applied = []
        for route, rows, counts, sign in parts:
            steps = min(done, len(route.steps))
            applied.append((route, Change(route.relation, None, rows, counts, sign), steps))
            done -= steps
            if steps < len(route.steps):
                if isinstance(e, StateLost):
                    route.lose(steps)
                break
        for route, change, steps in reversed(applied):
            route.take_back(change, steps)
