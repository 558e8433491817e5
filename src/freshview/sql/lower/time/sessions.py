"""Sessions: the rows with equal keys between two gaps of time.

A session starts at a time with no other one less than a gap before it, and ends with one that has
none behind it. So a row belongs to the last start that is not after it, and to the first end that
is not before it: both are first rows of a Top, and follow insertions and deletions.
"""

from __future__ import annotations

from dataclasses import dataclass

from freshview.calculus.build import add, const, exists, mul, sum_, top
from freshview.calculus.scope import outs
from freshview.calculus.terms import Apply, Cmp, Expr, Lift, Order, Var
from freshview.calculus.types import INT, TIMESTAMP
from freshview.calculus.walk import freshen, rename
from freshview.errors import TypeProblem
from freshview.sql.lower.env import Env
from freshview.sql.lower.joined import Joined
from freshview.sql.lower.products import assign, no_row, product
from freshview.sql.lower.scope import Bound, FromItem
from freshview.sql.lower.val import Val
from freshview.sql.lower.values.casts import cast
from freshview.sql.terms import Derived, Interval, Item, Literal, Scalar


def is_session(item: object) -> bool:
    """Whether an item of FROM stands for the sessions of the rows before it."""
    return isinstance(item, Derived) and item.hidden and item.query.window is not None


def session_columns(item: Derived, env: Env) -> Joined:
    """The start and the end of a session, which `sessions` binds behind WHERE."""
    t = TIMESTAMP if isinstance(item.query.window, Interval) else INT
    bounds = tuple(
        Bound(name, env.names.fresh(f"session_{name}"), t.not_null()) for name in ("start", "end")
    )
    return Joined((), (FromItem(item.alias, bounds),), ())


@dataclass(frozen=True)
class _Times:
    """The times of rows by their keys, and the gap that parts sessions."""

    rows: tuple[Expr, ...]
    keys: tuple[str, ...]
    time: str
    gap: Interval | Literal
    env: Env

    def at(self, var: str, *tests: Expr) -> Expr:
        """A copy of the rows that pass tests, by their keys and, as `var`, their times."""
        names = self.env.names
        renamed = {
            v: v if v in self.keys else names.fresh(v)
            for v in sorted(outs(mul(*self.rows)) - {self.time})
        }
        body = freshen(rename(product(*self.rows), {**renamed, self.time: var}), names)
        return sum_((*self.keys, var), product(body, *tests))

    def after_gap(self, var: str) -> Expr:
        """The first time that is a gap behind another one."""
        if isinstance(self.gap, Interval):
            return Apply("add_seconds", (Var(var), const(self.gap.count)))
        assert isinstance(self.gap.value, int)
        return add(Var(var), const(self.gap.value))

    def edges(self, edge: str, *, last: bool) -> Expr:
        """The times at which sessions start, or their last ones."""
        other = self.env.names.fresh("near")
        early, late = (edge, other) if last else (other, edge)
        near = (Cmp("<", Var(early), Var(late)), Cmp(">=", self.after_gap(early), Var(late)))
        return mul(
            exists(self.at(edge)), no_row(sum_(self.keys, self.at(other, *near)), self.env.names)
        )

    def bound(self, *, last: bool) -> tuple[str, Expr]:
        """The first or last time of the session of a row."""
        edge = self.env.names.fresh("last" if last else "first")
        test = Cmp(">=" if last else "<=", Var(edge), Var(self.time))
        rows = mul(self.edges(edge, last=last), test)
        return edge, top(self.keys, (Order(edge, not last),), 1, rows)


def sessions(
    item: Derived, joined: Joined, factors: tuple[Expr, ...], env: Env
) -> tuple[Expr, ...]:
    """The rows with the start and the end of their sessions; those without a time go."""
    query = item.query
    assert query.window is not None
    shown = next(i for i in joined.items if i.alias == item.alias).columns
    [time, *_] = (i.expr for i in query.items if isinstance(i, Item))
    v = _time(env.value(env.resolve(time)), query.window, env)
    own: list[Expr] = []
    keys = tuple(dict.fromkeys(_variable(env.resolve(k), own, factors, env) for k in query.group))
    t = env.names.fresh("time")
    rows = (*factors, *own, *v.present, Lift(t, v.term))
    times = _Times(rows, keys, t, query.window, env)
    (start, starts), (last, ends) = times.bound(last=False), times.bound(last=True)
    bounds = (Lift(shown[0].var, Var(start)), Lift(shown[1].var, times.after_gap(last)))
    return (*rows, starts, ends, *bounds)


def _time(v: Val, gap: Interval | Literal, env: Env) -> Val:
    if isinstance(gap, Interval):
        return v if v.type.kind == "timestamp" else cast(v, TIMESTAMP, env)
    if v.type.kind != "int":
        raise TypeProblem(
            f"a gap of {gap.value} does not fit a time of {v.type.kind}",
            instead="write the gap as INTERVAL '5' MINUTE",
            at=gap.at,
        )
    return v


def _variable(e: Scalar, own: list[Expr], factors: tuple[Expr, ...], env: Env) -> str:
    """The variable of a key; one that is no plain column gets one."""
    v = env.value(e)
    if not v.prefix and isinstance(v.term, Var) and v.term.name in outs(mul(*factors)):
        return v.term.name
    var = env.names.fresh("key")
    own += assign(var, v, env.catalog.functions)
    return var
