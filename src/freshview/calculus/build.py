"""Smart constructors: flatness, zeros and ones are settled here, once."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from freshview.algebra import NUMBERS
from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Add, Const, Exists, Expr, Mul, Order, Sum, Top
from freshview.calculus.types import Value, type_of
from freshview.errors import ProgramProblem


def const(value: Value) -> Const:
    """A constant of the type that its Python value shows."""
    return Const(value, type_of(value))


ZERO = const(0)
ONE = const(1)
MINUS_ONE = const(-1)
NULL = const(None)
TRUE = const(True)


def is_number(e: Expr) -> bool:
    """Whether a term is a constant number."""
    return isinstance(e, Const) and e.type.is_numeric


def number(e: Expr) -> int | Decimal | float:
    """The value of a constant number."""
    assert isinstance(e, Const)
    assert isinstance(e.value, int | Decimal | float)
    return e.value


def is_zero(e: Expr) -> bool:
    """Whether a term is the empty relation on its face."""
    return isinstance(e, Const) and e.type.is_numeric and not e.value


def is_one(e: Expr) -> bool:
    """Whether a term is the integer 1, the unit of joins."""
    return e == ONE


def add(*terms: Expr) -> Expr:
    """Q1 + Q2 + ...: flat, without zeros.

    >>> from freshview.calculus.terms import Var
    >>> add(Var("x"), ZERO, add(Var("y"), Var("z"))) == Add((Var("x"), Var("y"), Var("z")))
    True
    """
    flat: list[Expr] = []
    for term in terms:
        if isinstance(term, Add):
            flat.extend(term.terms)
        elif not is_zero(term):
            flat.append(term)
    if not flat:
        return ZERO
    return flat[0] if len(flat) == 1 else Add(tuple(flat))


def mul(*factors: Expr) -> Expr:
    """Q1 * Q2 * ...: flat, without ones; zero if a factor is; one coefficient, in front.

    >>> from freshview.calculus.terms import Var
    >>> mul(const(2), Var("x"), const(3)) == Mul((const(6), Var("x")))
    True
    """
    return _product(factors)


@lru_cache(maxsize=1 << 16)
def _product(factors: tuple[Expr, ...]) -> Expr:
    flat: list[Expr] = []
    coefficient = ONE
    pending = list(reversed(factors))
    while pending:
        factor = pending.pop()
        if isinstance(factor, Mul):
            pending.extend(reversed(factor.factors))
        elif is_number(factor):
            if is_zero(factor):
                return ZERO
            coefficient = _coefficient(coefficient, factor)
        else:
            flat.append(factor)
    if not is_one(coefficient):
        flat.insert(0, coefficient)
    if not flat:
        return ONE
    return flat[0] if len(flat) == 1 else Mul(tuple(flat))


def _coefficient(a: Expr, b: Expr) -> Const:
    """The product of two numbers: a wide decimal if one of them is.

    >>> from freshview.calculus.types import Type
    >>> neg(Const(Decimal("0.5"), Type("decimal", 1, wide=True))).type.wide
    True
    """
    out = const(NUMBERS.mul(number(a), number(b)))
    wide = out.type.kind == "decimal" and any(isinstance(x, Const) and x.type.wide for x in (a, b))
    return Const(out.value, replace(out.type, wide=True)) if wide else out


def neg(e: Expr) -> Expr:
    """-Q, which is (-1) * Q."""
    return mul(MINUS_ONE, e)


def sub(a: Expr, b: Expr) -> Expr:
    """Q1 - Q2."""
    return add(a, neg(b))


def sum_(keys: tuple[str, ...], body: Expr) -> Expr:
    """Sum_keys(Q), dropped where Q binds nothing but the keys; keys that Q does not bind go.

    >>> from freshview.calculus.terms import Var
    >>> sum_(("x",), Var("x")) == Var("x")
    True
    """
    if is_zero(body):
        return ZERO
    bound = outs(body)
    kept = tuple(dict.fromkeys(k for k in keys if k in bound))
    if len(kept) == len(bound):
        return body
    if isinstance(body, Sum):
        return sum_(kept, body.body)
    return Sum(kept, body)


def exists(body: Expr) -> Expr:
    """Exists(Q); of nothing there is nothing."""
    return ZERO if is_zero(body) else Exists(body)


def top(keys: tuple[str, ...], order: tuple[Order, ...], limit: int, body: Expr) -> Expr:
    """The first rows of Q; a key or an order that Q does not bind is the same for all its rows."""
    if is_zero(body):
        return ZERO
    bound = outs(body)
    return Top(
        tuple(dict.fromkeys(k for k in keys if k in bound)),
        tuple(dict.fromkeys(o for o in order if o.var in bound)),
        limit,
        body,
    )


def same_choice(e: Top, body: Expr, more: tuple[str, ...] = ()) -> Expr:
    """The same Top over another form of its body, and `more` keys.

    What it chooses among it binds itself, whatever the context knows of it. A body that reads it
    from outside instead would be left with the rows of one value, and any of them would be first.

    >>> from freshview.calculus.text import read
    >>> same_choice(read("Top[a; b; 1](R(a, b) * {b > 0})"), read("{b > 0} * R(a, b)"))
    Traceback (most recent call last):
      ...
    freshview.errors.ProgramProblem: a Top chooses among the values of 'b', and its body now ...
    """
    keys = e.keys + more
    for name in sorted((ins(body) - ins(e.body)) & outs(e.body) - frozenset(keys)):
        raise ProgramProblem(
            f"a Top chooses among the values of '{name}', and its body now reads one from outside",
            instead="report the query: a rewriting has put a test before what it tests",
        )
    return top(keys, e.order, e.limit, body)


def factors(e: Expr) -> tuple[Expr, ...]:
    """The factors of a product; a term that is none is its own only factor."""
    if isinstance(e, Mul):
        return e.factors
    return () if is_one(e) else (e,)


def addends(e: Expr) -> tuple[Expr, ...]:
    """The terms of a union; a term that is none is its own only one."""
    if isinstance(e, Add):
        return e.terms
    return () if is_zero(e) else (e,)
