"""All or nothing: a change goes into every relation and view, or comes out of those it was in."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING

from freshview.calculus.rows import left_range
from freshview.calculus.scope import may_refuse
from freshview.errors import BadValue, Overflow, Place, StateLost
from freshview.runtime.ingest.change import Change
from freshview.runtime.relations.stored_base import AnyBase, StatelessBase, StoredBase
from freshview.runtime.views.maintained import MaintainedView

if TYPE_CHECKING:
    import pyarrow as pa


def commit(
    changes: Sequence[Change],
    bases: MutableMapping[str, AnyBase],
    readers: Mapping[str, Sequence[MaintainedView]],
) -> dict[MaintainedView, pa.Table | None]:
    """Apply changes of streams; gives the views that followed, with what changed of tracked ones.

    A number that leaves its range in a kernel may be a partial sum: the reference engine, which is
    exact, takes the view over, and accepts or refuses the change.
    """
    entered: list[Change] = []
    followed: list[tuple[MaintainedView, Change]] = []
    fell_back: list[MaintainedView] = []
    for change in changes:
        for view in readers[change.relation.name]:
            view.ensure_started()  # before the bases change: it is filled from them
            if view.history is not None:
                view.history.collector.begin()
    told: dict[MaintainedView, pa.Table | None] = {}
    try:
        for change in changes:
            _enter(change, bases)
            entered.append(change)
        for change in changes:
            for view in readers[change.relation.name]:
                if view in fell_back:
                    continue
                if _follow(view, change, alone=len(changes) == 1):
                    followed.append((view, change))
                else:
                    _fall_back(view, followed)
                    fell_back.append(view)
        views = dict.fromkeys([*(view for view, _ in followed), *fell_back])
        for view in views:
            view.engine.check()
        for view in views:
            told[view] = _changes(view, followed, fell_back)
    except BaseException as e:
        if isinstance(e, BadValue):
            e.at = row_of(e, change)
        for view in told:
            if view.history is not None:
                view.history.collector.take_back()
        for view in fell_back:
            view.undo_fall_back()
        for view, change in reversed(followed):
            _back(view, change, bases[change.relation.name])
        for change in reversed(entered):
            bases[change.relation.name].leave(change)
        raise
    for view in fell_back:
        view.drop_kernel()
    return told


def _changes(
    view: MaintainedView,
    followed: list[tuple[MaintainedView, Change]],
    fell_back: list[MaintainedView],
) -> pa.Table | None:
    """What has changed of a tracked view.

    A kernel may not be able to show it, as partial sums of a row leave their range: the reference
    engine, which is exact, takes the view over then.
    """
    if view.history is None:
        return None
    collector = view.history.collector
    try:
        return collector.end()
    except Overflow:
        if view.built is None or not collector.is_collected or not view.can_recompute:
            raise
        _fall_back(view, followed)
        fell_back.append(view)
        view.engine.check()
        return collector.end()


def _fall_back(view: MaintainedView, followed: list[tuple[MaintainedView, Change]]) -> None:
    """Let the reference engine take a view over from a kernel.

    Where the kernel collects changes, nobody holds what the view has shown: the kernel goes back to
    that first, and is read.
    """
    if view.history is not None and view.history.collector.is_collected:
        for change in [c for v, c in reversed(followed) if v is view]:
            view.take_back(change)
        followed[:] = [(v, c) for v, c in followed if v is not view]
        if not view.is_started:
            raise left_range(view.query.name)
        view.history.collector.hold()
    view.fall_back()


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


def _follow(view: MaintainedView, change: Change, *, alone: bool) -> bool:
    """Let a view follow a change; False where a kernel cannot, and another engine may.

    One that lost its state is filled anew when it is needed.
    """
    try:
        if alone:
            view.engine.follow(change)
        else:
            view.engine.apply(change)
    except StateLost:
        view.reset()
        raise
    except Overflow:
        if view.built is None or not view.can_recompute:
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


def _back(view: MaintainedView, change: Change, base: AnyBase) -> None:
    """Take a change back from a view."""
    if view.built is None and not isinstance(base, StatelessBase):
        view.reset()  # the bases go back too, and it is filled from them when it is needed
    else:
        view.take_back(change)


def fill(change: Change, base: AnyBase, views: Sequence[MaintainedView]) -> None:
    """Add rows to a static table, and to the views that read it."""
    for view in views:
        if view.history is not None:
            view.history.collector.hold()  # its next change tells what these rows do to it
    if isinstance(base, StatelessBase):
        _fill_unkept(change, views)
        return
    base.enter(change)
    try:
        _refill(views)
    except BaseException as e:
        base.leave(change)
        _refill(views)
        if isinstance(e, BadValue):
            e.at = row_of(e, change)
        raise


def _fill_unkept(change: Change, views: Sequence[MaintainedView]) -> None:
    done: list[MaintainedView] = []
    try:
        for view in views:
            view.engine.apply(change)
            done.append(view)
    except BaseException as e:
        for view in done:
            view.engine.apply(change, back=True)
        if isinstance(e, BadValue):
            e.at = row_of(e, change)
        raise


def _refill(views: Sequence[MaintainedView]) -> None:
    """Build the engines of views anew: kernels that refuse no row when they are needed."""
    for view in views:
        view.reset()
        if view.built is None or may_refuse(view.query.term):
            view.start()
