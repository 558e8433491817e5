"""Iterative models (LINVIEW, table 6.1): powers, sums of powers, and T = A T + B.

Each comes in three forms. Linear: one step at a time. Exponential: doubling, for k a power of two.
Skip-s: doubling up to s, then s steps at a time. `auto` takes the cheapest by `iteration_plan.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from freshview.errors import FreshviewError
from freshview.linear.language.expression import Bindings, Matrix, identity
from freshview.linear.library.iteration_plan import Form, Model, cheapest

Sizes = Mapping[str, float]


def powers(a: Matrix, k: int, form: Form = "auto", sizes: Sizes | None = None) -> Matrix:
    """A^k."""
    s = _step(form, "powers", a, None, k, sizes)
    names = Bindings()
    p = {1: names.bind("A", a)}
    for i in _doublings(s):
        p[i] = names.bind(f"P{i}", p[i // 2] @ p[i // 2])
    for i in range(2 * s, k + 1, s):
        p[i] = names.bind(f"P{i}", p[s] @ p[i - s])
    return names.close(p[k])


def sums_of_powers(a: Matrix, k: int, form: Form = "auto", sizes: Sizes | None = None) -> Matrix:
    """I + A + ... + A^(k-1)."""
    s = _step(form, "sums", a, None, k, sizes)
    names = Bindings()
    p, total = {1: names.bind("A", a)}, {1: identity(a.rows)}
    for i in _doublings(s):
        total[i] = names.bind(f"S{i}", p[i // 2] @ total[i // 2] + total[i // 2])
        p[i] = names.bind(f"P{i}", p[i // 2] @ p[i // 2])
    for i in range(2 * s, k + 1, s):
        total[i] = names.bind(f"S{i}", p[s] @ total[i - s] + total[s])
    return names.close(total[k])


def iteration(
    a: Matrix,
    b: Matrix,
    start: Matrix,
    k: int,
    form: Form = "auto",
    sizes: Sizes | None = None,
) -> Matrix:
    """T after k rounds of T = A T + B."""
    s = _step(form, "general", a, b, k, sizes)
    names = Bindings()
    a, b = names.bind("A", a), names.bind("B", b)
    p, total, t = {1: a}, {1: identity(a.rows)}, {1: names.bind("T1", a @ start + b)}
    for i in _doublings(s):
        half = i // 2
        t[i] = names.bind(f"T{i}", p[half] @ t[half] + total[half] @ b)
        total[i] = names.bind(f"S{i}", p[half] @ total[half] + total[half])
        p[i] = names.bind(f"P{i}", p[half] @ p[half])
    step = names.bind("C", total[s] @ b) if s < k else b
    for i in range(2 * s, k + 1, s):
        t[i] = names.bind(f"T{i}", p[s] @ t[i - s] + step)
    return names.close(t[k])


def _step(
    form: Form, model: Model, a: Matrix, b: Matrix | None, k: int, sizes: Sizes | None
) -> int:
    """How many steps are taken at a time: 1 is linear, k exponential."""
    if k < 1:
        raise FreshviewError(f"an iteration cannot have {k} rounds", instead="give 1 or more")
    if form == "auto":
        n = a.rows.at(sizes or {})
        p = 0.0 if b is None else b.cols.at(sizes or {})
        form = cheapest(model, n, p, k).form
    if form == "linear":
        return 1
    s = k if form == "exponential" else form
    if not isinstance(s, int) or s < 1 or s & (s - 1) or k % s:
        raise FreshviewError(
            f"{k} rounds have no form {form!r}",
            instead="use linear, or exponential for a power of two, or a power of two that "
            "divides the number of rounds",
        )
    return s


def _doublings(s: int) -> list[int]:
    steps = []
    i = 2
    while i <= s:
        steps.append(i)
        i *= 2
    return steps
