"""EMIT FINAL: groups of a window of time are shown once the watermark has passed their end."""

from __future__ import annotations

from freshview.calculus.clock import progress_of
from freshview.calculus.terms import Cmp, Expr, Op, Rel, Var
from freshview.errors import UnsupportedSql
from freshview.sql.lower.env import Env
from freshview.sql.lower.joined import Joined
from freshview.sql.lower.products import closed
from freshview.sql.lower.scope import FromItem
from freshview.sql.lower.time.sessions import is_session
from freshview.sql.terms import Call, Derived, Item, Ref, Scalar, Select, Table
from freshview.sql.walk import inside


def final(query: Select, joined: Joined, env: Env) -> tuple[Expr, ...]:
    """1 for the windows that no row to come is in: a step of the watermark was beyond their end."""
    windows = [s for s in query.sources if isinstance(s, Derived) and s.hidden]
    timed = [i for i in joined.items if i.time is not None]
    if len(windows) != 1 or len(timed) != 1 or not query.group:
        raise UnsupportedSql(
            "EMIT FINAL without one window of time, over one stream with a watermark, is not "
            "supported",
            instead="GROUP BY window(time, '1 minute'), and declare WATERMARK FOR time",
            at=query.at,
        )
    [window], [item] = windows, timed
    stream = _stream(query, item, env)
    if not _is_of(_time(window), item, env):
        raise UnsupportedSql(
            f"EMIT FINAL of windows over another time than '{item.time.name if item.time else ''}' "
            "is not supported",
            instead="take the window of the column that has the watermark",
            at=query.at,
        )
    end = next(i for i in joined.items if i.alias == window.alias).columns[1]
    since, until = env.names.fresh("since"), env.names.fresh("until")
    progress = progress_of(env.catalog.relation(stream))
    # A row at the very end of a session, a gap behind its last one, still belongs to it.
    ends: tuple[Op, Op] = (">=", "<") if is_session(window) else (">", "<=")
    open_, passed = ends
    env.notes[
        f"rows are shown once the watermark of {stream} has passed the end of their window"
    ] = None
    tests = (Cmp(open_, Var(end.var), Var(since)), Cmp(passed, Var(end.var), Var(until)))
    return (closed(Rel(progress.name, (since, until)), *tests),)


def _stream(query: Select, item: FromItem, env: Env) -> str:
    sources = [s for s in query.sources if isinstance(s, Table) and s.alias == item.alias]
    if not sources:
        raise UnsupportedSql(
            "EMIT FINAL over a join is not supported",
            instead="group the stream by itself, and join that view",
            at=query.at,
        )
    return env.catalog.declared_as(sources[0].name).lower()


def _time(window: Derived) -> Scalar | None:
    """The time that a window is computed of."""
    [start, *_] = (i.expr for i in window.query.items if isinstance(i, Item))
    if is_session(window):
        return start
    return start.args[0] if isinstance(start, Call) else None


def _is_of(time: Scalar | None, item: FromItem, env: Env) -> bool:
    if time is None or item.time is None:
        return False
    refs = [x for x in inside(env.resolve(time)) if isinstance(x, Ref)]
    return isinstance(env.resolve(time), Ref) and refs[0].var == item.time.var
