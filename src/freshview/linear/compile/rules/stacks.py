"""A * B + C * D => [A, C] * [B; D], and back."""

from __future__ import annotations

from collections.abc import Iterator

from freshview.linear.language.build import above, add, beside, mul, scale, split
from freshview.linear.language.meta import Scope, shape
from freshview.linear.language.sizes import Size
from freshview.linear.language.terms import Above, Add, Beside, Expr, Mul


def factorize(e: Expr, scope: Scope) -> Iterator[Expr]:
    """A * B + C * D => [A, C] * [B; D], all terms cut at their narrowest place."""
    if not isinstance(e, Add):
        return
    lefts: list[Expr] = []
    rights: list[Expr] = []
    for t in e.terms:
        by, factors = split(t)
        if len(factors) < 2:
            return
        widths: list[Size] = [shape(f, scope)[1] for f in factors[:-1]]
        at = min(range(len(widths)), key=lambda i: widths[i].at({})) + 1
        lefts.append(scale(by, mul(*factors[:at])))
        rights.append(mul(*factors[at:]))
    yield mul(beside(*lefts), above(*rights))


def unstack(e: Expr, scope: Scope) -> Iterator[Expr]:
    """[A, C] * [B; D] => A * B + C * D where the cuts are equal; A * [B, C] => [A * B, A * C]."""
    if not isinstance(e, Mul):
        return
    for i in range(len(e.factors) - 1):
        a, b = e.factors[i : i + 2]
        before, after = e.factors[:i], e.factors[i + 2 :]
        if isinstance(a, Beside) and isinstance(b, Above) and len(a.parts) == len(b.parts):
            pairs = list(zip(a.parts, b.parts, strict=True))
            if all(shape(x, scope)[1] == shape(y, scope)[0] for x, y in pairs):
                yield mul(*before, add(*(mul(x, y) for x, y in pairs)), *after)
        elif isinstance(b, Beside):
            yield mul(*before, beside(*(mul(a, p) for p in b.parts)), *after)
        elif isinstance(a, Above):
            yield mul(*before, above(*(mul(p, b) for p in a.parts)), *after)
