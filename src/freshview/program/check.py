"""What must hold of a program before anyone runs it; errors are sentences that name the place.

Everything that is read is declared and of a fitting type; statements read only what is bound;
every map is written whenever a relation of its definition changes; and statements stand in an
order in which `+=` reads the maps as they were before the change, `:=` as they are after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from freshview.calculus.build import is_zero
from freshview.calculus.check import Schema, check_bound, infer
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Column, Query, Relation, row_types
from freshview.calculus.scope import outs, reads_delta, relations, stored
from freshview.calculus.terms import Delta, Expr
from freshview.calculus.types import Type, common
from freshview.calculus.walk import subterms
from freshview.errors import FreshviewError, ProgramProblem
from freshview.program.terms import Map, Program, Statement, Trigger


def check_program(p: Program, functions: Functions = BUILTINS) -> None:
    """Refuse a program that is not well formed, with the first error that there is."""
    _check_names(p)
    scope = _Scope(p, functions)
    for m in p.maps:
        with _in(f"map '{m.name}'"):
            _check_map(m, scope)
    for t in p.triggers:
        with _in(_title(t)):
            _check_head(t, scope)
            for s in t.statements:
                with _in(f"the statement on '{s.target.name}'"):
                    _check_statement(s, t, scope)
            _check_order(t, scope)
    for m in p.maps:
        _check_written(m, p, scope)
    for q in p.derived:
        with _in(f"view '{q.name}'"):
            infer(q.term, scope.schema)
    for q in p.queries:
        with _in(f"query '{q.name}'"):
            _check_query(q, scope)


class _Scope:
    """What is declared, by name."""

    def __init__(self, p: Program, functions: Functions) -> None:
        self.relations: Mapping[str, Relation] = {r.name: r for r in p.relations}
        self.maps: Mapping[str, Map] = {m.name: m for m in p.maps}
        self.derived = frozenset(q.name for q in p.derived)
        self.changes = frozenset(m.name for m in p.maps if m.is_change)
        keys = {m.name: tuple(c.type for c in m.inputs + m.keys) for m in p.maps}
        self.schema = Schema(
            row_types(p.relations, p.derived),
            {m.name: (keys[m.name], m.payload) for m in p.maps},
            functions,
        )

    def reads(self, e: Expr) -> frozenset[str]:
        """The maps that a term reads; asking a view cache may also read what fills it."""
        names: set[str] = set()
        pending = set(stored(e))
        while pending:
            name = pending.pop()
            names.add(name)
            fill = self.maps[name].fill
            if fill is not None:
                pending |= stored(fill) - names
        return frozenset(names)

    def sources(self, m: Map) -> frozenset[str]:
        """The base relations behind a map, also through the maps that define it."""
        names: set[str] = set()
        seen: set[str] = set()
        pending = [m.definition]
        while pending:
            e = pending.pop()
            names |= relations(e)
            new = stored(e) - seen
            seen |= new
            pending.extend(self.maps[name].definition for name in sorted(new))
        return frozenset(names)

    def streams(self, names: Iterable[str]) -> list[str]:
        return sorted(n for n in names if n in self.relations and not self.relations[n].static)


@contextmanager
def _in(place: str) -> Iterator[None]:
    """Complaints from inside say where they come from."""
    try:
        yield
    except FreshviewError as e:
        raise ProgramProblem(f"{place}: {e.what}", instead=e.instead, at=e.at) from e


def _title(t: Trigger) -> str:
    words = {"insert": "on + ", "delete": "on - ", "batch": "on batch of ", "ready": "on ready"}
    return words[t.event] + t.relation


def _check_names(p: Program) -> None:
    names = [f"relation '{r.name}' is declared" for r in p.relations]
    names += [f"relation '{q.name}' is declared" for q in p.derived]
    names += [f"map '{m.name}' is declared" for m in p.maps]
    names += [f"query '{q.name}' is declared" for q in p.queries]
    names += [f"a trigger {_title(t)} stands" for t in p.triggers]
    for name, count in Counter(names).items():
        if count > 1:
            raise ProgramProblem(f"{name} {count} times", instead="once is enough")


def _check_map(m: Map, scope: _Scope) -> None:
    inputs = {c.name: c.type for c in m.inputs}
    if reads_delta(m.definition) and not m.is_change:
        raise ProgramProblem("its definition reads a batch", instead="read the relation")
    _check_result(m.definition, m, inputs, scope)
    if m.inputs and m.fill is None:
        raise ProgramProblem("a view cache needs a term that fills it")
    if m.fill is not None:
        if not m.inputs:
            raise ProgramProblem("only a view cache is filled", instead="drop its FILL term")
        _check_reads(m.fill, "", scope)
        _check_result(m.fill, m, inputs, scope)


def _check_result(e: Expr, m: Map, inputs: Mapping[str, Type], scope: _Scope) -> None:
    """A term over the map's own names gives its keys and its payload."""
    check_bound(e, frozenset(inputs))
    payload, types = infer(e, scope.schema, inputs)
    keys = {c.name for c in m.keys}
    if not keys <= outs(e) | inputs.keys() or not outs(e) <= keys | inputs.keys():
        raise ProgramProblem(f"it has keys {_names(keys)}, its term binds {_names(outs(e))}")
    for column in m.keys:
        _check_fits(types.get(column.name, column.type), column.type, f"key '{column.name}'")
    _check_fits(payload, m.payload, "its payload")


def _check_fits(inferred: Type, declared: Type, what: str) -> None:
    """What is found is no wider than what is declared; NULL aside, which joins may rule out."""
    if common(inferred, declared).not_null() != declared.not_null():
        raise ProgramProblem(f"{what} is declared {declared}, but its term gives {inferred}")


