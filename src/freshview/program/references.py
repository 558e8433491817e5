"""Which relations refer to which: a join on a whole primary key says so, without a declaration.

Sizes that statistics do not have are guessed by it: a relation that others refer to has fewer rows
than they have, and a column that refers to keys has as many values as there are keys.
"""

from __future__ import annotations

from collections.abc import Iterator

from freshview.calculus.terms import Rel
from freshview.calculus.walk import atoms
from freshview.program.dependencies import primary_keys
from freshview.program.terms import Program

Columns = dict[tuple[str, int], set[str]]
"""Columns, by relation and place, and the relations to whose key they refer."""


def references(program: Program) -> dict[str, set[str]]:
    """For every relation, those to whose whole key its rows refer."""
    out: dict[str, set[str]] = {r.name: set() for r in program.relations}
    for one, other in _pairs(program):
        out[one.name].add(other.name)
    return out


def keyed_columns(program: Program) -> Columns:
    """The columns that are joined with a primary key of one column, and whose keys these are."""
    out: Columns = {}
    primary = primary_keys(program.relations)
    for one, other in _pairs(program):
        keys = primary[other.name]
        if len(keys) == 1:
            for at, name in enumerate(one.vars):
                if name == other.vars[keys[0]]:
                    out.setdefault((one.name, at), set()).add(other.name)
    return out


def levels(program: Program) -> dict[str, int]:
    """How many references lead to a relation, one after the other; the longest chain counts.

    Relations that refer to each other in a circle are on one level.
    """
    refers = references(program)
    out = dict.fromkeys(refers, 0)
    for _ in refers:  # no chain is longer
        for name, others in refers.items():
            for other in others:
                if name not in _reached(refers, other):
                    out[other] = max(out[other], out[name] + 1)
    return out


def _reached(refers: dict[str, set[str]], name: str) -> set[str]:
    """All that a relation refers to, directly or by others."""
    out: set[str] = set()
    ahead = [name]
    while ahead:
        for other in refers[ahead.pop()] - out:
            out.add(other)
            ahead.append(other)
    return out


def _pairs(program: Program) -> Iterator[tuple[Rel, Rel]]:
    """Atoms of which the first has all the variables that are the key of the second."""
    primary = primary_keys(program.relations)
    for definition in (*(m.definition for m in program.maps), *(q.term for q in program.derived)):
        declared = [a for a in atoms(definition) if a.name in primary]
        for other in declared:
            key = {other.vars[i] for i in primary[other.name]}
            for one in declared if key else ():
                if one.name != other.name and key <= set(one.vars):
                    yield one, other
