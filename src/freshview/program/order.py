"""The order of statements in a trigger: `+=` reads old maps, `:=` reads new ones.

The changes of derived views come first: they read old maps, and the others read them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush

from freshview.calculus.scope import stored
from freshview.errors import ProgramProblem
from freshview.program.terms import Map, Statement


def order(statements: list[Statement], maps: Mapping[str, Map]) -> tuple[Statement, ...]:
    """Arrange the statements of one trigger.

    Every `+=` comes before the statements that update what it reads; every `:=` comes after
    them. Circles cannot arise from the compiler, whose maps read simpler maps only.
    """
    names = {name for name, m in maps.items() if m.is_change}
    changes = [s for s in statements if s.target.name in names]
    increments = [s for s in statements if s.op == "+="]
    replaced = [s for s in statements if s.op == ":=" and s.target.name not in names]
    for s in replaced:
        if s.target.name in reads(s, maps):
            raise ProgramProblem(f"the map {s.target.name} would be recomputed from itself")
    return (
        *_sorted(changes, _after_writers(changes, maps)),
        *_sorted(increments, _pairs(increments, maps)),
        *_sorted(replaced, _after_writers(replaced, maps)),
    )


def reads(s: Statement, maps: Mapping[str, Map]) -> frozenset[str]:
    """The maps that a statement reads; a view cache also reads what fills it."""
    names: set[str] = set()
    pending = set(stored(s.term))
    while pending:
        name = pending.pop()
        names.add(name)
        fill = maps[name].fill if name in maps else None
        if fill is not None:
            pending |= stored(fill) - names
    return frozenset(names)


def _pairs(statements: list[Statement], maps: Mapping[str, Map]) -> list[tuple[int, int]]:
    """A writer and a reader of one map, by their places."""
    writers: dict[str, list[int]] = defaultdict(list)
    for i, s in enumerate(statements):
        writers[s.target.name].append(i)
    read = [reads(s, maps) for s in statements]
    return [(i, j) for j, names in enumerate(read) for n in names for i in writers[n] if i != j]


def _after_writers(statements: list[Statement], maps: Mapping[str, Map]) -> list[tuple[int, int]]:
    """Who waits for whom where statements read what others have written."""
    return [(reader, writer) for writer, reader in _pairs(statements, maps)]


def _sorted(statements: list[Statement], waits: Iterable[tuple[int, int]]) -> list[Statement]:
    """Topological order, otherwise as given; a pair says that one place waits for the other."""
    successors: dict[int, set[int]] = defaultdict(set)
    for late, early in waits:
        successors[early].add(late)
    left = Counter(late for later in successors.values() for late in later)
    ready = [i for i in range(len(statements)) if not left[i]]
    done: list[int] = []
    while ready:
        done.append(heappop(ready))
        for late in successors[done[-1]]:
            left[late] -= 1
            if not left[late]:
                heappush(ready, late)
    if len(done) < len(statements):
        names = ", ".join(sorted({s.target.name for i, s in enumerate(statements) if left[i]}))
        raise ProgramProblem(f"the maps {names} wait for each other in a circle")
    return [statements[i] for i in done]
