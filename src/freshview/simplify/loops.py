"""How many loops of an arranged term run inside one another: the degree of its cost."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from freshview.calculus.scope import outs
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

Names = frozenset[str]


def loops(e: Expr, bound: Names = frozenset()) -> int:
    """The deepest nesting of loops when a term runs in a context that binds `bound`.

    An atom loops if it leaves open how it goes on: it binds a variable that other atoms are
    joined on, or nothing of it is bound. The rest is looked up, by what is a key most often. A
    nested query counts for nothing: it is the same wherever its product puts it.

    >>> from freshview.calculus.text import read
    >>> loops(read("R(a, x) * S(a, b) * T(b, y)"))
    2
    >>> loops(read("R(a, x) * T(b, y) * S(a, b)"))
    2
    >>> loops(read("R(a, x) * (y := Sum[](S(a, b) * T(b, c)))"))
    1
    """
    links = frozenset(v for v, n in _atoms_by_variable(e).items() if n > 1)
    return _nested(e, bound, links)[0]


def walks(e: Expr, bound: Names = frozenset()) -> bool:
    """Whether the outermost loop of some product goes through data, and not through a batch.

    >>> from freshview.calculus.text import read
    >>> walks(read("S(b) * (DELTA R)(a) * {a < b}")), walks(read("(DELTA R)(a) * S(b) * {a < b}"))
    (True, False)
    """
    match e:
        case Rel() | View():
            return not outs(e) & bound
        case Mul(factors):
            for f in factors:
                if _nested(f, bound, frozenset())[0]:
                    return walks(f, bound)
                bound = bound | outs(f)
            return False
        case Add(terms):
            return any(walks(t, bound) for t in terms)
        case Sum(_, body) | Exists(body) | Top(_, _, _, body):
            return walks(body, bound)
        case _:
            return False


def _atoms_by_variable(e: Expr) -> Counter[str]:
    """How many atoms that run together bind a variable."""
    match e:
        case Const() | Var() | Apply() | Cmp() | Lift():
            return Counter()
        case Rel() | Delta() | View():
            return Counter(outs(e))
        case Mul(factors):
            return sum((_atoms_by_variable(f) for f in factors), Counter())
        case Add(terms):
            most: Counter[str] = Counter()
            for t in terms:
                most |= _atoms_by_variable(t)
            return most
        case Sum(_, body) | Exists(body) | Top(_, _, _, body):
            return _atoms_by_variable(body)
        case _:
            assert_never(e)


def _nested(e: Expr, bound: Names, links: Names) -> tuple[int, int]:
    """Loops inside one another, and those of them that what follows runs in."""
    match e:
        case Const() | Var() | Apply() | Cmp() | Lift():
            return 0, 0
        case Rel() | Delta() | View():
            loop = int(not outs(e) & bound or not outs(e) & links <= bound)
            return loop, loop
        case Mul(factors):
            return _product(factors, bound, links)
        case Add(terms):
            branches = [_nested(t, bound, links) for t in terms]
            return max(deep for deep, _ in branches), max(open_ for _, open_ in branches)
        case Sum(_, body) | Exists(body) | Top(_, _, _, body):
            deep, open_ = _nested(body, bound, links)
            return deep, 0 if outs(e) <= bound else open_
        case _:
            assert_never(e)


def _product(factors: tuple[Expr, ...], bound: Names, links: Names) -> tuple[int, int]:
    deepest, open_ = 0, 0
    for f in factors:
        deep, more = _nested(f, bound, links)
        deepest = max(deepest, open_ + deep)
        open_ += more
        bound = bound | outs(f)
    return deepest, open_
