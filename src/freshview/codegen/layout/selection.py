"""Which factors of a term are predicates, and which definitions leave out rows by them."""

from __future__ import annotations

from freshview.calculus.terms import Apply, Cmp, Exists, Expr, Lift, Top
from freshview.calculus.walk import subterms

TESTS = ("like", "not", "or", "and", "in")
"""Functions that choose rows; all the others weigh them."""


def is_test(e: Expr) -> bool:
    """Whether a factor chooses rows, and does not weigh them."""
    return isinstance(e, Cmp) or (isinstance(e, Apply) and e.fn in TESTS)


def is_selective(e: Expr) -> bool:
    """Whether a definition leaves out some of the rows of its relations."""
    return any(is_test(part) or isinstance(part, Exists | Lift | Top) for part in subterms(e))
