"""All or nothing: a change goes into every relation and view, or comes out of those it was in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freshet.errors import StateLost
from freshet.runtime.change import Change
from freshet.runtime.kept import Unkept
from freshet.runtime.serve import AnyBase
from freshet.runtime.view import Maintained


def commit(
    changes: Sequence[Change],
    bases: Mapping[str, AnyBase],
    readers: Mapping[str, Sequence[Maintained]],
) -> list[Maintained]:
    """Apply changes of streams; gives the views that followed."""
    entered: list[Change] = []
    followed: list[tuple[Maintained, Change]] = []
    for change in changes:
        for view in readers[change.relation.name]:
            view.wake()  # before the bases change: it is filled from them
    try:
        for change in changes:
            bases[change.relation.name].enter(change)
            entered.append(change)
        for change in changes:
            for view in readers[change.relation.name]:
                _follow(view, change)
                followed.append((view, change))
    except BaseException:
        for view, change in reversed(followed):
            _back(view, change, bases[change.relation.name])
        for change in reversed(entered):
            bases[change.relation.name].leave(change)
        raise
    return list(dict.fromkeys(view for view, _ in followed))


def _follow(view: Maintained, change: Change) -> None:
    """Apply a change to a view; one that lost its state is filled anew when it is needed."""
    try:
        view.server.apply(change)
    except StateLost:
        view.reset()
        raise


def _back(view: Maintained, change: Change, base: AnyBase) -> None:
    """Take a change back from a view."""
    if view.built is None and not isinstance(base, Unkept):
        view.reset()  # the bases go back too, and it is filled from them when it is needed
    else:
        view.server.apply(change, back=True)


def fill(change: Change, base: AnyBase, views: Sequence[Maintained]) -> None:
    """Add rows to a static table, and to the views that read it."""
    if isinstance(base, Unkept):
        _fill_unkept(change, views)
        return
    base.enter(change)
    try:
        _refill(views)
    except BaseException:
        base.leave(change)
        _refill(views)
        raise


def _fill_unkept(change: Change, views: Sequence[Maintained]) -> None:
    done: list[Maintained] = []
    try:
        for view in views:
            view.server.apply(change)
            done.append(view)
    except BaseException:
        for view in done:
            view.server.apply(change, back=True)
        raise


def _refill(views: Sequence[Maintained]) -> None:
    """Build the servers of views anew: kernels when they are needed, the others now."""
    for view in views:
        view.reset()
        if view.built is None:
            view.start()
