"""The window of a SELECT as conditions on the times of its streams."""

from __future__ import annotations

from itertools import combinations

from freshview.errors import TypeProblem, UnsupportedSql
from freshview.sql.lower.joined import Joined
from freshview.sql.lower.scope import Bound
from freshview.sql.terms import Arith, Compare, From, Interval, Join, Ref, Scalar, Select


def within(query: Select, joined: Joined) -> list[Scalar]:
    """RANGE n: of each two streams, rows less than n apart in time."""
    window = query.window
    if window is None:
        return []
    for source in query.sources:
        _refuse_outer(source)
    timed = [(item.alias, item.time) for item in joined.items if item.time is not None]
    if len(timed) < 2:
        raise UnsupportedSql(
            f"RANGE is about the times of streams that are joined, and {len(timed)} in FROM "
            f"{'has' if len(timed) == 1 else 'have'} a time",
            instead="declare WATERMARK FOR column in the streams, or leave RANGE out",
            at=window.at,
        )
    tests: list[Scalar] = []
    for (one, a), (other, b) in combinations(timed, 2):
        if a.type != b.type:
            raise TypeProblem(
                f"the time of '{one}' is {a.type}, that of '{other}' {b.type}",
                instead="leave RANGE out, and compare them in ON",
                at=window.at,
            )
        _check_length(window, a)
        left, right = (Ref(x.var, x.type, x.name, window.at) for x in (a, b))
        tests.append(Compare("<", left, Arith("+", right, window, window.at), window.at))
        tests.append(Compare("<", right, Arith("+", left, window, window.at), window.at))
    return tests


def _check_length(window: Scalar, time: Bound) -> None:
    moves = time.type.kind in ("date", "timestamp")
    if moves != isinstance(window, Interval):
        raise TypeProblem(
            f"this RANGE does not fit '{time.name}', which is {time.type}",
            instead="write RANGE 5 MINUTES" if moves else "write a number, as in RANGE 5",
            at=window.at,
        )


def _refuse_outer(source: From) -> None:
    if isinstance(source, Join):
        if source.kind != "inner":
            raise UnsupportedSql(
                "RANGE with an outer join is not supported, as it leaves open where rows without a "
                "partner go",
                instead="write the window in ON",
                at=source.at,
            )
        _refuse_outer(source.left)
        _refuse_outer(source.right)
