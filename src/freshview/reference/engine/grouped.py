"""What needs all the rows of its body first, as closures: totals, groups, Exists and Top.

A body comes as a function that compiles it for a given continuation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, assert_never

from freshview.algebra import Number
from freshview.calculus.rows import Row
from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Exists, Sum, Top
from freshview.reference.engine.scope import Frame, Next, Rows, Scope
from freshview.reference.engine.store import picker
from freshview.reference.top import first_rows
from freshview.reference.values import plus, times

Body: TypeAlias = Callable[[Next], Next]


def collector(names: Iterable[str], scope: Scope, frame: Frame) -> tuple[Rows, Next]:
    """A table of rows over some variables, and the continuation that adds up rows in it."""
    slots, pick = frame.slots, picker([scope.at[v] for v in names])
    rows: Rows = {}

    def collect(m: Number) -> None:
        row = pick(slots)
        rows[row] = plus(rows[row], m) if row in rows else m

    return rows, collect


def total(body: Body) -> Callable[[], Number]:
    """The sum of all multiplicities of a body."""
    sum_so_far: Number = 0

    def collect(m: Number) -> None:
        nonlocal sum_so_far
        sum_so_far = plus(sum_so_far, m)

    run = body(collect)

    def read() -> Number:
        nonlocal sum_so_far
        sum_so_far = 0
        run(1)
        return sum_so_far

    return read


def grouped(
    e: Sum | Exists | Top, body: Body, inside: Scope, scope: Scope, frame: Frame, k: Next
) -> Next:
    """Rows of the body first, then what the node makes of them, one after the other."""
    names = tuple(sorted(outs(e)))
    if not isinstance(e, Top) and scope.bound.issuperset(names):
        return _single(e, body, frame, k)
    slots = frame.slots
    rows, collect = collector(names, inside, frame)
    run = body(collect)
    answer = _answer(e, names)
    tests = [(i, scope.at[v]) for i, v in enumerate(names) if v in scope.bound]
    binds = [(i, scope.at[v]) for i, v in enumerate(names) if v not in scope.bound]
    alone = scope.is_alone(e)
    answers: list[tuple[Row, Number]] = []
    last = 0

    def release(m: Number) -> None:
        nonlocal answers, last
        if not alone or last != frame.runs:
            rows.clear()
            run(1)
            answers = list(answer({row: n for row, n in rows.items() if n}))
            last = frame.runs
        for row, n in answers:
            if all(slots[j] == row[i] for i, j in tests):
                for i, j in binds:
                    slots[j] = row[i]
                k(times(m, n))

    return release


def _single(e: Sum | Exists, body: Body, frame: Frame, k: Next) -> Next:
    """All the variables are bound: there is one row at most."""
    read = total(body)
    if not ins(e) and not outs(e):
        read = _once(read, frame)
    counts = isinstance(e, Sum)

    def run(m: Number) -> None:
        n = read()
        if n:
            k(times(m, n) if counts else m)

    return run


def _once(read: Callable[[], Number], frame: Frame) -> Callable[[], Number]:
    """A number that is the same all through a run."""
    number: Number = 0
    last = 0

    def known() -> Number:
        nonlocal number, last
        if last != frame.runs:
            number, last = read(), frame.runs
        return number

    return known


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
