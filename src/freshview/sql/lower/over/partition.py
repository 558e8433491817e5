"""The rows of a partition beside the row at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from freshview.calculus.build import exists, sum_, top
from freshview.calculus.scope import outs
from freshview.calculus.terms import Expr, Var
from freshview.calculus.walk import freshen, rename
from freshview.errors import UnsupportedSql
from freshview.sql.lower.aggregates.group import Group
from freshview.sql.lower.env import Env
from freshview.sql.lower.group_by import Body
from freshview.sql.lower.over.ordering import Key, Keys
from freshview.sql.lower.products import assign, product
from freshview.sql.lower.scope import Bound, FromItem, Scope
from freshview.sql.terms import Literal, Over, Ref, Scalar


@dataclass(frozen=True)
class Partition:
    """Copies of the rows under other names, the columns of PARTITION BY apart.

    `assigned` binds what the window reads of the row at hand. `order` are the keys of ORDER BY,
    and `ties` tell rows apart that are equal by them, but for copies where rows are not `unique`.
    """

    over: Over
    env: Env
    assigned: tuple[Expr, ...]
    rows: tuple[Expr, ...]
    keys: tuple[str, ...]
    order: tuple[Key, ...]
    ties: tuple[Key, ...]
    unique: bool
    own: tuple[Scalar, ...]
    args: tuple[Scalar, ...]
    read: tuple[str, ...]
    inner: Env

    @property
    def total(self) -> tuple[Key, ...]:
        """Keys by which no two rows are equal."""
        if not self.unique:
            raise UnsupportedSql(
                f"{self.over.fn.upper()} OVER of rows that may come twice is not supported",
                instead="declare the PRIMARY KEY of every table in FROM, or number the rows of a "
                "subquery with DISTINCT or GROUP BY",
                at=self.over.at,
            )
        return self.order + self.ties

    @property
    def every_key(self) -> tuple[Key, ...]:
        """Keys by which no two rows are equal that are not copies."""
        return self.order + self.ties

    def where(self, *tests: Expr) -> Expr:
        """The rows that meet the tests, by what the window reads of them."""
        shown = (*self.keys, *self.read, *(k.other for k in self.every_key))
        return freshen(sum_(shown, product(*self.rows, *tests)), self.env.names)

    def values(self) -> Expr:
        """The different values of ORDER BY."""
        shown = (*self.keys, *(k.other for k in self.order))
        return freshen(exists(sum_(shown, product(*self.rows))), self.env.names)

    def first(self, rows: Expr, order: Keys, count: int) -> Expr:
        """The first of some rows by an order."""
        return top(self.keys, tuple(k.order for k in order), count, rows)

    def group(self, rows: Expr, *, may_be_empty: bool) -> Group:
        """Some rows of the partition, to be aggregated."""
        return Group((rows,), self.keys, may_be_empty, self.inner)


def partition(over: Over, body: Body) -> Partition:
    """The partition that a window function is about, for each row of a SELECT."""
    bound = _Bound(body)
    keys = tuple(dict.fromkeys(bound.variable(e).var for e in over.partition))
    order = [(bound.variable(k.expr), k) for k in over.order if not isinstance(k.expr, Literal)]
    args = [e if isinstance(e, Literal) else bound.variable(e) for e in over.args]
    apart, unique = _row_key(body)
    rows = (*body.factors, *bound.assigned)
    names = body.env.names
    others = {v: v if v in keys else names.fresh(v) for v in sorted(_outs(rows))}
    copied = (freshen(rename(product(*rows), others), names),)

    def key(c: Bound, *, descending: bool = False, nulls_first: bool = True) -> Key:
        return Key(c.var, others[c.var], c.type, descending, nulls_first)

    chosen = {
        c.var: key(c, descending=k.descending, nulls_first=k.nulls_first)
        for c, k in reversed(order)
    }
    sorted_ = tuple(chosen[v] for v in dict.fromkeys(c.var for c, _ in order))
    seen = {*keys, *chosen}
    rest = tuple(key(c) for c in apart if c.var not in seen and c.var in others)
    columns = [a for a in args if isinstance(a, Bound)]
    inner = tuple(Bound(c.name, others.get(c.var, c.var), c.type) for c in columns)
    scope = Scope((FromItem("#rows", inner),), inner)
    return Partition(
        over,
        body.env,
        bound.assigned,
        copied,
        keys,
        sorted_,
        rest,
        unique,
        tuple(_reference(a, {}) for a in args),
        tuple(_reference(a, others) for a in args),
        tuple(c.var for c in inner if c.var not in keys),
        replace(body.env, scope=scope, known={}),
    )


def _outs(factors: tuple[Expr, ...]) -> frozenset[str]:
    """What the factors bind, also where one of them is no row at all."""
    return frozenset[str]().union(*(outs(f) for f in factors))


def _reference(a: Bound | Literal, others: Mapping[str, str]) -> Scalar:
    return a if isinstance(a, Literal) else Ref(others.get(a.var, a.var), a.type, a.name)


class _Bound:
    """Expressions of a row under variables; plain columns have one."""

    def __init__(self, body: Body) -> None:
        self.env = body.env
        self.there = _outs(body.factors)
        self.known: dict[Scalar, Bound] = {}
        self.assigned: tuple[Expr, ...] = ()

    def variable(self, e: Scalar) -> Bound:
        """The variable of an expression."""
        if e not in self.known:
            v = self.env.value(e)
            if not v.prefix and isinstance(v.term, Var) and v.term.name in self.there:
                self.known[e] = Bound("", v.term.name, v.type)
            else:
                var = self.env.names.fresh("w")
                self.assigned += assign(var, v, self.env.catalog.functions)
                self.known[e] = Bound("", var, v.type)
        return self.known[e]


def _row_key(body: Body) -> tuple[tuple[Bound, ...], bool]:
    """Columns by which no two rows are equal; where there are none, all the columns, and False."""
    scope = body.env.scope
    if scope.grouped is not None:
        values = (v for v in body.env.known.values() if isinstance(v.term, Var))
        types = {v.term.name: v.type for v in values if isinstance(v.term, Var)}
        return tuple(Bound("", v, types[v]) for v in sorted(scope.grouped)), True
    columns: list[Bound] = []
    for item in scope.items:
        if not item.row_key:
            return tuple(c for i in scope.items for c in i.columns), False
        columns += [c for c in item.columns if c.var in item.row_key]
    return tuple(columns), True
