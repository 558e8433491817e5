"""Short names for temporary maps in the order in which they are written: send, got, send_1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from freshview.calculus.terms import Expr, View
from freshview.calculus.walk import Names, bottom_up
from freshview.distributed.terms import Compute, MapPlacement, Step, Transfer


def rename_temporaries(
    steps: Iterable[Step], temporaries: Iterable[MapPlacement], names: Names
) -> tuple[list[Step], list[MapPlacement]]:
    """The same steps and maps; names that passes have released are used again."""
    listed = list(steps)
    by_name = {m.name: m for m in temporaries}
    new: dict[str, str] = {}
    for s in listed:
        if s.target in by_name and s.target not in new:
            new[s.target] = names.fresh("got" if isinstance(s, Transfer) else "send")
    return (
        [_renamed(s, new) for s in listed],
        [replace(by_name[old], name=name) for old, name in new.items()],
    )


def _renamed(step: Step, names: Mapping[str, str]) -> Step:
    def of(name: str) -> str:
        return names.get(name, name)

    def swap(t: Expr) -> Expr | None:
        return replace(t, name=of(t.name)) if isinstance(t, View) and t.name in names else None

    if isinstance(step, Transfer):
        return replace(step, source=of(step.source), target=of(step.target))
    s = step.statement
    target = replace(s.target, name=of(s.target.name))
    return Compute(replace(s, target=target, term=bottom_up(s.term, swap)), step.at)
