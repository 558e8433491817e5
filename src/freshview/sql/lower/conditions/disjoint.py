"""Whether two computations on values can be seen never to be 1 in the same row."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from freshview.calculus.build import factors
from freshview.calculus.terms import Add, Cmp, Const, Expr, Mul, Var

Linear = tuple[frozenset[tuple[str, Fraction]], Fraction]


def disjoint(a: Expr, b: Expr) -> bool:
    """Two products of comparisons, one of each of which contradict each other.

    >>> from freshview.calculus.text import read
    >>> disjoint(read("{x = 1} * {y = 2}"), read("{x = 3}"))
    True
    >>> disjoint(read("{x = 1}"), read("{y = 2}"))
    False
    >>> disjoint(read("{x - y > 5}"), read("{y - x > 5}"))
    True
    """
    left = [f for f in factors(a) if isinstance(f, Cmp)]
    right = [f for f in factors(b) if isinstance(f, Cmp)]
    return any(_contradict(f, g) for f in left for g in right)


def _contradict(a: Cmp, b: Cmp) -> bool:
    if a.op == "=" and b.op == "=" and a.left == b.left:
        if isinstance(a.right, Const) and isinstance(b.right, Const):
            return a.right.value != b.right.value
    lower, upper = _positive(a), _positive(b)
    if lower is None or upper is None:
        return False
    (form, one, strict), (other, two, also) = lower, upper
    if form != frozenset((v, -c) for v, c in other):
        return False
    # form + one > 0 and -form + two > 0 ask for one + two > 0.
    total = one + two
    return total < 0 or (total == 0 and (strict or also))


def _positive(e: Cmp) -> tuple[frozenset[tuple[str, Fraction]], Fraction, bool] | None:
    """An order comparison as `form + constant > 0` (or >= 0)."""
    if e.op in ("=", "<>"):
        return None
    greater, less = (e.left, e.right) if e.op in (">", ">=") else (e.right, e.left)
    high, low = _linear(greater), _linear(less)
    if high is None or low is None:
        return None
    total = dict(high[0])
    for var, c in low[0]:
        total[var] = total.get(var, Fraction(0)) - c
    form = frozenset((v, c) for v, c in total.items() if c)
    return (form, high[1] - low[1], e.op in (">", "<")) if form else None


def _linear(e: Expr) -> Linear | None:
    match e:
        case Const(int() | float() | Decimal() as number, _):
            return frozenset(), Fraction(number)
        case Var(name):
            return frozenset(((name, Fraction(1)),)), Fraction(0)
        case Mul((Const() as c, Var(name))) if isinstance(c.value, int | float | Decimal):
            return frozenset(((name, Fraction(c.value)),)), Fraction(0)
        case Add(terms):
            total: dict[str, Fraction] = {}
            constant = Fraction(0)
            for term in terms:
                inner = _linear(term)
                if inner is None:
                    return None
                constant += inner[1]
                for var, weight in inner[0]:
                    total[var] = total.get(var, Fraction(0)) + weight
            return frozenset((v, w) for v, w in total.items() if w), constant
        case _:
            return None
