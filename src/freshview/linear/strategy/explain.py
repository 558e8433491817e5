"""What a maintained program tells of itself: which strategy follows an input, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freshview.linear.compile.trigger import Trigger
from freshview.linear.strategy.choose import Choice
from freshview.linear.strategy.fill import Fill

SPARSE = 0.5
"""Below which density a matrix is worth a word."""


def explain_choice(
    chosen: Choice, t: Trigger, views: Mapping[str, int], rounds: Mapping[str, int]
) -> str:
    """The strategy, its cost, and what is kept: views with their bytes."""
    ranks = ", ".join(f"{v} {r}" for v, r in t.ranks().items())
    return (
        f"{t.input}: {chosen.strategy}, since {chosen.why}\n"
        f"cost: {t.cost()}\n"
        f"travels, if spread over machines: {t.traffic()} cells\n"
        f"ranks: {ranks or 'none'}\n"
        f"views: {', '.join(sorted(views))} ({sum(views.values()):,} bytes)\n"
    ) + "".join(
        f"{view} is iterated, from its last value on; last in {count} rounds\n"
        for view, count in rounds.items()
    )


def explain_fill(fill: Fill | None, t: Trigger) -> str:
    """Which matrices are taken to be mostly empty, if any."""
    if fill is None:
        return ""
    every = {**fill.known, t.left: fill.left, t.right: fill.right}
    densities = [f"{n} {d:.2g}" for n, d in every.items() if d < SPARSE]
    return (
        f"taken to be mostly empty (share of cells): {', '.join(densities)}\n" if densities else ""
    )


def explain_memory_order(columns: Iterable[str]) -> str:
    """Which matrices lie by columns, if any."""
    names = ", ".join(sorted(columns))
    return f"by columns, as products read them: {names}\n" if names else ""
