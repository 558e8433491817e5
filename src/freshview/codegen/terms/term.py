"""Terms as nested C++ loops: what `reference.engine.closures` does with closures, done with text.

Every node gets a continuation that writes the code inside: it is called where the variables of
the node are bound, with the multiplicity so far. All the consumers of rows add up, so a Sum needs
no code of its own; only Lift, Exists and Top need all the rows of their body first.
"""

from __future__ import annotations

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
from freshview.calculus.types import DOUBLE
from freshview.calculus.walk import children, subterms
from freshview.codegen.cpp.arithmetic import times
from freshview.codegen.cpp.code import Spot
from freshview.codegen.cpp.types import SUM, Cpp, is_there, summand, zero_if_null
from freshview.codegen.terms.context import Bound, Next
from freshview.codegen.terms.first_rows import emit_first_rows
from freshview.codegen.terms.nested import emit_exists, emit_lift, emit_materialized, emit_top
from freshview.codegen.terms.range_sums import emit_band, emit_range_sum
from freshview.codegen.terms.writer import TermWriter
from freshview.errors import NotNative

MOST_COPIES = 8
"""How often the code that follows a sum may be written, once for each combination of addends: past
it the rows of a sum are gathered first. Products of many sums would be long to write and build."""

MANY_FACTORS = 16
"""Tests of one product past which they are one condition, and not blocks inside one another."""


