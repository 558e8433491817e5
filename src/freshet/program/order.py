"""The order of statements in a trigger: `+=` reads old maps, `:=` reads new ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from freshet.calculus.scope import stored
from freshet.errors import ProgramProblem
from freshet.program.terms import Map, Statement


def order(statements: list[Statement], maps: Mapping[str, Map]) -> tuple[Statement, ...]:
    """Arrange the statements of one trigger.

    Every `+=` comes before the statements that update what it reads; every `:=` comes after
    them. Circles cannot arise from the compiler, whose maps read simpler maps only.
    """
    increments = [s for s in statements if s.op == "+="]
    replaced = [s for s in statements if s.op == ":="]
    return (
        *_sorted(increments, lambda s, o: s.target.name in reads(o, maps)),
        *_sorted(replaced, lambda s, o: o.target.name in reads(s, maps)),
    )


def reads(s: Statement, maps: Mapping[str, Map]) -> frozenset[str]:
    """The maps that a statement reads; a view cache also reads what fills it."""
    found = set(stored(s.term))
    for name in tuple(found):
        fill = maps[name].fill if name in maps else None
        if fill is not None:
            found |= stored(fill)
    return frozenset(found)


def _sorted(
    pending: list[Statement], waits: Callable[[Statement, Statement], bool]
) -> list[Statement]:
    """Topological order: a statement comes when it waits for none of those left."""
    done: list[Statement] = []
    while pending:
        for s in pending:
            others = [o for o in pending if o is not s]
            if not any(waits(s, o) for o in others):
                pending = others
                done.append(s)
                break
        else:
            names = ", ".join(sorted({s.target.name for s in pending}))
            raise ProgramProblem(f"the maps {names} wait for each other in a circle")
    return done
