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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias, assert_never

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
from freshview.calculus.walk import children
from freshview.depth import deep, room_for
from freshview.reference.engine.scalars import Slots, compile_scalar, compile_test
from freshview.reference.engine.store import Store, Stores, picker
from freshview.reference.top import Row, first_rows
from freshview.reference.values import plus, settled, times, weight

DEEP = 100
"""Closures inside one another past which the stack of the caller may be too short."""

FRAMES_A_LEVEL = 6

Next: TypeAlias = Callable[[Any], None]
Rows: TypeAlias = dict[Row, Number]


class Work:
    """How many rows were looked at and written: the cost of what was run, free of the clock."""

    __slots__ = ("visits", "writes")

    def __init__(self) -> None:
        self.visits = 0
        self.writes = 0


@dataclass(frozen=True)
class Scope:
    """Where variables live, and which of them are bound at a point of the term."""

    at: Mapping[str, int]
    bound: frozenset[str]

    def after(self, e: Expr) -> Scope:
        """The scope to the right of a term."""
        return replace(self, bound=self.bound | outs(e))


@deep
def compile_term(
    e: Expr,
    stores: Stores,
    given: Sequence[str] = (),
    keys: Sequence[str] | None = None,
    functions: Functions = BUILTINS,
    work: Work | None = None,
) -> Callable[[Sequence[Value]], Rows]:
    """A function from values of the `given` variables to the rows of the term over `keys`.

    It is to be called in the exact decimal context; its law is that of `evaluate`.

    >>> from freshview.calculus.text import read
    >>> stores = Stores({"R": Store({(1, 10): 2, (1, 20): 1, (2, 30): -1})})
    >>> rows_of = compile_term(read("Sum[a](R(a, b) * b)"), stores, given=("a",))
    >>> rows_of((1,)), rows_of((3,))
    ({(1,): 40}, {})
    """
    check_bound(e, frozenset(given))
    run = _Compiler(stores, functions, work or Work()).whole(e, tuple(given), keys)
    return _with_room(run, nesting(e)) if nesting(e) > DEEP else run


