"""Re-evaluate or increment: the choice for one map and one updated relation (Nikolic 2016, 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from freshview.calculus.build import is_zero, mul
from freshview.calculus.scope import has_data, outs, relations
from freshview.calculus.terms import Add, Exists, Expr, Lift, Mul, Nested, Sum, Top
from freshview.calculus.text import show
from freshview.calculus.walk import size
from freshview.ivm.budget import is_too_large
from freshview.ivm.delta import NONE, delta, domain_of
from freshview.program.updates import Update
from freshview.simplify import simplify


@dataclass(frozen=True)
class Blocker:
    """A nested query whose change cannot be bounded: recomputing beats new-minus-old."""

    node: Nested
    relation: str
    change: Expr | None = None
    """The change of the query, where it is too large to look at."""

    def __str__(self) -> str:
        if self.change is not None:
            nodes = f"{size(self.change):,}"
            return f"the delta of a nested query has {nodes} nodes, more than planning may take"
        text = show(self.node)
        short = text if len(text) <= 100 else text[:97] + "..."
        return f"a change of {self.relation} can touch every row that {short} is compared with"


@lru_cache(maxsize=1 << 12)  # plans that are compared ask alike
def blocker(definition: Expr, update: Update, small: frozenset[str] = NONE) -> Blocker | None:
    """The first nested query that makes a delta of no use, or None: then increment.

    Incremental maintenance pays when the nested query is correlated on an equality and the
    update, or a `small` relation that it is joined with, binds at least one of those variables.

    >>> from freshview.calculus.text import read
    >>> q = read("Sum[](R(a) * (x := Sum[](S(b))) * {a < x})")
    >>> str(blocker(q, Update("S")))
    'a change of S can touch every row that (x := Sum[](S(b))) is compared with'
    >>> blocker(q, Update("R")) is None
    True
    """
    for node in outer_nested(definition):
        if not update.relations & relations(node):
            continue
        change = delta(node.body, update, small)
        if is_too_large(change, node.body):
            return Blocker(node, update.relation, change)
        if is_zero(simplify(change, known=frozenset(update.params))):
            continue
        if not outs(mul(*domain_of(node, change, update, small))) & outs(node.body):
            return Blocker(node, update.relation)
    return None


def outer_nested(e: Expr) -> Iterator[Nested]:
    """The nested queries of a term that are not inside one another."""
    match e:
        case Lift() | Exists() | Top():
            if has_data(e.body):
                yield e
        case Add(parts) | Mul(parts):
            for part in parts:
                yield from outer_nested(part)
        case Sum(_, body):
            yield from outer_nested(body)
        case _:
            return
