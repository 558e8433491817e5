"""Terms as nested loops: what `reference.engine.closures` does with closures, done with data.

Every node gets a continuation for what stands inside: it is called where the variables of the node
are bound, with the multiplicity so far. All the consumers of rows add up, so a Sum needs no code of
its own; only Lift, Exists and Top need all the rows of their body first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from freshview.calculus.build import is_zero
from freshview.calculus.scope import ins, is_value, may_refuse, outs
from freshview.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.walk import subterms
from freshview.codegen.layout.place import batch_table
from freshview.codegen.layout.terms import MapPlace
from freshview.codegen.loops.parts import There
from freshview.codegen.loops.terms import If, Stmt
from freshview.codegen.lower.context import Bound, Count, Next
from freshview.codegen.lower.first_rows import lower_first_rows
from freshview.codegen.lower.nested import (
    lower_exists,
    lower_lift,
    lower_materialized,
    lower_top,
)
from freshview.codegen.lower.range_sums import lower_band, lower_range_sum
from freshview.codegen.lower.writer import TermLowering, counted

MOST_COPIES = 8
"""How often the code that follows a sum may be written, once for each combination of addends: past
it the rows of a sum are gathered first. Products of many sums would be long to write and build."""

MANY_FACTORS = 16
"""Tests of one product past which they are one condition, and not blocks inside one another."""


class Terms(TermLowering):
    """What lowers terms, node by node."""

    def emit(self, e: Expr, env: Bound, m: Count, k: Next, last: bool = False) -> list[Stmt]:
        """Loops that run `k` for every row of `e`; `last` when `k` does nothing but write."""
        if is_zero(e):
            return []
        # Addends that may refuse a row run one by one: each behind the tests that stand before it.
        in_turn = isinstance(e, Cmp | Mul) or (isinstance(e, Add) and may_refuse(e))
        if is_value(e) and not in_turn:
            value = self.value(e, env)
            if value in self.assumed:
                return k(env, m)
            # Of several addends, one that is NULL is 0, and not the whole.
            if not (isinstance(e, Add) and self.type(e, env).nullable):
                return k(env, m.times(value))
        match e:
            case Const() | Var() | Apply():
                raise AssertionError("values are handled above")
            case Cmp():
                test = self.test(e, env)
                body = k(env, m)
                return body if test.value in self.assumed else [If((test,), tuple(body))]
            case Rel(name, names) | View(name, names):
                return self.access(self.layout.places[name], names, env, m, k)
            case Delta(name, names):
                if any(v in env for v in names):
                    return self.access(_batch_by_key(name, names), names, env, m, k)
                return self.batch(name, names, env, m, k)
            case Mul(factors):
                return self.product(list(factors), env, m, k, last)
            case Add(parts):
                return self._add(e, parts, env, m, k, last)
            case Sum():
                return self._sum(e, env, m, k, last)
            case Lift(var, body):
                return lower_lift(self, var, body, env, m, k)
            case Exists(body):
                return lower_exists(self, body, env, m, k)
            case Top():
                first = lower_first_rows(self, e, env, m, k) if self.passes.first_rows else None
                return lower_top(self, e, env, m, k) if first is None else first
            case _:
                assert_never(e)

    def _add(
        self, e: Add, parts: tuple[Expr, ...], env: Bound, m: Count, k: Next, last: bool
    ) -> list[Stmt]:
        if outs(e) <= env.keys() and (not last or _is_difference(e)):
            definition, value = self.total(e, env)
            body = k(env, counted(m, value))
            return [definition, If((There(value.value),), tuple(body), seldom=True)]
        if not last and self._too_often(e, env, m):
            return lower_materialized(self, e, env, m, k)
        each = replace(m, copies=m.copies * len(parts))
        return [s for part in parts for s in self.emit(part, env, each, k, last)]

    def _too_often(self, e: Add, env: Bound, m: Count) -> bool:
        """Whether writing what follows once for each addend makes too many copies of it."""
        often = m.copies * len(e.terms) > MOST_COPIES
        return often and self.payload(e, env).kind != "ring"  # elements of rings are not copied

    def product(self, factors: list[Expr], env: Bound, m: Count, k: Next, last: bool) -> list[Stmt]:
        """Factor by factor; tests go first as soon as what they read is bound.

        After them what does not depend on the factors before it: it would be computed again for
        every row of theirs.
        """
        if len(factors) > MANY_FACTORS and self.passes.hoist:
            ready = [f for f in factors if isinstance(f, Cmp) and ins(f) <= env.keys()]
            if len(ready) > MANY_FACTORS:
                tests = tuple(dict.fromkeys(self.test(f, env) for f in ready))
                asked = tuple(t for t in tests if t.value not in self.assumed)
                rest = [f for f in factors if f not in set(ready)]
                body = self.product(rest, env, m, k, last)
                return [If(asked, tuple(body))] if asked else body
        if not factors:
            return k(env, m)
        at = self._next(factors, env)
        if self.passes.ranges:
            band = lower_band(self, factors, at, env, m, k)
            if band is not None:
                return band
        factor, rest = factors[at], factors[:at] + factors[at + 1 :]

        def go_on() -> list[Stmt]:
            if self._chooses(factor, factors, env):
                definition, value = self.total(factor, env)
                body = self.product(rest, env, counted(m, value), k, last)
                return [definition, If((There(value.value),), tuple(body))]
            return self.emit(
                factor, env, m, lambda b, n: self.product(rest, b, n, k, last), last and not rest
            )

        return self._guarded(factor, env, go_on) if any(map(may_refuse, rest)) else go_on()

    def _next(self, factors: list[Expr], env: Bound) -> int:
        """Which factor comes first."""
        if not self.passes.hoist:
            return 0
        tests = (
            i
            for i, f in enumerate(factors)
            if isinstance(f, Cmp) and ins(f) <= env.keys() and not may_refuse(f)
        )
        alone = (i for i, f in enumerate(factors) if _stands_alone(f, env))
        lifts = (i for i, f in enumerate(factors) if _is_lifting(f) and ins(f) <= env.keys())
        choosing = (i for i, f in enumerate(factors) if self._chooses(f, factors, env))
        return next(tests, next(lifts, next(choosing, next(alone, 0))))

    def _chooses(self, e: Expr, factors: list[Expr], env: Bound) -> bool:
        """Whether a factor is a sum that may well be empty, and costs little beside another one."""
        if not self.passes.guard or not _is_choice(e, env) or any(map(may_refuse, factors)):
            return False
        if self.payload(e, env).kind == "ring":
            return False
        return any(f is not e and _reads(f) > 1 for f in factors)

    def _guarded(self, e: Expr, env: Bound, then: Callable[[], list[Stmt]]) -> list[Stmt]:
        """Where a value is not zero: what stands behind it must not see other rows."""
        if not isinstance(e, Apply | Add) or not is_value(e) or _is_lifting(e):
            return then()
        if isinstance(e, Add) and may_refuse(e):  # its addends run one by one
            return then()
        return [If((There(self.value(e, env)),), tuple(then()))]

    def _sum(self, e: Sum, env: Bound, m: Count, k: Next, last: bool) -> list[Stmt]:
        summed = lower_range_sum(self, e, env, m, k, last) if self.passes.ranges else None
        return self.plain_sum(e, env, m, k, last) if summed is None else summed

    def plain_sum(self, e: Sum, env: Bound, m: Count, k: Next, last: bool) -> list[Stmt]:
        """A sum by loops: as a local if its keys are bound, else row by row."""
        inner = self.inside(e.keys, e.body, env)
        if not last and outs(e) <= env.keys() and not outs(e.body) <= inner.keys():
            definition, value = self.total(e, env)
            return [definition, *k(env, counted(m, value))]

        def leave(b: Bound, n: Count) -> list[Stmt]:
            return k({**env, **{v: b[v] for v in outs(e)}}, n)

        return self.emit(e.body, inner, m, leave, last)


def _batch_by_key(name: str, names: tuple[str, ...]) -> MapPlace:
    """The batch as a table, its rows added up; it is filled at the start of the trigger."""
    return MapPlace(batch_table(name), 0, tuple(range(len(names))))


def _is_difference(e: Add) -> bool:
    """Whether parts of a sum are likely to cancel, as a nested term does with its new value."""
    return any(isinstance(part, Exists | Lift | Top) for part in subterms(e))


def _is_lifting(e: Expr) -> bool:
    """Whether a factor lifts a value into a ring: those of one row are lifted together."""
    return isinstance(e, Apply) and bool(e.ring)


def _reads(e: Expr) -> int:
    """How many tables a term looks into."""
    return sum(isinstance(x, View | Rel) for x in subterms(e))


def _is_choice(e: Expr, env: Bound) -> bool:
    """Whether a sum is over rows of one table, by a bound column, of which tests choose some."""
    if not (isinstance(e, Sum) and ins(e) <= env.keys() and outs(e) <= env.keys()):
        return False
    parts = e.body.factors if isinstance(e.body, Mul) else (e.body,)
    rows = [f for f in parts if isinstance(f, View | Rel)]
    tests = [f for f in parts if isinstance(f, Cmp)]
    if len(rows) != 1 or not tests or len(rows) + len(tests) != len(parts):
        return False
    return any(v in env for v in rows[0].vars)


def _stands_alone(e: Expr, env: Bound) -> bool:
    """Whether a nested term needs nothing that is not bound yet, and no key to be quick."""
    if not ins(e) <= env.keys() or is_value(e):
        return False
    match e:
        case Top(keys, _, _, _):
            return not keys
        case Lift(_, body) | Exists(body):
            return not is_value(body) and outs(body) <= env.keys()
        case _:
            return False
