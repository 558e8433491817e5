"""What a user may ask of a join, checked: its window, and the scheme by which its rows travel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, get_args

from freshview.errors import FreshviewError
from freshview.temporal import FullHistory, TupleCount, Window
from freshview.temporal.terms import TIMED, BadWindow
from freshview.theta.controller import Policy
from freshview.theta.local.predicate import BoundTheta
from freshview.theta.operator.source import Source
from freshview.theta.schemes import Dynamic, HybridByKey, Scheme, Static, SymmetricHash

SchemeName = Literal["auto", "dynamic", "square", "hash", "hybrid"]


class BadJoin(FreshviewError):
    """A join that cannot run as it is asked to."""


def check_window(window: Window, sources: Iterable[Source]) -> None:
    """Refuse a window that the times of the sources cannot serve."""
    sources = tuple(sources)
    if not isinstance(window, get_args(Window)):
        raise BadWindow(f"{window!r} is not a window", instead="use one as Sliding(length)")
    kinds = [s.time_kind for s in sources if s.time_kind]
    if len(set(kinds)) > 1:
        raise BadWindow(
            f"one source has the time of a {kinds[0]}, the other of a {kinds[1]}",
            instead="give both the same kind of time",
        )
    for source in sources:
        if isinstance(window, TIMED) and not source.is_timed and not source.table:
            raise BadWindow(
                f"the rows of '{source.name}' have no time",
                instead="name its time column or a clock, or declare it as a table",
            )
        if isinstance(window, TupleCount) and source.retracts:
            raise BadWindow(
                f"rows of '{source.name}' may be deleted, and a deletion has no place among "
                "the last rows",
                instead="use a window over time",
            )


def choose_scheme(
    asked: SchemeName | Scheme,
    joiners: int,
    policy: Policy | None,
    theta: BoundTheta,
    window: Window,
    sources: Iterable[Source],
) -> Scheme:
    """The scheme of a name, as it suits the predicate; a scheme is taken as it is."""
    if not isinstance(joiners, int) or joiners < 1:
        raise BadJoin(f"a join cannot run on {joiners} joiners", instead="give one or more")
    if not isinstance(asked, str):
        return asked
    if asked not in get_args(SchemeName):
        raise BadJoin(
            f"no scheme is called '{asked}'",
            instead=f"use one of {', '.join(get_args(SchemeName))}",
        )
    retracts = any(source.retracts for source in sources)
    shrinking = retracts or not isinstance(window, FullHistory)
    policy = policy or Policy(fewest=joiners)
    policy = replace(policy, shrinking=policy.shrinking or shrinking)
    if asked in ("hash", "hybrid") and not theta.equalities:
        raise BadJoin(
            f"the scheme '{asked}' needs an equality between the sources",
            instead="add one, or use the scheme 'dynamic'",
        )
    if asked == "hash":
        return SymmetricHash(joiners)
    if asked == "square":
        return Static(joiners)
    if asked == "hybrid" or (asked == "auto" and theta.equalities):
        return HybridByKey(joiners, policy)
    return Dynamic(joiners, policy)
