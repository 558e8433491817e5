"""Subexpressions of our SQL tree: what is inside an expression, and rewriting it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from freshview.calculus.types import INT
from freshview.sql.terms import (
    Aggregate,
    And,
    Arith,
    Call,
    Case,
    Cast,
    Compare,
    InList,
    IsNull,
    IsTruth,
    Lifted,
    Literal,
    Not,
    Or,
    Over,
    Quantified,
    Same,
    Scalar,
)


def parts(e: Scalar) -> tuple[Scalar, ...]:
    """The direct subexpressions in the same SELECT; subqueries are not entered."""
    match e:
        case Arith(_, left, right) | Compare(_, left, right) | Same(left, right):
            return (left, right)
        case Call(_, args) | Lifted(_, _, args) | Aggregate(_, args) | And(args) | Or(args):
            return args
        case Over(_, args, partition, order):
            return (*args, *partition, *(k.expr for k in order))
        case Case(branches, otherwise):
            flat = tuple(x for branch in branches for x in branch)
            return flat if otherwise is None else (*flat, otherwise)
        case Cast(arg) | Not(arg) | IsNull(arg) | IsTruth(arg):
            return (arg,)
        case InList(arg, items):
            return (arg, *items)
        case Quantified(left=left):
            return left
        case _:
            return ()


def with_parts(e: Scalar, new: tuple[Scalar, ...]) -> Scalar:
    """The same expression over other subexpressions."""
    match e:
        case Arith() | Compare() | Same():
            return replace(e, left=new[0], right=new[1])
        case Call() | Lifted() | Aggregate():
            return replace(e, args=new)
        case And() | Or():
            return replace(e, parts=new)
        case Over(_, args, partition, order):
            n, m = len(args), len(args) + len(partition)
            keys = (replace(k, expr=x) for k, x in zip(order, new[m:], strict=True))
            return replace(e, args=new[:n], partition=new[n:m], order=tuple(keys))
        case Case(branches, otherwise):
            n = 2 * len(branches)
            pairs = tuple(zip(new[0:n:2], new[1:n:2], strict=True))
            return replace(e, branches=pairs, otherwise=None if otherwise is None else new[n])
        case Cast() | Not() | IsNull() | IsTruth():
            return replace(e, arg=new[0])
        case InList():
            return replace(e, arg=new[0], items=new[1:])
        case Quantified():
            return replace(e, left=new)
        case _:
            return e


def rewrite(e: Scalar, rule: Callable[[Scalar], Scalar | None]) -> Scalar:
    """Apply a rule from the top down; where it answers, its answer is final."""
    answer = rule(e)
    if answer is not None:
        return answer
    return with_parts(e, tuple(rewrite(p, rule) for p in parts(e)))


def inside(e: Scalar) -> Iterator[Scalar]:
    """The expression and all expressions in it, subqueries not entered."""
    pending = [e]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(reversed(tuple(parts(here))))


def conjuncts(e: Scalar | None) -> tuple[Scalar, ...]:
    """The conditions that AND joins.

    >>> from freshview.sql.terms import Name
    >>> conjuncts(None), len(conjuncts(And((Name("a"), Name("b")))))
    ((), 2)
    """
    if e is None:
        return ()
    if isinstance(e, And):
        return tuple(c for p in e.parts for c in conjuncts(p))
    return (e,)


def only_where(e: Aggregate, when: Scalar) -> Aggregate:
    """The aggregate of the rows that meet a condition: of the others, it sees a NULL."""
    args = e.args or (Literal(1, INT, e.at),)
    decides = int(e.fn in ("min_by", "max_by"))
    seen = Case(((when, args[decides]),), None, e.at)
    return replace(e, args=(*args[:decides], seen, *args[decides + 1 :]))
