"""A query in two halves: rows that a batch may compute, and values that may have no answer.

A batch must not be refused since a view has no value at its version: nobody asked for it yet. So
what may fail, such as SUM(x) * SUM(x) or a CAST, is left to whoever reads the changes:

    Exists(N[k]) * (x := M[k]) * (s := x * x)    =>    stored: Exists(N[k]) * (x := M[k])
                                                       shown: (s := x * x)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freshview.calculus.build import ONE, factors, mul, sum_
from freshview.calculus.schema import Query
from freshview.calculus.scope import free, ins, is_value, may_refuse, outs, stored
from freshview.calculus.terms import Add, Apply, Cmp, Const, Delta, Expr, Lift, Mul, Sum, Top, View
from freshview.calculus.walk import Names, children, distinct_subterms, freshen, variables
from freshview.program.query_keys import NotCollected

MOST_HALVES = 8
"""The most unions of rows that a query is cut into."""


@dataclass(frozen=True)
class Split:
    """A part of a query: stored rows over these columns, and the factors that show them."""

    rows: Expr
    columns: tuple[str, ...]
    shown: Expr


def split(query: Query) -> tuple[Split, ...]:
    """The parts of a query, whose sum it is; NotCollected if a batch must compute what may fail."""
    if any(c.type.kind == "ring" for c in query.columns):
        raise NotCollected("it shows elements of a ring")
    for atom in distinct_subterms(query.term):
        if isinstance(atom, Delta) or (isinstance(atom, View) and atom.inputs):
            raise NotCollected(f"'{atom.name}' is not a map of its own")
    if not stored(query.term):
        return ()
    shown = tuple(dict.fromkeys(query.vars))
    if not may_fail(query.term):
        return (Split(sum_(shown, query.term), shown, ONE),)
    names = Names(set(variables(query.term)))
    products = list(_products(query.term, names))
    if len(products) > MOST_HALVES:
        raise NotCollected(f"it is a union of more than {MOST_HALVES} parts that may fail")
    return tuple(_split(p, shown) for p in products)


def may_fail(e: Expr) -> bool:
    """Whether a term computes values that may leave their range, or casts that may fail."""
    return may_refuse(e) or any(_computes(t) for t in distinct_subterms(e))


def _computes(e: Expr) -> bool:
    match e:
        case Lift(_, body) if is_value(body):
            return _is_arithmetic(body)
        case Cmp(_, left, right):
            return _is_arithmetic(left) or _is_arithmetic(right)
        case Apply(_, args):
            return any(map(_is_arithmetic, args))
        case _:
            return False


def _is_arithmetic(value: Expr) -> bool:
    """Whether a value is a sum or a product: functions that cannot refuse have an answer."""
    match value:
        case Add(parts) | Mul(parts):
            return not all(isinstance(p, Const | Cmp) for p in parts)
        case Apply(_, args):
            return any(map(_is_arithmetic, args))
        case _:
            return False


def _products(e: Expr, names: Names) -> Iterator[tuple[Expr, ...]]:
    """The factors of a term, of each of its addends alone where one of them may fail."""
    for i, factor in enumerate(flat := _flat(e, names)):
        if isinstance(factor, Add) and not is_value(factor) and may_fail(factor):
            for term in factor.terms:
                yield from _products(mul(*flat[:i], term, *flat[i + 1 :]), names)
            return
    yield flat


def _flat(e: Expr, names: Names) -> tuple[Expr, ...]:
    """The factors of a product, also those inside of sums that may fail.

    Whoever shows the rows adds them up: so the variables of such a sum only need other names.
    """
    flat: list[Expr] = []
    for factor in factors(e):
        if isinstance(factor, Sum) and may_fail(factor):
            own = freshen(factor.body, names, keep=free(factor))
            flat += _flat(own, names)
        else:
            flat.append(factor)
    return tuple(flat)


def _split(product: tuple[Expr, ...], shown: tuple[str, ...]) -> Split:
    """The factors that may fail, with those that need them, apart from the others."""
    later = [f for f in product if may_fail(f)]
    bound = {f.var for f in later if isinstance(f, Lift)}
    while more := [f for f in product if f not in later and free(f) & bound]:
        later += more
        bound |= {f.var for f in more if isinstance(f, Lift)}
    for f in later:
        if stored(f):
            raise NotCollected("its rows are chosen by a value that may have no answer")
    rest = [f for f in product if f not in later]
    tail = mul(*(f for f in product if f in later))
    rows = mul(*rest)
    read = [v for v in (*shown, *sorted(free(tail))) if v in outs(rows)]
    columns = tuple(dict.fromkeys(read))
    return Split(sum_(columns, rows), columns, tail)


def visible_atoms(e: Expr) -> Iterator[tuple[View, frozenset[str]]]:
    """The maps of a term, each with those of its variables that the rows of the term share.

    Of a Top only the keys are shared: a row of it may take the place of any other one.
    """
    if isinstance(e, View):
        yield e, frozenset(e.vars)
        return
    shared = free(e)
    if isinstance(e, Top):
        shared = frozenset(e.keys) | ins(e)
    for child in children(e):
        for atom, names in visible_atoms(child):
            yield atom, names & shared
