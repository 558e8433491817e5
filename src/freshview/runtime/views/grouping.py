"""Which views one program keeps: those that read common relations, as far as they fit together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from freshview.errors import NotNative
from freshview.program.updates import Mode
from freshview.runtime.compile.compile_view import compile_view, python_functions
from freshview.runtime.relations.stored_base import AnyBase, is_lost
from freshview.runtime.views.group import ViewGroup
from freshview.runtime.views.maintained import MaintainedView

MOST_LINES = 6000
"""Lines of C++ of the views of a group, each as a kernel by itself. Ten views of a join have 4,200,
and one kernel of them 2,100, which a compiler takes about as long for as for two of them."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """What decides whether views fit into one kernel: their triggers, and how large it gets."""

    mode: Mode
    lines: int

    def combined(self, other: Sharing) -> Sharing | None:
        """That of both together, if they fit."""
        lines = self.lines + other.lines
        return (
            Sharing(self.mode, lines) if self.mode == other.mode and lines <= MOST_LINES else None
        )


def form_groups(views: Iterable[MaintainedView], bases: Mapping[str, AnyBase]) -> list[ViewGroup]:
    """New views, each with those before it that it shares relations with."""
    drafts: list[tuple[list[MaintainedView], Sharing | None]] = []
    new = list(views)
    for view in new:
        own = _sharing(view) if len(new) > 1 else None  # it takes a plan
        read = {r.name for r in view.relations}
        for i, (members, sharing) in enumerate(drafts):
            both = own.combined(sharing) if own and sharing else None
            if both and any(r.name in read for v in members for r in v.relations):
                drafts[i] = ([*members, view], both)
                break
        else:
            drafts.append(([view], own))
    return [ViewGroup(members, bases) for members, _ in drafts]


def partners(
    group: ViewGroup,
    others: Sequence[ViewGroup],
    bases: Mapping[str, AnyBase],
    fed: Collection[str] = (),
) -> list[ViewGroup]:
    """The groups that a group shares relations with, and can be filled together with.

    `fed` are the relations that rows have reached: where they are not kept, no engine can be filled
    anew.
    """
    free = [g for g in others if g is not group and _may_join(g, bases, fed)]
    read = {r.name for r in group.relations}
    if not _may_join(group, bases, fed) or not any(g.reads(name) for g in free for name in read):
        return []
    sharing = _sharing_of(group)
    joined: list[ViewGroup] = []
    for other in free:
        theirs = _sharing_of(other) if any(map(other.reads, read)) else None
        both = sharing.combined(theirs) if sharing and theirs else None
        if both:
            sharing = both
            read |= {r.name for r in other.relations}
            joined.append(other)
    return joined


def merged(groups: Sequence[ViewGroup], bases: Mapping[str, AnyBase]) -> ViewGroup:
    """A group of the views of all, in the order of their declaration; it has no engine yet."""
    views = sorted((v for g in groups for v in g.views), key=lambda v: v.number)
    both = ViewGroup(views, bases)
    both.wide = any(g.wide for g in groups)
    both.rows_seen = max(g.rows_seen for g in groups)
    both.arrival = next((g.arrival for g in reversed(groups) if g.built is None), "")
    return both


def split(group: ViewGroup, bases: Mapping[str, AnyBase]) -> list[ViewGroup]:
    """Every view of a group by itself, for good: together they do not hold their numbers."""
    singles = []
    for view in group.views:
        single = ViewGroup([view], bases)
        single.alone, single.wide, single.had_kernel = True, group.wide, group.had_kernel
        single.rows_seen, single.arrival = group.rows_seen, group.arrival
        singles.append(single)
    return singles


def _may_join(group: ViewGroup, bases: Mapping[str, AnyBase], fed: Collection[str]) -> bool:
    lost = any(r.name in fed and is_lost(bases[r.name]) for r in group.relations)
    falls_back = group.built is None and group.had_kernel
    return not (lost or falls_back or group.alone or group.note)


def _sharing_of(group: ViewGroup) -> Sharing | None:
    sharing = _sharing(group.views[0])
    for view in group.views[1:]:
        own = _sharing(view)
        sharing = sharing.combined(own) if sharing and own else None
    return sharing


def _sharing(view: MaintainedView) -> Sharing | None:
    """What a view brings to a group; None where it has to stay alone.

    That is so for factorized views, for elements of rings, whose sums are about a centre of their
    own, for products of factors, which come as streams of their own, and for functions of the
    user's, which others of the same name may be.
    """
    settings, query = view.settings, view.query
    if settings.engine == "reference" or not settings.share or query.factorized:
        return None
    if view.payloads or view.headers or settings.products:
        return None
    if python_functions(query, view.functions):
        return None
    try:
        plan = compile_view(query, view.relations, settings, view.functions)
    except NotNative:
        return None
    return Sharing(plan.mode, plan.lines)
