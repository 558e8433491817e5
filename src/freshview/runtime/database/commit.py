"""All or nothing: a change goes into every relation and view, or comes out of those it was in."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING

from freshview.calculus.rows import left_range
from freshview.calculus.scope import may_refuse
from freshview.errors import BadValue, Overflow, Place, StateLost
from freshview.runtime.ingest.change import Change
from freshview.runtime.relations.stored_base import AnyBase, StoredBase, is_lost
from freshview.runtime.views.group import ViewGroup
from freshview.runtime.views.maintained import MaintainedView

if TYPE_CHECKING:
    import pyarrow as pa


def commit(
    changes: Sequence[Change],
    bases: MutableMapping[str, AnyBase],
    readers: Mapping[str, Sequence[ViewGroup]],
) -> dict[MaintainedView, pa.Table | None]:
    """Apply changes of streams; gives the views that followed, with what changed of tracked ones.

    Views that one program keeps follow a change once. A number that leaves its range in a kernel
    may be a partial sum: the reference engine, which is exact, takes its views over, and accepts
    or refuses the change.
    """
    entered: list[Change] = []
    followed: list[tuple[ViewGroup, Change]] = []
    fell_back: list[ViewGroup] = []
    changes_by_view: dict[MaintainedView, pa.Table | None] = {}
    names = [change.relation.name for change in changes]
    groups = dict.fromkeys(group for name in names for group in readers[name])
    for group in groups:
        group.ensure_started()  # before the bases change: it is filled from them
        for view in group.readers(names):
            if view.history is not None:
                view.history.collector.begin()
    try:
        for change in changes:
            _enter(change, bases)
            entered.append(change)
        for change in changes:
            for group in readers[change.relation.name]:
                if group in fell_back:
                    continue
                if _follow(group, change, alone=len(changes) == 1):
                    followed.append((group, change))
                else:
                    _fall_back(group, followed, changes_by_view)
                    fell_back.append(group)
        for group in groups:
            group.engine.check()
        for group in groups:
            for view in group.readers(names):
                changes_by_view[view] = _changes(group, view, followed, fell_back, changes_by_view)
    except BaseException as e:
        if isinstance(e, BadValue):
            e.at = row_of(e, change)
        for view in changes_by_view:
            if view.history is not None:
                view.history.collector.take_back()
        for group in fell_back:
            group.undo_fall_back()
        for group, change in reversed(followed):
            _back(group, change)
        for change in reversed(entered):
            bases[change.relation.name].leave(change)
        raise
    for group in fell_back:
        group.drop_kernel()
    return changes_by_view


def _changes(
    group: ViewGroup,
    view: MaintainedView,
    followed: list[tuple[ViewGroup, Change]],
    fell_back: list[ViewGroup],
    changes_by_view: Mapping[MaintainedView, pa.Table | None],
) -> pa.Table | None:
    """What has changed of a tracked view.

    A kernel may not be able to show it, as partial sums of a row leave their range: the reference
    engine, which is exact, takes the views of the kernel over then.
    """
    if view.history is None:
        return None
    collector = view.history.collector
    try:
        return collector.end()
    except Overflow:
        if group.built is None or not collector.is_collected or not group.can_recompute:
            raise
        _fall_back(group, followed, changes_by_view)
        fell_back.append(group)
        group.engine.check()
        return collector.end()


def _fall_back(
    group: ViewGroup,
    followed: list[tuple[ViewGroup, Change]],
    changes_by_view: Mapping[MaintainedView, pa.Table | None],
) -> None:
    """Let the reference engine take the views of a group over from a kernel.

    Where the kernel collects changes, nobody holds what the views have shown: the kernel goes back
    to that first, and is read. What a view has told of this change already stays so.
    """
    collectors = [
        v.history.collector for v in group.views if v.history and v not in changes_by_view
    ]
    collecting = [c for c in collectors if c.is_collected]
    if collecting:
        for change in [c for g, c in reversed(followed) if g is group]:
            group.take_back(change)
        followed[:] = [(g, c) for g, c in followed if g is not group]
        if not group.is_started:
            raise left_range(group.views[0].query.name)
        for collector in collecting:
            collector.hold()
    group.fall_back()


def _enter(change: Change, bases: MutableMapping[str, AnyBase]) -> None:
    """Take a change into a base; a dictionary replaces a kernel that has no room for it."""
    name = change.relation.name
    base = bases[name]
    try:
        base.enter(change)
    except Overflow:
        if not isinstance(base, StoredBase):
            raise
        rows = base.as_rows()
        rows.enter(change)
        bases[name] = rows


def _follow(group: ViewGroup, change: Change, *, alone: bool) -> bool:
    """Let the views of a group follow a change; False where a kernel cannot, and another may.

    One that lost its state is filled anew when it is needed.
    """
    try:
        if alone:
            group.engine.follow(change)
        else:
            group.engine.apply(change)
    except StateLost:
        group.reset()
        raise
    except Overflow:
        if group.built is None or not group.can_recompute:
            raise
        return False
    return True


def row_of(problem: BadValue, change: Change) -> Place:
    """Which row brought the values that a function has no answer for, if a row shows them."""
    name = change.relation.name
    shown = number = 0
    for n, row in enumerate(change.python_rows() if type(change) is Change else (), 1):
        values = list(row.values() if isinstance(row, Mapping) else row)
        matches = sum(any(type(v) is type(x) and v == x for v in values) for x in problem.values)
        if matches > shown:
            shown, number = matches, n
    return Place(f"row {number} of '{name}'" if number else f"a change of '{name}'")


def _back(group: ViewGroup, change: Change) -> None:
    """Take a change back from a group."""
    if group.built is None and group.can_recompute:
        group.reset()  # the bases go back too, and it is filled from them when it is needed
    else:
        group.take_back(change)


def fill(change: Change, base: AnyBase, groups: Sequence[ViewGroup]) -> None:
    """Add rows to a static table, and to the views that read it."""
    for view in [v for group in groups for v in group.readers([change.relation.name])]:
        if view.history is not None:
            view.history.collector.hold()  # its next change tells what these rows do to it
    if is_lost(base):
        _fill_unkept(change, groups)
        return
    base.enter(change)
    try:
        _refill(groups)
    except BaseException as e:
        base.leave(change)
        _refill(groups)
        if isinstance(e, BadValue):
            e.at = row_of(e, change)
        raise


def _fill_unkept(change: Change, groups: Sequence[ViewGroup]) -> None:
    done: list[ViewGroup] = []
    try:
        for group in groups:
            group.engine.apply(change)
            done.append(group)
    except BaseException as e:
        for group in done:
            group.engine.apply(change, back=True)
        if isinstance(e, BadValue):
            e.at = row_of(e, change)
        raise


def _refill(groups: Sequence[ViewGroup]) -> None:
    """Build the engines of views anew: kernels that refuse no row when they are needed."""
    for group in groups:
        group.reset()
        if group.built is None or any(may_refuse(e) for v in group.views for e in v.query.terms):
            group.start()
