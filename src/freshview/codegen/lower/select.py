"""Selection: the tests that all the statements of a trigger share are run first, on every row.

A row that fails one of them changes nothing. The others are numbered in a loop without branches,
and all that follows, fetching memory ahead included, is done for them alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from freshview.calculus.build import ZERO, factors, is_zero
from freshview.calculus.scope import ins, may_refuse
from freshview.calculus.terms import Add, Exists, Expr, Lift, Mul, Sum, Top
from freshview.calculus.walk import bottom_up, children, map_children
from freshview.codegen.layout.selection import is_test
from freshview.simplify.cancel import cancel


def shared_tests(terms: Sequence[Expr], row: Set[str]) -> list[Expr]:
    """The tests on variables of the row without which none of the terms has a row.

    >>> from freshview.calculus.text import read, show
    >>> one, other = read("{a > 3} * {a < b} * R(b)"), read("Sum[](S(x) * {a > 3} * x)")
    >>> [show(t) for t in shared_tests([one, other], frozenset("a"))]
    ['{a > 3}']
    >>> [show(t) for t in shared_tests([read("Exists(R() + {a > 3}) - Exists(R())")], {"a"})]
    ['{a > 3}']
    """
    tests = dict.fromkeys(_tests(terms[0])) if terms else {}
    return [t for t in tests if all(_needs(e, t, row) for e in terms)]


_ENTERED = (Add, Mul, Sum, Exists, Lift, Top)
"""The nodes through which the failure of a test shows; inside a function it does not."""


def _tests(e: Expr) -> Iterator[Expr]:
    if is_test(e):
        if not may_refuse(e):
            yield e
    elif isinstance(e, _ENTERED):
        for part in children(e):
            yield from _tests(part)


def _needs(e: Expr, test: Expr, row: Set[str]) -> bool:
    """Whether a term is nothing where a test fails."""
    body = e.body if isinstance(e, Sum) else e
    inside = row & ins(e) if isinstance(e, Sum) else row
    if ins(test) <= inside and test in factors(body):
        return True
    return is_zero(bottom_up(_where_it_fails(e, test, row), cancel))


def _where_it_fails(e: Expr, test: Expr, row: Set[str]) -> Expr:
    if e == test and ins(e) <= row:
        return ZERO
    if isinstance(e, Sum | Top):
        row = row & ins(e)  # other names inside are its own
    if isinstance(e, _ENTERED):
        return map_children(e, lambda part: _where_it_fails(part, test, row))
    return e
