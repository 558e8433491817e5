"""Programs of several views as one, and a view taken out of it again.

`merge` puts programs beside each other and keeps once what several of them maintain in the same
way; `without` takes a query out with all that no other one needs, and `only` is what is there for
one query. Up to the names of maps, `merge`
is associative and commutative, and `without(merge([a, b]), q)` is `a` for the query `q` of `b`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from freshview.calculus.schema import Query, Relation
from freshview.calculus.scope import relations
from freshview.calculus.terms import Delta, Expr, View
from freshview.calculus.walk import Names, distinct_subterms, rename, variables
from freshview.errors import ProgramProblem, UnknownName
from freshview.program.equal_maps import (
    Access,
    Accesses,
    notes_through,
    read_through,
    share_equal_maps,
    write_through,
)
from freshview.program.needed import without_unused
from freshview.program.terms import Map, Program, Statement, Trigger
from freshview.program.updates import TriggerKey, trigger_variables, triggers_of


def merge(programs: Iterable[Program]) -> Program:
    """One program with the queries of all; maps that are equal and maintained alike are kept once.

    Programs that follow a relation in different ways, row by row and in batches, are refused, and
    so are two queries of one name.
    """
    parts = list(programs)
    _refuse_two_names(parts)
    _refuse_two_ways(parts)
    merged = share_equal_maps(_beside(parts))
    if len(parts) == 1:
        [only] = parts
        return replace(merged, notes=only.notes, view_notes=only.view_notes)
    return merged


def without(program: Program, query: str) -> Program:
    """The program without a query, and without all that no other query needs."""
    names = [q.name for q in program.queries]
    if query not in names:
        known = ", ".join(names) or "there is none"
        raise UnknownName(f"there is no query '{query}'", instead=f"the queries are: {known}")
    return _of_queries(program, {name for name in names if name != query})


def only(program: Program, query: str) -> Program:
    """What a program does for one query; its notes are those of that query."""
    part = _of_queries(program, {query})
    notes = (*program.notes, *program.view_notes.get(query, ()))
    return replace(part, notes=notes, view_notes={})


def _of_queries(program: Program, names: Set[str]) -> Program:
    """The program of some of its queries, without all that none of them needs."""
    queries = tuple(q for q in program.queries if q.name in names)
    part = without_unused(replace(program, queries=queries))
    terms = [*(q.term for q in queries), *(m.definition for m in part.maps)]
    terms += [s.term for t in part.triggers for s in t.statements]
    read = _read(terms) | {t.relation for t in part.triggers}
    derived: list[Query] = []
    for d in reversed(program.derived):  # each stands behind what it reads
        if d.name in read:
            derived.insert(0, d)
            read |= _read([d.term])
    return replace(
        part,
        relations=tuple(r for r in program.relations if r.name in read),
        derived=tuple(derived),
        view_notes={name: notes for name, notes in program.view_notes.items() if name in names},
    )


def _refuse_two_names(parts: Sequence[Program]) -> None:
    for name, count in Counter(q.name for p in parts for q in p.queries).items():
        if count > 1:
            raise ProgramProblem(
                f"{count} of the programs to merge have a query '{name}'",
                instead="give the queries different names",
            )
    declared: dict[str, Relation | Query] = {}
    relations_: list[Relation | Query] = [r for p in parts for r in p.relations]
    for r in [*relations_, *(q for p in parts for q in p.derived)]:
        if declared.setdefault(r.name, r) != r:
            raise ProgramProblem(
                f"the programs to merge declare the relation '{r.name}' in different ways",
                instead="compile them over the same relations",
            )


def _refuse_two_ways(parts: Sequence[Program]) -> None:
    """A map must follow every event of a relation that some trigger follows."""
    followed: dict[str, set[str]] = {}
    for p in parts:
        events: dict[str, set[str]] = {}
        for t in p.triggers:
            events.setdefault(t.relation, set()).add(t.event)
        for name in events:
            if name and followed.setdefault(name, events[name]) != events[name]:
                one, other = (_events(e) for e in (followed[name], events[name]))
                raise ProgramProblem(
                    f"of the programs to merge, one follows {one} of '{name}', another {other}",
                    instead="compile them in the same mode",
                )


def _events(events: set[str]) -> str:
    return " and ".join(sorted(f"{e} changes" if e == "batch" else f"every {e}" for e in events))


def _beside(parts: Sequence[Program]) -> Program:
    """All that the programs have; their maps under names that are different."""
    names = Names()
    declared = {r.name: r for p in parts for r in p.relations}
    maps: list[Map] = []
    params = _params(parts, declared)
    statements: dict[TriggerKey, list[Statement]] = {}
    notes: dict[str, tuple[str, ...]] = {}
    queries = []
    for p in parts:
        own = {m.name: _renamed(m, names.fresh(m.name)) for m in p.maps}
        maps += [_with_names(m, own) for m in p.maps]
        queries += [replace(q, term=read_through(q.term, own)) for q in p.queries]
        notes.update(notes_through(_notes(p), own))
        for t in p.triggers:
            listed = statements.setdefault((t.event, t.relation), [])
            listed += [write_through(s, own) for s in _with_params(t, params)]
    triggers = triggers_of(statements, declared, params, maps)
    derived = {d.name: d for p in parts for d in p.derived}
    return Program(
        tuple(declared.values()),
        tuple(maps),
        triggers,
        tuple(queries),
        derived=tuple(derived.values()),
        view_notes=notes,
    )


def _renamed(m: Map, name: str) -> Access:
    return Access(name, tuple(range(len(m.keys))), tuple(range(len(m.inputs))))


def _with_names(m: Map, names: Accesses) -> Map:
    fill = None if m.fill is None else read_through(m.fill, names)
    definition = read_through(m.definition, names)
    return replace(m, name=names[m.name].kept, definition=definition, fill=fill)


def _params(
    parts: Sequence[Program], declared: Mapping[str, Relation]
) -> dict[str, tuple[str, ...]]:
    """The parameters of single rows: as they are, or, where programs differ, used by none."""
    params: dict[str, tuple[str, ...]] = {}
    differ: set[str] = set()
    for t in (t for p in parts for t in p.triggers if t.params):
        if params.setdefault(t.relation, t.params) != t.params:
            differ.add(t.relation)
    if differ:
        terms = [m.definition for p in parts for m in p.maps]
        terms += [q.term for p in parts for q in p.queries]
        used = set().union(*(variables(e) for e in terms))
        params |= trigger_variables([declared[name] for name in sorted(differ)], used)
    return params


def _with_params(t: Trigger, params: Mapping[str, tuple[str, ...]]) -> Iterable[Statement]:
    """The statements of a trigger over other parameters; variables of their names give way."""
    new = params[t.relation] if t.params else ()
    if t.params == new:
        return t.statements
    used = {v for s in t.statements for v in (*variables(s.term), *variables(s.target))}
    free = Names(used | {*new, *t.params})
    names = {v: free.fresh(v) for v in sorted(used & {*new} - {*t.params})}
    names |= dict(zip(t.params, new, strict=True))
    return [_rename(s, names) for s in t.statements]


def _rename(s: Statement, names: Mapping[str, str]) -> Statement:
    target = rename(s.target, names)
    assert isinstance(target, View)
    return Statement(target, s.op, rename(s.term, names))


def _notes(p: Program) -> dict[str, tuple[str, ...]]:
    """What is said of each query; of a program of several, all is said of each of them."""
    return {q.name: (*p.notes, *p.view_notes.get(q.name, ())) for q in p.queries}


def _read(terms: Sequence[Expr]) -> set[str]:
    """The relations that terms read, also as batches."""
    batches = {x.name for e in terms for x in distinct_subterms(e) if isinstance(x, Delta)}
    return batches.union(*(relations(e) for e in terms))