class Terms(TermWriter):
    """What writes terms, node by node."""

    def emit(self, e: Expr, spot: Spot, env: Bound, m: Cpp, k: Next, last: bool = False) -> None:
        """Code that runs `k` for every row of `e`; `last` when `k` does nothing but write."""
        if is_zero(e):
            return
        # Addends that may refuse a row run one by one: each behind the tests that stand before it.
        in_turn = isinstance(e, Cmp | Mul) or (isinstance(e, Add) and may_refuse(e))
        if is_value(e) and not in_turn:
            if self.assumed and self.condition(e, env) in self.assumed:
                k(spot, env, m)
                return
            value = self.value(e, env)
            # Of several addends, one that is NULL is 0, and not the whole.
            if not (isinstance(e, Add) and value.nullable):
                k(spot, env, times(m, self._weight(e, env)))
                return
        match e:
            case Const() | Var() | Apply():
                raise AssertionError("values are handled above")
            case Cmp():
                test = self.condition(e, env)
                if test != "true" and test not in self.assumed:
                    _, spot = spot.open(("if", test), "", f"if ({test}) {{")
                k(spot, env, m)
            case Rel(name, names) | View(name, names, ()):
                self.access(self.places[name], names, spot, env, m, k)
            case Delta(name, names):
                if any(v in env for v in names):
                    self.access(self.delta(name), names, spot, env, m, k)
                else:
                    self._batch(name, names, spot, env, m, k)
            case View():
                raise NotNative(f"view cache '{e.name}' is kept by the reference engine only")
            case Mul(factors):
                self.product(list(factors), spot, env, m, k, last)
            case Add(parts):
                if outs(e) <= env.keys() and (not last or _is_difference(e)):
                    value, spot = self.total(e, spot, env)
                    _, spot = spot.open(("there", value.text), "", f"if ({is_there(value)}) {{")
                    prefetches = dict(self.prefetches)
                    k(spot, env, times(m, value))
                    self.prefetches = prefetches  # what seldom happens is not worth fetching for
                elif not last and self._too_often(e, env):
                    emit_materialized(self, e, spot, env, m, k)
                else:
                    self.copies *= len(parts)
                    for part in parts:
                        self.emit(part, spot, env, m, k, last)
                    self.copies //= len(parts)
            case Sum():
                self._sum(e, spot, env, m, k, last)
            case Lift(var, body):
                emit_lift(self, var, body, spot, env, m, k)
            case Exists(body):
                emit_exists(self, body, spot, env, m, k)
            case Top():
                if not (self.passes.first_rows and emit_first_rows(self, e, spot, env, m, k)):
                    emit_top(self, e, spot, env, m, k)
            case _:
                assert_never(e)

    def _too_often(self, e: Add, env: Bound) -> bool:
        """Whether writing what follows once for each addend makes too many copies of it."""
        often = self.copies * len(e.terms) > MOST_COPIES
        return often and self.payload(e, env).kind != "ring"  # elements of rings are not copied

    def _weight(self, e: Expr, env: Bound) -> Cpp:
        """A value as what a row counts for.

        Of doubles, sums and products are those of `native/sum.hpp`: a statement may multiply out
        what another one does not, and their fingerprints agree all the same.
        """
        value = self.value(e, env)
        if value.type.kind != "double":
            return zero_if_null(value)
        if isinstance(e, Add | Mul) and not value.nullable:
            first, *others = (self._weight(part, env) for part in children(e))
            for other in others:
                if isinstance(e, Mul):
                    first = times(first, other)
                else:
                    text = f"plus({summand(first).text}, {summand(other).text})"
                    first = Cpp(text, DOUBLE, SUM)
            return summand(first)
        return summand(zero_if_null(value))

    def product(
        self, factors: list[Expr], spot: Spot, env: Bound, m: Cpp, k: Next, last: bool
    ) -> None:
        """Factor by factor; tests go first as soon as what they read is bound.

        After them what does not depend on the factors before it: it would be computed again for
        every row of theirs.
        """
        if len(factors) > MANY_FACTORS and self.passes.hoist:
            factors, spot = self._all_tests(factors, spot, env)
        if not factors:
            k(spot, env, m)
            return
        tests = (
            i
            for i, f in enumerate(factors)
            if isinstance(f, Cmp) and ins(f) <= env.keys() and not may_refuse(f)
        )
        alone = (i for i, f in enumerate(factors) if _stands_alone(f, env))
        lifts = (i for i, f in enumerate(factors) if _is_lifting(f) and ins(f) <= env.keys())
        at = next(tests, next(lifts, next(alone, 0))) if self.passes.hoist else 0
        if self.passes.ranges and emit_band(self, factors, at, spot, env, m, k):
            return
        factor, rest = factors[at], factors[:at] + factors[at + 1 :]
        if any(map(may_refuse, rest)):
            spot = self._guarded(factor, spot, env)
        self.emit(
            factor,
            spot,
            env,
            m,
            lambda s, b, n: self.product(rest, s, b, n, k, last),
            last and not rest,
        )

    def _guarded(self, e: Expr, spot: Spot, env: Bound) -> Spot:
        """Where a value is not zero: what stands behind it must not see other rows."""
        if not isinstance(e, Apply | Add) or not is_value(e) or _is_lifting(e):
            return spot
        if isinstance(e, Add) and may_refuse(e):  # its addends run one by one
            return spot
        value = zero_if_null(self.value(e, env))
        _, spot = spot.open(("there", value.text), "", f"if ({is_there(value)}) {{")
        return spot

    def _all_tests(self, factors: list[Expr], spot: Spot, env: Bound) -> tuple[list[Expr], Spot]:
        """All the tests of a long product that can be run, in one condition, and the rest."""
        ready = [f for f in factors if isinstance(f, Cmp) and ins(f) <= env.keys()]
        if len(ready) <= MANY_FACTORS:
            return factors, spot
        texts = dict.fromkeys(self.condition(f, env) for f in ready)
        asked = [t for t in texts if t != "true" and t not in self.assumed]
        if asked:
            test = " && ".join(asked)
            _, spot = spot.open(("if", test), "", f"if ({test}) {{")
        return [f for f in factors if f not in set(ready)], spot

    def _sum(self, e: Sum, spot: Spot, env: Bound, m: Cpp, k: Next, last: bool) -> None:
        if not (self.passes.ranges and emit_range_sum(self, e, spot, env, m, k, last)):
            self.plain_sum(e, spot, env, m, k, last)

    def plain_sum(self, e: Sum, spot: Spot, env: Bound, m: Cpp, k: Next, last: bool) -> None:
        """A sum by loops: as a local if its keys are bound, else row by row."""
        inner = self.inside(e.keys, e.body, env)
        if not last and outs(e) <= env.keys() and not outs(e.body) <= inner.keys():
            value, spot = self.total(e, spot, env)
            k(spot, env, times(m, value))
            return

        def leave(s: Spot, b: Bound, n: Cpp) -> None:
            k(s, {**env, **{v: b[v] for v in outs(e)}}, n)

        self.emit(e.body, spot, inner, m, leave, last)


def _is_difference(e: Add) -> bool:
    """Whether parts of a sum are likely to cancel, as a nested term does with its new value."""
    return any(isinstance(part, Exists | Lift | Top) for part in subterms(e))


def _is_lifting(e: Expr) -> bool:
    """Whether a factor lifts a value into a ring: those of one row are lifted together."""
    return isinstance(e, Apply) and bool(e.ring)


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