def _check_head(t: Trigger, scope: _Scope) -> None:
    if t.event == "ready":
        if t.relation or t.params:
            raise ProgramProblem("a ready trigger has no relation and no parameters")
        return
    if t.relation not in scope.relations:
        raise ProgramProblem(f"there is no relation '{t.relation}'", instead="declare it")
    relation = scope.relations[t.relation]
    if relation.static:
        raise ProgramProblem(f"'{t.relation}' is a static table", instead="declare it a stream")
    wanted = 0 if t.event == "batch" else len(relation.columns)
    if len(t.params) != wanted:
        raise ProgramProblem(f"it needs {wanted} parameters, {len(t.params)} are given")
    if len(set(t.params)) != len(t.params):
        raise ProgramProblem("two of its parameters have one name")


def _check_reads(e: Expr, batch: str, scope: _Scope) -> None:
    """A term that runs reads maps, static tables and the batch of its own trigger."""
    for name in scope.streams(relations(e)):
        raise ProgramProblem(f"it reads the stream '{name}', which is not stored")
    for name in sorted(scope.derived & relations(e)):
        raise ProgramProblem(f"it reads the view '{name}', not a map of it")
    for part in subterms(e):
        if isinstance(part, Delta) and part.name != batch:
            raise ProgramProblem(f"it reads the batch of '{part.name}', which is not offered here")


def _check_statement(s: Statement, t: Trigger, scope: _Scope) -> None:
    target = scope.maps.get(s.target.name)
    if target is None:
        raise ProgramProblem("there is no such map", instead="declare it")
    _check_arity(s.target.vars, target.keys, "keys")
    _check_arity(s.target.inputs, target.inputs, "inputs")
    _check_reads(s.term, t.relation if t.event == "batch" else "", scope)
    bound: dict[str, Type] = {}
    if t.params:
        bound.update(zip(t.params, scope.relations[t.relation].types, strict=True))
    bound.update((v, c.type) for v, c in zip(s.target.inputs, target.inputs, strict=True))
    check_bound(s.term, frozenset(bound))
    payload, types = infer(s.term, scope.schema, bound)
    types = {**bound, **types}
    loose = set(s.target.vars) - outs(s.term) - bound.keys()
    if loose:
        raise ProgramProblem(f"its keys {_names(loose)} are bound by nothing")
    extra = outs(s.term) - set(s.target.vars) - bound.keys()
    if extra:
        raise ProgramProblem(f"its term also binds {_names(extra)}", instead="add up over them")
    for v, column in zip(s.target.vars, target.keys, strict=True):
        _check_fits(types[v], column.type, f"key '{column.name}'")
    _check_fits(payload, target.payload, "its payload")


def _check_arity(names: tuple[str, ...], columns: tuple[Column, ...], what: str) -> None:
    if len(names) != len(columns):
        raise ProgramProblem(f"the map has {len(columns)} {what}, {len(names)} are given")


def _check_order(t: Trigger, scope: _Scope) -> None:
    later = Counter(s.target.name for s in t.statements)
    done: set[str] = set()
    for s in t.statements:
        name = s.target.name
        reads = scope.reads(s.term)
        is_change = name in scope.changes
        changed = (reads & done) - scope.changes
        if changed and (s.op == "+=" or is_change):
            raise ProgramProblem(
                f"'{name} {s.op}' reads {_names(changed)} after the change was made there",
                instead="move it up",
            )
        late = {m for m in reads & scope.changes if later[m]}
        if late:
            raise ProgramProblem(
                f"'{name} {s.op}' reads {_names(late)} before it is written",
                instead="move it down",
            )
        stale = {m for m in reads if later[m]}
        if s.op == ":=" and stale and not is_change:
            raise ProgramProblem(
                f"'{name} :=' reads {_names(stale)} before the change is made there",
                instead="move it down",
            )
        done.add(name)
        later[name] -= 1


def _check_written(m: Map, p: Program, scope: _Scope) -> None:
    if is_zero(m.definition) or m.is_change:
        return  # empty for ever, or where no trigger writes it: nobody needs to write it
    streams = scope.streams(scope.sources(m))
    writers = [t for t in p.triggers if any(s.target.name == m.name for s in t.statements)]
    reads_view = bool(scope.sources(m) & scope.derived)
    if (
        not streams
        and not m.inputs
        and not reads_view
        and not any(t.event == "ready" for t in writers)
    ):
        raise ProgramProblem(
            f"map '{m.name}' reads static tables only, but no ready trigger writes it"
        )
    for name in streams:
        events = {t.event for t in p.triggers if t.relation == name}
        written = {t.event for t in writers if t.relation == name}
        if not events or events - written:
            missing = ", ".join(sorted(events - written)) or "change"
            raise ProgramProblem(
                f"map '{m.name}' reads '{name}', but nothing writes it on {missing} of '{name}'"
            )


def _check_query(q: Query, scope: _Scope) -> None:
    check_bound(q.term)
    _check_reads(q.term, "", scope)
    _, types = infer(q.term, scope.schema)
    if len(q.columns) != len(q.vars):
        raise ProgramProblem(f"it has {len(q.columns)} columns and {len(q.vars)} variables")
    for column, v in zip(q.columns, q.vars, strict=True):
        if is_zero(q.term):
            break  # a view that is empty whatever the data: it binds nothing
        if v not in types:
            raise ProgramProblem(f"nothing binds its column '{column.name}'")
        _check_fits(types[v], column.type, f"column '{column.name}'")
    unknown = {o.var for o in q.order} - set(q.vars)
    if unknown:
        raise ProgramProblem(f"it is ordered by {_names(unknown)}, which it does not show")


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"'{n}'" for n in sorted(names)) or "nothing"