class _Compiler:
    """The state of one compilation: the slots given out so far."""

    def __init__(self, stores: Stores, functions: Functions, work: Work) -> None:
        self.stores = stores
        self.functions = functions
        self.work = work
        self.slots: Slots = []
        self.runs = 0  # how often the whole term was run

    def whole(
        self, e: Expr, given: tuple[str, ...], keys: Sequence[str] | None
    ) -> Callable[[Sequence[Value]], Rows]:
        if is_zero(e):
            return lambda _: {}  # the empty relation binds nothing, whatever its keys
        names = tuple(sorted(outs(e))) if keys is None else tuple(keys)
        scope = self._scope_of({*given, *outs(e)}, frozenset(given))
        pick = picker([scope.at[v] for v in names])
        slots, count = self.slots, len(given)
        order = [scope.at[v] for v in given]
        straight = order == list(range(count))
        rows: Rows = {}

        def collect(m: Number) -> None:
            row = pick(slots)
            rows[row] = plus(rows[row], m) if row in rows else m

        body = self.emit(e, scope, collect, last=True)

        def run(args: Sequence[Value]) -> Rows:
            self.runs += 1
            if straight:
                slots[:count] = args
            else:
                for i, x in zip(order, args, strict=True):
                    slots[i] = x
            rows.clear()
            body(1)
            return {row: m for row, m in rows.items() if m}

        return run

    def _slot(self) -> int:
        self.slots.append(None)
        return len(self.slots) - 1

    def _scope_of(self, names: Iterable[str], bound: frozenset[str]) -> Scope:
        return Scope({name: self._slot() for name in sorted(names)}, bound)

    def _inside(self, scope: Scope, keys: Iterable[str], body: Expr) -> Scope:
        """The scope inside a grouping: its other variables get slots of their own."""
        shared = {v: scope.at[v] for v in {*keys, *ins(body)} if v in scope.at}
        local = {v: self._slot() for v in sorted(outs(body) - shared.keys())}
        return Scope({**shared, **local}, scope.bound & shared.keys())

    def emit(self, e: Expr, scope: Scope, k: Next, *, last: bool = False) -> Next:
        """A closure that runs `k` for every row of `e`; `last` when `k` only adds up."""
        match e:
            case Const() | Var() | Apply():
                return self._factor(e, scope, k)
            case Cmp():
                return self._filter(e, scope, k)
            case Rel(name, names):
                return self._access(self.stores.relation(name), names, scope, k)
            case Delta(name, names):
                return self._access(self.stores.delta(name), names, scope, k)
            case View(name, names, ()):
                return self._access(self.stores.map(name), names, scope, k)
            case View():
                return self._cached(e, scope, k)
            case Mul(factors):
                return self._product(factors, scope, k, last)
            case Add(terms):
                return _in_turn([self.emit(t, scope, k, last=last) for t in terms])
            case Sum(keys, body):
                inside = self._inside(scope, keys, body)
                within = outs(body) <= inside.bound | outs(e)
                if within or (last and not (scope.bound and _is_alone(e, scope))):
                    return self.emit(body, inside, k, last=last)
                return self._collected(e, body, inside, scope, k)
            case Lift(var, body):
                return self._lift(var, body, scope, k)
            case Exists(body):
                return self._collected(e, body, scope, scope, k)
            case Top(keys, _, _, body):
                return self._collected(e, body, self._inside(scope, keys, body), scope, k)
            case _:
                assert_never(e)

    def _scalar(self, e: Expr, scope: Scope) -> Callable[[], Any]:
        return compile_scalar(e, scope.at, self.slots, self.functions)

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

    def _access(self, store: Store, names: tuple[str, ...], scope: Scope, k: Next) -> Next:
        slots, work = self.slots, self.work
        known = tuple(i for i, v in enumerate(names) if v in scope.bound)
        key = picker([scope.at[names[i]] for i in known])
        rows = store.rows
        if len(known) == len(names):

            def get(m: Number) -> None:
                work.visits += 1
                n = rows.get(key(slots))
                if n is not None:
                    k(times(m, n))

            return get
        visit = self._visit(names, scope, k)
        if not known:

            def scan(m: Number) -> None:
                work.visits += len(rows)
                visit(rows, m)

            return scan
        groups = store.index(known)

        def slice_(m: Number) -> None:
            group = groups.get(key(slots))
            if group is not None:
                work.visits += len(group)
                visit(group, m)

        return slice_

    def _visit(
        self, names: tuple[str, ...], scope: Scope, k: Next
    ) -> Callable[[Rows, Number], None]:
        """Bind the free positions of each row; a variable that stands twice must agree."""
        slots = self.slots
        first: dict[str, int] = {}
        for i, v in enumerate(names):
            if v not in scope.bound:
                first.setdefault(v, i)
        binds = [(i, scope.at[v]) for v, i in first.items()]
        tests = [(i, first[v]) for i, v in enumerate(names) if first.get(v, i) != i]
        if len(binds) == 1 and not tests:
            ((at, slot),) = binds

            def visit_one(rows: Rows, m: Number) -> None:
                for row, n in rows.items():
                    slots[slot] = row[at]
                    k(times(m, n))

            return visit_one

        def visit(rows: Rows, m: Number) -> None:
            for row, n in rows.items():
                for i, j in tests:
                    if row[i] != row[j]:
                        break
                else:
                    for i, j in binds:
                        slots[j] = row[i]
                    k(times(m, n))

        return visit

    def _cached(self, view: View, scope: Scope, k: Next) -> Next:
        """Read a view cache: the copy for the inputs is made when it is first asked for."""
        slots, work, cache = self.slots, self.work, self.stores.cache(view.name)
        inputs = picker([scope.at[v] for v in view.inputs])
        known = tuple(i for i, v in enumerate(view.vars) if v in scope.bound)
        key = picker([scope.at[view.vars[i]] for i in known])
        visit = self._visit(view.vars, scope, k)

        def run(m: Number) -> None:
            store = cache.at(inputs(slots))
            group = store.index(known).get(key(slots)) if known else store.rows
            if group:
                work.visits += len(group)
                visit(group, m)

        return run

    def _lift(self, var: str, body: Expr, scope: Scope, k: Next) -> Next:
        read = self._scalar(body, scope) if is_value(body) else self._value(body, scope)
        slots, slot = self.slots, scope.at[var]

        def bind(m: Number) -> None:
            slots[slot] = read()
            k(m)

        def test(m: Number) -> None:
            if compare("=", slots[slot], read()):
                k(m)

        return test if var in scope.bound else bind

    def _value(self, body: Expr, scope: Scope) -> Callable[[], Value]:
        """The sum of all multiplicities of a term, as a value."""
        total = self._total(body, scope)
        return lambda: settled(total())

    def _total(self, body: Expr, scope: Scope) -> Callable[[], Number]:
        """The sum of all multiplicities of a term."""
        total: Number = 0

        def collect(m: Number) -> None:
            nonlocal total
            total = plus(total, m)

        run = self.emit(body, scope, collect, last=True)

        def read() -> Number:
            nonlocal total
            total = 0
            run(1)
            return total

        return read

    def _once(self, read: Callable[[], Number]) -> Callable[[], Number]:
        """A number that is the same all through a run."""
        found: Number = 0
        last = 0

        def known() -> Number:
            nonlocal found, last
            if last != self.runs:
                found, last = read(), self.runs
            return found

        return known

    def _collected(
        self, e: Sum | Exists | Top, body: Expr, inside: Scope, scope: Scope, k: Next
    ) -> Next:
        """Rows of the body first, then what the node makes of them, one after the other."""
        names = tuple(sorted(outs(e)))
        if not isinstance(e, Top) and scope.bound.issuperset(names):
            return self._single(e, body, inside, k)
        slots, pick = self.slots, picker([inside.at[v] for v in names])
        rows: Rows = {}

        def collect(m: Number) -> None:
            row = pick(slots)
            rows[row] = plus(rows[row], m) if row in rows else m

        run = self.emit(body, inside, collect, last=True)
        answer = _answer(e, names)
        tests = [(i, scope.at[v]) for i, v in enumerate(names) if v in scope.bound]
        binds = [(i, scope.at[v]) for i, v in enumerate(names) if v not in scope.bound]

        alone = _is_alone(e, scope)
        found: list[tuple[Row, Number]] = []
        last = 0

        def release(m: Number) -> None:
            nonlocal found, last
            if not alone or last != self.runs:
                rows.clear()
                run(1)
                found = list(answer({row: n for row, n in rows.items() if n}))
                last = self.runs
            for row, n in found:
                if all(slots[j] == row[i] for i, j in tests):
                    for i, j in binds:
                        slots[j] = row[i]
                    k(times(m, n))

        return release

    def _single(self, e: Sum | Exists, body: Expr, inside: Scope, k: Next) -> Next:
        """All the variables are bound: there is one row at most."""
        read = self._total(body, inside)
        if not ins(e) and not outs(e):
            read = self._once(read)
        counts = isinstance(e, Sum)

        def run(m: Number) -> None:
            n = read()
            if n:
                k(times(m, n) if counts else m)

        return run


