"""The meaning of terms, compiled once into closures: what runs programs.

`compile_term` turns a term into a chain of Python closures in continuation-passing style: every
node gets the closure that takes over when its variables are bound, and calls it once a row, with
the multiplicity so far. Variables live in slots of one list. Which variables are bound is known
at compile time, and so is how every atom is accessed:

    get     all its variables are bound: one look-up
    slice   some are: the rows of one hash index entry
    scan    none is: all the rows
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import assert_never

from freshview.algebra import Number
from freshview.calculus.build import is_zero
from freshview.calculus.check import check_bound
from freshview.calculus.compare import compare
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.scope import ins, is_value, outs
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
from freshview.calculus.types import Value
from freshview.depth import deep
from freshview.reference.engine.access import access, access_cache
from freshview.reference.engine.depth import DEEP, nesting, with_room
from freshview.reference.engine.grouped import Body, collector, grouped, total
from freshview.reference.engine.scalars import Scalar, compile_scalar, compile_test
from freshview.reference.engine.scope import Frame, Next, Rows, Scope, Work
from freshview.reference.engine.store import Stores
from freshview.reference.values import nearest_double, times, weight


@deep
def compile_term(
    e: Expr,
    stores: Stores,
    inputs: Sequence[str] = (),
    keys: Sequence[str] | None = None,
    functions: Functions = BUILTINS,
    work: Work | None = None,
) -> Callable[[Sequence[Value]], Rows]:
    """A function from values of its `inputs` to the rows of the term over `keys`.

    It is to be called in the exact decimal context; its law is that of `evaluate`.

    >>> from freshview.calculus.text import read
    >>> from freshview.reference.engine.store import Store
    >>> stores = Stores({"R": Store({(1, 10): 2, (1, 20): 1, (2, 30): -1})})
    >>> rows_of = compile_term(read("Sum[a](R(a, b) * b)"), stores, inputs=("a",))
    >>> rows_of((1,)), rows_of((3,))
    ({(1,): 40}, {})
    """
    check_bound(e, frozenset(inputs))
    run = _Compiler(stores, functions, work or Work()).whole(e, tuple(inputs), keys)
    return with_room(run, nesting(e)) if nesting(e) > DEEP else run


class _Compiler:
    """The state of one compilation: the slots inputs out so far."""

    def __init__(self, stores: Stores, functions: Functions, work: Work) -> None:
        self.stores = stores
        self.functions = functions
        self.frame = Frame(work)

    def whole(
        self, e: Expr, inputs: tuple[str, ...], keys: Sequence[str] | None
    ) -> Callable[[Sequence[Value]], Rows]:
        if is_zero(e):
            return lambda _: {}  # the empty relation binds nothing, whatever its keys
        names = tuple(sorted(outs(e))) if keys is None else tuple(keys)
        at = {name: self.frame.new_slot() for name in sorted({*inputs, *outs(e)})}
        scope = Scope(at, frozenset(inputs))
        frame, slots, count = self.frame, self.frame.slots, len(inputs)
        order = [scope.at[v] for v in inputs]
        straight = order == list(range(count))
        rows, collect = collector(names, scope, frame)
        body = self.emit(e, scope, collect, last=True)

        def run(args: Sequence[Value]) -> Rows:
            frame.runs += 1
            if straight:
                slots[:count] = args
            else:
                for i, x in zip(order, args, strict=True):
                    slots[i] = x
            rows.clear()
            body(1)
            return {row: m for row, m in rows.items() if m}

        return run

    def _inside(self, scope: Scope, keys: Iterable[str], body: Expr) -> Scope:
        """The scope inside a grouping: its other variables get slots of their own."""
        shared = {v: scope.at[v] for v in {*keys, *ins(body)} if v in scope.at}
        local = {v: self.frame.new_slot() for v in sorted(outs(body) - shared.keys())}
        return Scope({**shared, **local}, scope.bound & shared.keys())

    def _body(self, e: Expr, scope: Scope) -> Body:
        """What compiles a term whose rows are only added up."""
        return lambda k: self.emit(e, scope, k, last=True)

    def emit(self, e: Expr, scope: Scope, k: Next, *, last: bool = False) -> Next:
        """A closure that runs `k` for every row of `e`; `last` when `k` only adds up."""
        match e:
            case Const() | Var() | Apply():
                return self._factor(e, scope, k)
            case Cmp():
                return self._filter(e, scope, k)
            case Rel(name, names):
                return access(self.stores.relation(name), names, scope, self.frame, k)
            case Delta(name, names):
                return access(self.stores.delta(name), names, scope, self.frame, k)
            case View(name, names, ()):
                return access(self.stores.map(name), names, scope, self.frame, k)
            case View(name):
                return access_cache(self.stores.cache(name), e, scope, self.frame, k)
            case Mul(factors):
                return self._product(factors, scope, k, last)
            case Add(terms):
                return _in_turn([self.emit(t, scope, k, last=last) for t in terms])
            case Sum(keys, body):
                inside = self._inside(scope, keys, body)
                within = outs(body) <= inside.bound | outs(e)
                if within or (last and not (scope.bound and scope.is_alone(e))):
                    return self.emit(body, inside, k, last=last)
                return self._grouped(e, body, inside, scope, k)
            case Lift(var, body):
                return self._lift(var, body, scope, k)
            case Exists(body):
                return self._grouped(e, body, scope, scope, k)
            case Top(keys, _, _, body):
                return self._grouped(e, body, self._inside(scope, keys, body), scope, k)
            case _:
                assert_never(e)

    def _scalar(self, e: Expr, scope: Scope) -> Scalar:
        return compile_scalar(e, scope.at, self.frame.slots, self.functions)

    def _factor(self, e: Const | Var | Apply, scope: Scope, k: Next) -> Next:
        scalar = self._scalar(e, scope)

        def run(m: Number) -> None:
            x = scalar()
            if x:
                k(times(m, weight(x)))

        return run

    def _filter(self, e: Cmp, scope: Scope, k: Next) -> Next:
        test = compile_test(e.op, self._scalar(e.left, scope), self._scalar(e.right, scope))

        def run(m: Number) -> None:
            if test():
                k(m)

        return run

    def _product(self, factors: tuple[Expr, ...], scope: Scope, k: Next, last: bool) -> Next:
        scopes = [scope]
        for factor in factors[:-1]:
            scopes.append(scopes[-1].after(factor))
        end = len(factors)
        while end:
            start = _run_of_tests(factors, end)
            if end - start > 1:
                k = self._filters(factors[start:end], scopes[start], k)
            else:
                start = end - 1
                k = self.emit(factors[start], scopes[start], k, last=last)
            last = False
            end = start
        return k

    def _filters(self, tests: tuple[Expr, ...], scope: Scope, k: Next) -> Next:
        """Tests in a row, one after the other: many of them nest no deeper than one."""
        compiled = [
            compile_test(e.op, self._scalar(e.left, scope), self._scalar(e.right, scope))
            for e in tests
            if isinstance(e, Cmp)
        ]

        def run(m: Number) -> None:
            for test in compiled:
                if not test():
                    return
            k(m)

        return run

    def _lift(self, var: str, body: Expr, scope: Scope, k: Next) -> Next:
        read = self._scalar(body, scope) if is_value(body) else self._value(body, scope)
        slots, slot = self.frame.slots, scope.at[var]

        def bind(m: Number) -> None:
            slots[slot] = read()
            k(m)

        def test(m: Number) -> None:
            if compare("=", slots[slot], read()):
                k(m)

        return test if var in scope.bound else bind

    def _value(self, body: Expr, scope: Scope) -> Callable[[], Value]:
        """The sum of all multiplicities of a term, as a value."""
        read = total(self._body(body, scope))
        return lambda: nearest_double(read())

    def _grouped(
        self, e: Sum | Exists | Top, body: Expr, inside: Scope, scope: Scope, k: Next
    ) -> Next:
        return grouped(e, self._body(body, inside), inside, scope, self.frame, k)


def _run_of_tests(factors: tuple[Expr, ...], end: int) -> int:
    """Where the comparisons that stand right before a factor begin."""
    start = end
    while start and isinstance(factors[start - 1], Cmp):
        start -= 1
    return start


def _in_turn(branches: list[Next]) -> Next:
    def run(m: Number) -> None:
        for branch in branches:
            branch(m)

    return run
