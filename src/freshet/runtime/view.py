"""A view and what keeps it fresh."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freshet.calculus.functions import Functions
from freshet.calculus.rows import Row
from freshet.calculus.schema import Column, Query
from freshet.calculus.types import Value
from freshet.program.terms import Program
from freshet.reference.run import Engine
from freshet.runtime.base import Base
from freshet.runtime.explain import explain


class Maintained:
    """A query, its program, and the engine that runs it.

    The engine is built from the base rows, and built anew after a failure: so no half of a batch
    is ever left in it.
    """

    def __init__(
        self, query: Query, program: Program, bases: Mapping[str, Base], functions: Functions
    ) -> None:
        self.query = query
        self.program = program
        self._functions = functions
        self._bases = {r.name: bases[r.name] for r in program.relations}
        self._engine: Engine | None = None

    def reads(self, relation: str) -> bool:
        """Whether changes of this relation reach the view."""
        return relation in self._bases

    @property
    def engine(self) -> Engine:
        """The engine, up to date with the base rows."""
        return self._engine or self.start()

    def start(self) -> Engine:
        """A new engine, filled from the base rows."""
        engine = Engine(self.program, self._functions)
        tables = (b for b in self._bases.values() if b.relation.static)
        engine.load({b.relation.name: _repeated(b.rows) for b in tables})
        for base in self._bases.values():
            if not base.relation.static and base.rows:
                engine.apply(base.relation.name, base.rows)
        self._engine = engine
        return engine

    def reset(self) -> None:
        """Forget the engine; the next use builds it anew."""
        self._engine = None


def _repeated(rows: Mapping[Row, int]) -> Iterable[Row]:
    return (row for row, count in rows.items() for _ in range(count))


class ViewHandle:
    """A view as its user sees it; every read gives the rows as of the last change.

    >>> import freshet
    >>> db = freshet.connect()
    >>> _ = db.execute("CREATE STREAM r (k INT NOT NULL, v INT NOT NULL);"
    ...                "CREATE VIEW s AS SELECT k, SUM(v) AS total FROM r GROUP BY k")
    >>> db.insert("r", [(1, 10), (1, 20)])
    >>> db.view("s").to_pylist()
    [{'k': 1, 'total': 30}]
    """

    def __init__(self, maintained: Maintained) -> None:
        self._maintained = maintained

    @property
    def name(self) -> str:
        """The name of the view."""
        return self._maintained.query.name

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns with their types."""
        return self._maintained.query.columns

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(c.name for c in self.schema)

    @property
    def work(self) -> int:
        """How many rows the engine has looked at or written for this view so far."""
        return self._maintained.engine.work

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts; in the order of an ORDER BY."""
        return self._maintained.engine.rows(self.name)

    def to_pylist(self) -> list[dict[str, Value]]:
        """The rows as dictionaries from column names to values."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows()]

    def explain(self) -> str:
        """How the view is maintained: its term after every pass, its maps, its triggers."""
        return explain(self._maintained.query, self._maintained.program)

    def __repr__(self) -> str:
        return f"<view {self.name}({', '.join(self.columns)})>"
