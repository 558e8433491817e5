"""Rules of matrix algebra: simplifications, always applied, and equivalences, searched by cost.

Associativity and commutativity of sums and products need no rules: both are flat, and the order
of a product is found by dynamic programming. Transposes are at the leaves by construction.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from freshview.linear.compile.rules.distribute import distribute
from freshview.linear.compile.rules.extract import extract
from freshview.linear.compile.rules.lets import inline, share
from freshview.linear.compile.rules.stacks import factorize, unstack
from freshview.linear.compile.rules.symmetric import symmetric
from freshview.linear.compile.rules.trivial import drop_let, identities, one_part, unroll, zeros
from freshview.linear.compile.rules.woodbury import woodbury
from freshview.linear.language.meta import Scope
from freshview.linear.language.terms import Expr

Simplification: TypeAlias = Callable[[Expr, Scope], Expr | None]
Equivalence: TypeAlias = Callable[[Expr, Scope], Iterator[Expr]]

SIMPLIFICATIONS: tuple[Simplification, ...] = (
    symmetric,
    unroll,
    drop_let,
    zeros,
    identities,
    one_part,
)
EQUIVALENCES: tuple[Equivalence, ...] = (
    distribute,
    extract,
    inline,
    share,
    factorize,
    unstack,
    woodbury,
)

__all__ = ["EQUIVALENCES", "SIMPLIFICATIONS", "Equivalence", "Simplification"]
