"""Rewrite rules that keep the meaning of a term: one rule a file, applied to a fixpoint."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from freshview.calculus.scope import reads_delta, within
from freshview.calculus.terms import Expr, Top
from freshview.calculus.walk import map_children, variables
from freshview.simplify.absorb import absorb
from freshview.simplify.arrange import arrange
from freshview.simplify.cancel import cancel
from freshview.simplify.drop_implied import drop_implied
from freshview.simplify.expand import expand
from freshview.simplify.factorize import factorize
from freshview.simplify.fold import fold
from freshview.simplify.loops import loops, walks
from freshview.simplify.push_sums import push_sums
from freshview.simplify.unify import unify
from freshview.simplify.unnest import unnest

Rule = Callable[[Expr], Expr | None]
Listener = Callable[[Rule, Expr], None]

RULES: tuple[Rule, ...] = (fold, absorb, drop_implied, unnest, expand, unify, cancel)
"""What makes a term a short sum of flat products."""

FINISH: tuple[Rule, ...] = (fold, absorb, cancel, factorize, push_sums)
"""What makes the right side of a statement cheap to run."""

APART: tuple[Rule, ...] = tuple(rule for rule in FINISH if rule is not factorize)
"""The same for products that had better run one by one."""

NONE: frozenset[str] = frozenset()

_MOST_ROUNDS = 200


def simplify(
    e: Expr,
    rules: tuple[Rule, ...] = RULES,
    known: frozenset[str] = NONE,
    listener: Listener | None = None,
) -> Expr:
    """Apply the rules everywhere until none answers; `known` variables are bound outside.

    The listener hears of each rule that changes the term, and of the term after it.

    >>> from freshview.calculus.text import read, show
    >>> show(simplify(read("Sum[a](R(a, b) * (x := b + 0) * S(c) * {x = c} * 1)")))
    'Sum[a](R(a, c) * S(c))'
    """
    if listener is None:
        return fixpoint(e, rules, known)
    return _fixpoint(e, rules, known, listener)


@lru_cache(maxsize=1 << 13)  # plans that are compared differ in little, and ask for the rest again
def fixpoint(e: Expr, rules: tuple[Rule, ...], known: frozenset[str]) -> Expr:
    """The term that no rule changes any more; asked for again, it is remembered."""
    return _fixpoint(e, rules, known, lambda rule, term: None)


def _fixpoint(e: Expr, rules: tuple[Rule, ...], known: frozenset[str], listener: Listener) -> Expr:
    for _ in range(_MOST_ROUNDS):
        before = e
        for rule in rules:
            new = everywhere(e, rule, known & variables(e) if rule is unify else NONE)
            if new != e:
                listener(rule, new)
                e = new
        if e == before:
            break
    return e


@lru_cache(maxsize=1 << 17)
def everywhere(e: Expr, rule: Rule, known: frozenset[str] = NONE) -> Expr:
    """A rule at every node, children first; `known` are the variables of the term bound outside.

    Terms that are simplified one after the other (deltas of one query, plans that are compared)
    share most of their parts, and every part is worked on once.
    """
    inside = known and (within(e.keys, e.body, known) if isinstance(e, Top) else known)
    e = map_children(e, lambda c: everywhere(c, rule, inside and inside & variables(c)))
    answer = unify(e, known) if rule is unify else rule(e)
    return e if answer is None else answer


@lru_cache(maxsize=1 << 13)
def finish(e: Expr, bound: frozenset[str] = frozenset()) -> Expr:
    """Factorize, push sums in, and arrange for evaluation in a context that binds `bound`.

    A common factor runs before or after all that it is common to. Where its place is between the
    other factors of a product, since it connects them, the products stay apart; and where they
    could follow a batch, while all the data would be walked through for what they share.
    """
    shared = arrange(simplify(e, FINISH), bound)
    if loops(shared, bound) < 2:
        return shared
    apart = arrange(simplify(e, APART), bound)
    return apart if _degree(apart, bound) < _degree(shared, bound) else shared


def _degree(e: Expr, bound: frozenset[str]) -> tuple[int, bool]:
    return loops(e, bound), reads_delta(e) and walks(e, bound)


__all__ = [
    "APART",
    "FINISH",
    "RULES",
    "Listener",
    "Rule",
    "absorb",
    "arrange",
    "cancel",
    "drop_implied",
    "everywhere",
    "expand",
    "factorize",
    "finish",
    "fixpoint",
    "fold",
    "loops",
    "push_sums",
    "simplify",
    "unify",
    "unnest",
]
