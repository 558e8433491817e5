"""All or nothing: a change goes into every relation and view, or comes out of those it was in."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING

from freshview.calculus.scope import may_refuse
from freshview.errors import BadValue, Overflow, Place, StateLost
from freshview.runtime.database.serve import AnyBase
from freshview.runtime.database.stored_base import StatelessBase, StoredBase
from freshview.runtime.ingest.change import Change
from freshview.runtime.views.maintained import Maintained

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]


def commit(
    changes: Sequence[Change],
    bases: MutableMapping[str, AnyBase],
    readers: Mapping[str, Sequence[Maintained]],
) -> dict[Maintained, pa.Table | None]:
    """Apply changes of streams; gives the views that followed, with what tracked ones show now.

    A number that leaves its range in a kernel may do so on the way only, or in the kernel only: the
    reference engine takes the view over, finds out, and has the last word.
    """
    entered: list[Change] = []
    followed: list[tuple[Maintained, Change]] = []
    gave_way: list[Maintained] = []
    for change in changes:
        for view in readers[change.relation.name]:
            view.wake()  # before the bases change: it is filled from them
    try:
        for change in changes:
            _enter(change, bases)
            entered.append(change)
        for change in changes:
            for view in readers[change.relation.name]:
                if view not in gave_way and not _follow(view, change, alone=len(changes) == 1):
                    gave_way.append(view)
                elif view not in gave_way:
                    followed.append((view, change))
        views = dict.fromkeys([*(view for view, _ in followed), *gave_way])
        for view in views:
            view.server.check()
        shown = {view: view.columns() if view.history else None for view in views}
    except BaseException as e:
        if isinstance(e, BadValue):
            e.at = row_of(e, change)
        for view in gave_way:
            view.resume()
        for view, change in reversed(followed):
            _back(view, change, bases[change.relation.name])
        for change in reversed(entered):
            bases[change.relation.name].leave(change)
        raise
    for view in gave_way:
        view.retire()
    return shown


def _enter(change: Change, bases: MutableMapping[str, AnyBase]) -> None:
    """Take a change into a base; a kernel that has no room for it gives way to a dictionary."""
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


def _follow(view: Maintained, change: Change, *, alone: bool) -> bool:
    """Let a view follow a change; False where a kernel could not, and gave way.

    One that lost its state is filled anew when it is needed.
    """
    try:
        if alone:
            view.server.follow(change)
        else:
            view.server.apply(change)
    except StateLost:
        view.reset()
        raise
    except Overflow:
        if view.built is None or not view.is_kept:
            raise
        view.give_way()
        return False
    return True


def row_of(problem: BadValue, change: Change) -> Place:
    """Which row brought the values that a function has no answer for, if a row shows them."""
    name = change.relation.name
    shown = number = 0
    for n, row in enumerate(change.given() if type(change) is Change else (), 1):
        values = list(row.values() if isinstance(row, Mapping) else row)
        found = sum(any(type(v) is type(x) and v == x for v in values) for x in problem.values)
        if found > shown:
            shown, number = found, n
    return Place(f"row {number} of '{name}'" if number else f"a change of '{name}'")


def _back(view: Maintained, change: Change, base: AnyBase) -> None:
    """Take a change back from a view."""
    if view.built is None and not isinstance(base, StatelessBase):
        view.reset()  # the bases go back too, and it is filled from them when it is needed
    else:
        view.server.apply(change, back=True)


def fill(change: Change, base: AnyBase, views: Sequence[Maintained]) -> None:
    """Add rows to a static table, and to the views that read it."""
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


def _fill_unkept(change: Change, views: Sequence[Maintained]) -> None:
    done: list[Maintained] = []
    try:
        for view in views:
            view.server.apply(change)
            done.append(view)
    except BaseException as e:
        for view in done:
            view.server.apply(change, back=True)
        if isinstance(e, BadValue):
            e.at = row_of(e, change)
        raise


def _refill(views: Sequence[Maintained]) -> None:
    """Build the servers of views anew: kernels that refuse no row when they are needed."""
    for view in views:
        view.reset()
        if view.built is None or may_refuse(view.query.term):
            view.start()
