"""Maps that are equal and maintained alike, up to the names of variables, are kept once.

Which maps these are is the coarsest partition in which the maps of a class have one definition and
one set of statements, where statements read classes (Hopcroft's minimization of automata): the
statements of two equal maps may read two maps that are equal in their turn. Two maps that are equal
and maintained in different ways stay two, so a class has all that its statements need, and what
ordered the statements before orders them still.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from freshview.calculus.alpha_equivalence import alike, shape
from freshview.calculus.schema import Column
from freshview.calculus.terms import Apply, Expr, Mul, View
from freshview.calculus.walk import bottom_up, distinct_subterms
from freshview.program.terms import Map, Program, Statement
from freshview.program.updates import TriggerKey, triggers_of


@dataclass(frozen=True, slots=True)
class Access:
    """How a map is read from the one that is kept for it: which of its keys stand where."""

    kept: str
    keys: tuple[int, ...]
    inputs: tuple[int, ...] = ()

    def view(self, v: View) -> View:
        """What reads the kept map instead."""
        keys = tuple(v.vars[i] for i in self.keys)
        return View(self.kept, keys, tuple(v.inputs[i] for i in self.inputs))


Accesses: TypeAlias = Mapping[str, Access]
Class: TypeAlias = list[Map]


def read_through(e: Expr, accesses: Accesses) -> Expr:
    """A term that reads other maps instead of these."""

    def rule(t: Expr) -> Expr | None:
        access = accesses.get(t.name) if isinstance(t, View) else None
        return access.view(t) if access is not None and isinstance(t, View) else None

    return bottom_up(e, rule)


def write_through(s: Statement, accesses: Accesses) -> Statement:
    """A statement that reads and writes other maps instead of these."""
    access = accesses.get(s.target.name)
    target = s.target if access is None else access.view(s.target)
    return Statement(target, s.op, read_through(s.term, accesses))


def share_equal_maps(program: Program) -> Program:
    """The same program without second copies of maps; the first of each class is kept."""
    accesses = _Partition(program).accesses()
    maps = tuple(
        replace(
            m,
            definition=read_through(m.definition, accesses),
            fill=None if m.fill is None else read_through(m.fill, accesses),
        )
        for m in program.maps
        if accesses[m.name].kept == m.name
    )
    kept = {m.name for m in maps}
    statements: dict[TriggerKey, list[Statement]] = {}
    for t in program.triggers:
        statements[t.event, t.relation] = [
            write_through(s, accesses) for s in t.statements if s.target.name in kept
        ]
    params = {t.relation: t.params for t in program.triggers if t.params}
    relations = [r.name for r in program.relations]
    queries = tuple(replace(q, term=read_through(q.term, accesses)) for q in program.queries)
    triggers = triggers_of(statements, relations, params, maps)
    notes = notes_through(program.view_notes, accesses)
    return replace(program, maps=maps, triggers=triggers, queries=queries, view_notes=notes)


def notes_through(
    notes: Mapping[str, tuple[str, ...]], accesses: Accesses
) -> dict[str, tuple[str, ...]]:
    """Notes that name other maps instead of these: they are words for readers."""

    def name(word: re.Match[str]) -> str:
        return accesses[word[0]].kept if word[0] in accesses else word[0]

    return {query: tuple(re.sub(r"\w+", name, n) for n in texts) for query, texts in notes.items()}


class _Partition:
    """The classes of a program's maps, made finer until they are stable."""

    def __init__(self, program: Program) -> None:
        self.maps = program.maps
        self.params = {(t.event, t.relation): frozenset(t.params) for t in program.triggers}
        self.rings = {m.name for m in program.maps if m.payload.kind == "ring"}
        self.statements: dict[str, list[tuple[TriggerKey, Statement]]] = {}
        for t in program.triggers:
            for s in t.statements:
                self.statements.setdefault(s.target.name, []).append(((t.event, t.relation), s))

    def accesses(self) -> Accesses:
        """How each map is read from the first one of its class."""
        classes = self._by_definition()
        while True:
            accesses = {m.name: self._access(c[0], m) for c in classes for m in c}
            finer = [part for c in classes for part in self._split(c, accesses)]
            if len(finer) == len(classes):
                return accesses
            classes = finer

    def _by_definition(self) -> list[Class]:
        classes: dict[str, list[Class]] = {}
        for m in self.maps:
            candidates = classes.setdefault(shape(m.definition), [])
            same = next((c for c in candidates if self._find_access(c[0], m)), None)
            if same is None:
                candidates.append([m])
            else:
                same.append(m)
        return [c for candidates in classes.values() for c in candidates]

    def _split(self, members: Class, accesses: Accesses) -> list[Class]:
        """The parts of a class that are maintained alike, as far as the classes tell."""
        parts: list[tuple[dict[TriggerKey, list[Expr]], Class]] = []
        for m in members:
            mine = self._maintenance(m, accesses)
            for theirs, part in parts:
                if self._same(theirs, mine) and self._find_access(part[0], m):
                    part.append(m)
                    break
            else:
                parts.append((mine, [m]))
        return [part for _, part in parts]

    def _maintenance(self, m: Map, accesses: Accesses) -> dict[TriggerKey, list[Expr]]:
        """The right sides that maintain a map, by trigger, each beside what it is written to."""
        terms: dict[TriggerKey, list[Expr]] = {}
        for key, s in self.statements.get(m.name, ()):
            through = write_through(s, accesses)
            terms.setdefault(key, []).append(_beside(through.op, through.target, through.term))
        if m.fill is not None:
            own = View(m.name, tuple(k.name for k in m.keys), tuple(k.name for k in m.inputs))
            fill = read_through(m.fill, accesses)
            terms["ready", "FILL"] = [_beside("FILL", accesses[m.name].view(own), fill)]
        return terms

    def _same(self, one: dict[TriggerKey, list[Expr]], other: dict[TriggerKey, list[Expr]]) -> bool:
        return one.keys() == other.keys() and all(
            self._same_terms(terms, other[key], self.params.get(key, frozenset()))
            for key, terms in one.items()
        )

    def _same_terms(self, one: list[Expr], other: list[Expr], params: frozenset[str]) -> bool:
        """Whether terms are alike, each with one of the others."""
        left = list(other)
        for x in one:
            at = (y for y in left if alike(x, y, params, ordered=self._is_ordered(x)) is not None)
            same = next(at, None)
            if same is None:
                return False
            left.remove(same)
        return not left

    def _access(self, kept: Map, m: Map) -> Access:
        access = self._find_access(kept, m)
        assert access is not None
        return access

    def _find_access(self, kept: Map, m: Map) -> Access | None:
        """The access to a map by another one of the same definition and types, if it is one."""
        if kept is m:
            return Access(m.name, tuple(range(len(m.keys))), tuple(range(len(m.inputs))))
        if kept.payload != m.payload:
            return None
        ordered = self._is_ordered(m.definition)
        names = alike(kept.definition, m.definition, ordered=ordered)
        if names is None:
            return None
        keys, inputs = _places(kept.keys, m.keys, names), _places(kept.inputs, m.inputs, names)
        return None if keys is None or inputs is None else Access(kept.name, keys, inputs)

    def _is_ordered(self, e: Expr) -> bool:
        """Whether a term multiplies elements of rings, which need not commute."""
        return any(
            x.ring != "" if isinstance(x, Apply) else isinstance(x, View) and x.name in self.rings
            for x in distinct_subterms(e)
        )


def _beside(word: str, target: View, term: Expr) -> Expr:
    """A statement as a term, so that its keys are renamed together with its right side."""
    return Mul((View(f"{target.name} {word}", target.vars, target.inputs), term))


def _places(
    ours: tuple[Column, ...], theirs: tuple[Column, ...], names: Mapping[str, str]
) -> tuple[int, ...] | None:
    """Where each of our columns stands among theirs, if they are the same up to names."""
    at = {(c.name, c.type): i for i, c in enumerate(theirs)}
    places = [at.get((names.get(c.name, ""), c.type)) for c in ours]
    if len(ours) != len(theirs) or None in places:
        return None
    return tuple(i for i in places if i is not None)
