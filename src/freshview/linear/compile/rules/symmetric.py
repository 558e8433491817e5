"""A' => A where A is known to be symmetric."""

from __future__ import annotations

from freshview.linear.language.meta import Scope, infer
from freshview.linear.language.terms import Expr, Transpose


def symmetric(e: Expr, scope: Scope) -> Expr | None:
    """A' => A where A is known to be symmetric."""
    if isinstance(e, Transpose) and infer(e.body, scope).symmetric:
        return e.body
    return None