def _is_alone(e: Expr, scope: Scope) -> bool:
    """Whether a term shares no variable with what is bound: it is the same all through a run."""
    return not ins(e) and scope.bound.isdisjoint(outs(e))


def _run_of_tests(factors: tuple[Expr, ...], end: int) -> int:
    """Where the comparisons that stand right before a factor begin."""
    start = end
    while start and isinstance(factors[start - 1], Cmp):
        start -= 1
    return start


@lru_cache(maxsize=1 << 12)
def nesting(e: Expr) -> int:
    """How many closures of a term run inside one another, at most."""
    inner = [nesting(c) for c in children(e)]
    if isinstance(e, Mul):
        tests = [n for n, f in zip(inner, e.factors, strict=True) if isinstance(f, Cmp)]
        return 1 + sum(inner) - sum(tests) + max(tests, default=0)
    return 1 + max(inner, default=0)


def _with_room(run: Callable[[Sequence[Value]], Rows], depth: int) -> Callable[..., Rows]:
    """The same function, in a stack of its caller that is deep enough."""

    def deeper(args: Sequence[Value]) -> Rows:
        with room_for(FRAMES_A_LEVEL * depth):
            return run(args)

    return deeper


def _in_turn(branches: list[Next]) -> Next:
    def run(m: Number) -> None:
        for branch in branches:
            branch(m)

    return run


def _answer(
    e: Sum | Exists | Top, names: tuple[str, ...]
) -> Callable[[Rows], Iterable[tuple[Row, Number]]]:
    """What a node makes of the rows of its body."""
    match e:
        case Sum():
            return dict.items
        case Exists():
            return lambda rows: [(row, 1) for row in rows]
        case Top():
            top = e  # for mypy: a closure forgets what `match` found out
            return lambda rows: first_rows(rows, names, top)
        case _:
            assert_never(e)
