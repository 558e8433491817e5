"""A SELECT that is asked once, over the rows of streams and tables and of kept views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from freshview.calculus.clock import CLOCK
from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.scope import base_relations
from freshview.calculus.types import Value
from freshview.errors import BuildProblem, FreshviewError, NotNative, Overflow
from freshview.plan.switches import Switches
from freshview.runtime.compile import kernels
from freshview.runtime.compile.compile_view import compile_group
from freshview.runtime.database.state import State
from freshview.runtime.relations.base import Base
from freshview.runtime.relations.stored_base import AnyBase, FrozenBase, StatelessBase
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.group import ViewGroup
from freshview.runtime.views.maintained import MaintainedView
from freshview.sql.catalog import Catalog
from freshview.sql.lower.view import lower
from freshview.sql.statements import CreateView
from freshview.sql.terms import (
    Compare,
    ExistsQuery,
    Item,
    Literal,
    Name,
    Quantified,
    ScalarQuery,
    Select,
    Table,
)
from freshview.sql.walk import conjuncts, inside

KERNEL_ROWS = 50_000
"""Rows below a query for which a kernel is compiled: dictionaries would take longer than that."""


@dataclass(frozen=True)
class Answer:
    """A query that was run: its columns, and the view that holds its rows."""

    columns: tuple[Column, ...]
    view: MaintainedView

    @property
    def rows(self) -> list[Row]:
        """The rows, each as often as it counts, in order."""
        return self.view.rows()

    @property
    def counts(self) -> Counter[Row]:
        """How often each row is there."""
        return Counter(self.rows)


def ask(state: State, select: Select, names: Sequence[str] = ()) -> Answer:
    """The rows of a SELECT as of now; whoever calls has the lock of the database.

    Kept views are read as they stand, and not computed again. `names` are those of the columns.
    """
    statement = CreateView(None, tuple(names), select, select.at)
    catalog = _readable(state)
    query = lower(statement, catalog, "result")
    read = base_relations(query)
    if CLOCK.name in read and not catalog.has(CLOCK.name):
        raise FreshviewError(
            "now() asks a clock that nobody has set",
            instead="set it with advance_clock(moment), or declare it with CREATE CLOCK",
            at=select.at,
        )
    used = [r for r in catalog.relations.values() if r.name in read]
    fixed = _fixed(select, used)
    bases = {r.name: _base(state, r, fixed) for r in used}
    settings = _settings(state.settings)
    view = MaintainedView(query, used, catalog.functions, settings)
    group = view.group = ViewGroup([view], bases)
    if settings.engine != "reference" and group.base_rows() >= KERNEL_ROWS:
        _compile(group)
    try:
        group.start()
    except Overflow as e:
        raise e.located(select.at) from None
    return Answer(query.columns, view)


def _settings(settings: DatabaseSettings) -> DatabaseSettings:
    """How a query is planned that nothing changes below."""
    return replace(
        settings,
        strategy="reeval",
        mode="batch",
        strict=False,
        factorise=False,
        orders={},
        products={},
        switches=Switches(),
        share=False,
    )


def _readable(state: State) -> Catalog:
    """What is declared, all of it static, and views as tables of their rows."""
    catalog = state.catalog
    relations = {k: replace(r, static=True, time=None) for k, r in catalog.relations.items()}
    views: dict[str, Query] = {}
    for key, query in catalog.views.items():
        if query.factorized or any(c.type.kind == "ring" for c in query.columns):
            views[key] = query
        else:
            relations[key] = Relation(query.name, query.columns, static=True)
    return replace(catalog, relations=relations, views=views)


def _fixed(select: Select, used: Sequence[Relation]) -> dict[int, Value]:
    """The columns of the only table of a query that are compared with a constant, by =.

    No other row of the table matters then, and it is not looked at by the query.
    """
    match select.sources:
        case (Table(alias=alias, columns=()),) if len(used) == 1 and _reads_once(select):
            kinds = {c.name.lower(): (i, c.type.kind) for i, c in enumerate(used[0].columns)}
        case _:
            return {}
    fixed: dict[int, Value] = {}
    for test in conjuncts(select.where):
        match test:
            case Compare("=", Name(name, table), Literal(value, t)):
                at, kind = kinds.get(name.lower(), (-1, ""))
                own = table is None or table.lower() == alias.lower()
                if own and t.kind == kind in ("int", "string") and value is not None:
                    fixed[at] = value
    return fixed


def _reads_once(select: Select) -> bool:
    """Whether there is no subquery that may read the table as well."""
    items = (item.expr for item in select.items if isinstance(item, Item))
    clauses = (select.where, select.having, *select.group, *select.keys)
    tests = (*items, *(c for c in clauses if c is not None), *(k.expr for k in select.order))
    inner = (ScalarQuery, ExistsQuery, Quantified)
    return not select.ctes and not any(isinstance(x, inner) for e in tests for x in inside(e))


def _base(state: State, relation: Relation, fixed: Mapping[int, Value]) -> AnyBase:
    view = state.views.get(relation.name.lower())
    if view is not None:
        base = Base(relation)
        base.rows = dict(Counter(view.rows()))
        return base
    source = state.bases[relation.name]
    if isinstance(source, StatelessBase | FrozenBase):
        raise FreshviewError(
            f"the rows of '{relation.name}' are not kept",
            instead="connect with keep_rows=True, or ask a view",
        )
    if fixed:
        few = Base(relation)
        few.rows = source.rows_with(fixed)
        return few
    return FrozenBase(source)


def _compile(group: ViewGroup) -> None:
    """Let a kernel run the query, where there is one."""
    try:
        group.adopt(kernels.build(compile_group(group.views), group.settings.flags))
    except (NotNative, BuildProblem):
        return
