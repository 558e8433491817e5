"""One code for both signs: what a deletion does is what an insertion does, with signs turned.

A change of a join with itself has addends of the first degree in the row, whose sign turns, and of
the second, whose sign does not:

    ON + R(a) { Q[] += 2 * M[a] + 1; }
    ON - R(a) { Q[] += -2 * M[a] + 1; }      both: Q[] += 2 * sign' * M[a] + 1

Where the degree of every addend is known, the sign can be any number: a row that comes a million
times costs what it costs once. The change above is 2 * sign' * M[a] + sign' * sign'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from freshview.calculus.build import add, exists, mul, neg, sum_
from freshview.calculus.scope import relations
from freshview.calculus.terms import Add, Exists, Expr, Lift, Mul, Rel, Sum, Top, Var
from freshview.calculus.walk import children
from freshview.errors import BadRow
from freshview.program.terms import Map, Statement

SIGN = "sign'"
"""The variable that is 1 when a row comes and -1 when it goes; no column has such a name."""

MOST = 1_000_000
"""How often a row may come in a batch where each time is a run of its trigger."""

Signed = Callable[[Expr, Expr], Expr | None]


def both(insert: Sequence[Statement], delete: Sequence[Statement]) -> list[Statement] | None:
    """The statements of two triggers as one list over `SIGN`, if there is one."""
    return _paired(insert, delete, lambda _: signed)


def multiplied(
    insert: Sequence[Statement],
    delete: Sequence[Statement],
    relation: str,
    maps: Mapping[str, Map],
) -> list[Statement] | None:
    """The same, for rows of a relation that come or go any number of times, which is `SIGN` then.

    Of a map that is linear in the relation, all that does not turn with the sign does not depend
    on it. Of one that is a join of two, it is of the second degree.
    """

    def way(s: Statement) -> Signed | None:
        # A cache is filled once, however often a row comes. The change of a derived view is of any
        # degree in the row.
        if maps[s.target.name].inputs or maps[s.target.name].is_change:
            return None
        definition = maps[s.target.name].definition
        if s.op == ":=" or _degree(definition, relation) <= 1:
            return signed
        return squared if _degree(definition, relation) == 2 else None

    return _paired(insert, delete, way)


def too_many(relation: str) -> BadRow:
    """The error about a row that comes more often than its trigger can run."""
    return BadRow(
        f"a row of '{relation}' comes or goes more than {MOST:,} times at once, and this view "
        "takes each time by itself, as it joins the relation with itself",
        instead="connect with mode='batch', or give the row in smaller numbers",
    )


def _degree(e: Expr, relation: str) -> int:
    """How often a relation stands in a product of a term; 3 where that does not tell."""
    match e:
        case Rel(name):
            return int(name == relation)
        case Mul(factors):
            degree = sum(_degree(f, relation) for f in factors)
            # What is nested is not of any degree: a square beside it would be taken for it.
            nested = any(
                isinstance(f, Lift | Exists | Top) and relation in relations(f) for f in factors
            )
            return 3 if degree > 1 and nested else degree
        case Lift(_, body) | Exists(body) | Top(_, _, _, body):
            return 3 if _degree(body, relation) > 1 else 0
        case Add(terms):
            degrees = [_degree(t, relation) for t in terms]
            mixed = max(degrees) == 2 and any(
                d < 2 and relation in relations(t) for d, t in zip(degrees, terms, strict=True)
            )
            return 3 if mixed and _has_nested(e, relation) else max(degrees)
        case _:
            return max((_degree(c, relation) for c in children(e)), default=0)


def _has_nested(e: Expr, relation: str) -> bool:
    if isinstance(e, Lift | Exists | Top) and relation in relations(e):
        return True
    return any(_has_nested(c, relation) for c in children(e))


def _paired(
    insert: Sequence[Statement],
    delete: Sequence[Statement],
    way: Callable[[Statement], Signed | None],
) -> list[Statement] | None:
    if len(insert) != len(delete):
        return None
    statements = []
    for a, b in zip(insert, delete, strict=True):
        signed_by = way(a)
        if signed_by is None:
            return None
        term = signed_by(a.term, b.term) if a.op == "+=" else (a.term if a.term == b.term else None)
        if term is None or a.target != b.target or a.op != b.op:
            return None
        statements.append(replace(a, term=term))
    return statements


def signed(plus: Expr, minus: Expr) -> Expr | None:
    """A term that is `plus` where the sign is 1, and `minus` where it is -1.

    >>> from freshview.calculus.text import read, show
    >>> show(signed(read("a * (M[a] + 0.5 * a)"), read("a * (0.5 * a - M[a])")))
    "a * (sign' * M[a] + 0.5 * a)"
    """
    if plus == minus:
        return plus
    if minus == neg(plus):
        return mul(Var(SIGN), plus)
    term = _inside(plus, minus)
    if term is None and isinstance(plus, Mul | Sum):
        turned = _inside(plus, neg(minus))
        term = None if turned is None else mul(Var(SIGN), turned)
    return term


def squared(plus: Expr, minus: Expr) -> Expr | None:
    """The same for terms whose addends are of the first or second degree in the sign.

    >>> from freshview.calculus.text import read, show
    >>> show(squared(read("2 * M[a] + 1"), read("1 - 2 * M[a]")))
    "2 * sign' * M[a] + sign' * sign'"
    """
    if plus == minus:
        return mul(Var(SIGN), Var(SIGN), plus)
    if minus == neg(plus):
        return mul(Var(SIGN), plus)
    match plus, minus:
        case Mul(a), Mul(b) if len(a) == len(b):
            differ = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
            square = squared(a[differ[0]], b[differ[0]]) if len(differ) == 1 else None
            return None if square is None else mul(*a[: differ[0]], square, *a[differ[0] + 1 :])
        case Add(a), Add(b) if len(a) == len(b):
            return _addends(a, list(b), squared)
        case Sum(keys, body), Sum(others, turned) if keys == others:
            square = squared(body, turned)
            return None if square is None else sum_(keys, square)
        case _:
            return None


def _inside(plus: Expr, minus: Expr) -> Expr | None:
    match plus, minus:
        case Mul(a), Mul(b) if len(a) == len(b):
            parts = [signed(x, y) for x, y in zip(a, b, strict=True)]
            return None if None in parts else mul(*(p for p in parts if p is not None))
        case Add(a), Add(b) if len(a) == len(b):
            return _addends(a, list(b), signed)
        case Sum(keys, body), Sum(others, turned) if keys == others:
            inner = signed(body, turned)
            return None if inner is None else sum_(keys, inner)
        case Lift(var, body), Lift(other, turned) if var == other:
            inner = signed(body, turned)
            return None if inner is None else Lift(var, inner)
        case Exists(body), Exists(turned):
            inner = signed(body, turned)
            return None if inner is None else exists(inner)
        case Top(keys, order, limit, body), Top(others, _, _, turned) if (
            replace(plus, body=turned) == minus and keys == others
        ):
            inner = signed(body, turned)
            return None if inner is None else Top(keys, order, limit, inner)
        case _:
            return None


def _addends(plus: Sequence[Expr], minus: list[Expr], signed_by: Signed) -> Expr | None:
    """Each with its own counterpart, wherever that stands."""
    addends = []
    for x in plus:
        pairs = ((i, s) for i, y in enumerate(minus) if (s := signed_by(x, y)) is not None)
        i, term = next(pairs, (0, None))
        if term is None:
            return None
        del minus[i]
        addends.append(term)
    return add(*addends)
