"""Derived maps: one that others answer for is not kept, but asked of them.

- An EXISTS subquery is compiled to two maps over the same keys, how many rows there are and
  whether there is one. The first answers for both. So does the one that counts the rows of which a
  map tells the groups that have any, where a declared key says that a group has no more than one.
- A map that counts the rows of groups is asked of one that counts them by more keys, where each
  trigger that walks through the one walks through the same slice of the other anyway.
- A join whose keys include all that its parts have in common is the product of its parts: where
  those are kept, and only triggers read the join, it is multiplied when it is read. It is kept all
  the same where multiplying could mean to look at many rows in vain, change after change.
- A view that is such a join is kept, too, unless it is to be factorised; or unless its parts are
  all over the same rows, as those of a relation joined with itself by the view's keys: then it has
  a row wherever they have one, so that multiplying when it is read meets no row in vain. Only
  doubles are multiplied like this: a product of exact numbers may leave its range, and that
  refuses a change. Where only the existence of rows is asked for, nothing is multiplied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from freshview.calculus.alpha_equivalence import alike
from freshview.calculus.build import exists, factors, is_zero, mul, sum_
from freshview.calculus.scope import free, has_data, outs, stored
from freshview.calculus.terms import Const, Delta, Exists, Expr, Lift, Rel, Sum, Top, View
from freshview.calculus.walk import bottom_up, distinct_subterms, rename, subterms
from freshview.codegen.layout.fuse import Walks, core, walks_of
from freshview.codegen.layout.selection import is_selective
from freshview.program.expiry import forgetful
from freshview.program.needed import needed_maps
from freshview.program.order import order
from freshview.program.terms import Map, Program, Statement, Trigger
from freshview.simplify import simplify, unnest
from freshview.simplify.arrange import arrange


def derive(program: Program, *, factorise: bool = False) -> Program:
    """The program without such maps, and without those that only they had needed."""
    answers = _answers(program, factorise)

    def asked(e: Expr) -> Expr:
        return bottom_up(e, lambda part: _ask(part, answers))

    def filled(m: Map) -> Map:
        inputs = frozenset(c.name for c in m.inputs)
        return m if m.fill is None else replace(m, fill=arrange(asked(m.fill), inputs))

    maps = {m.name: filled(m) for m in program.maps if m.name not in answers}

    def without(t: Trigger) -> Trigger:
        statements = [_changed(s, asked(s.term), t) for s in t.statements if s.target.name in maps]
        return replace(t, statements=order(statements, maps))

    if not answers:
        return program
    return _living(
        replace(
            program,
            maps=tuple(maps.values()),
            triggers=tuple(without(t) for t in program.triggers),
            queries=tuple(replace(q, term=asked(q.term)) for q in program.queries),
        )
    )


@dataclass(frozen=True)
class _Answer:
    """What says the same as a map: a term over its keys."""

    keys: tuple[str, ...]
    term: Expr


def _answers(program: Program, factorise: bool) -> dict[str, _Answer]:
    shown = {name for q in program.queries for name in stored(q.term)}
    # What a map has forgotten, another one may still be asked for.
    lost = forgetful(program)
    whole = [m for m in program.maps if m.name not in lost]
    walks, added_up = walks_of(program), _added_up(program)
    answers: dict[str, _Answer] = {}
    needed: set[str] = set()
    # Those with the most keys first: they are the largest.
    for m in sorted(whole, key=lambda m: -len(m.keys)):
        if m.inputs or m.name in needed:
            continue
        others = [o for o in whole if o is not m and not o.inputs and o.name not in answers]
        term = _existence(m, others)
        if term is None and m.name not in shown | added_up:
            term = _coarser(m, others, walks)
        if term is None:
            term = _product(m, others)
            if term is not None and not (
                (
                    (m.payload.kind == "double" or _is_only_tested(m, program))
                    and _is_pointwise(m, term, others)
                )
                or ((factorise or m.name not in shown) and _is_quick(m, term, program))
            ):
                term = None
        if term is not None:
            answers[m.name] = _Answer(tuple(c.name for c in m.keys), term)
            needed |= stored(term)
    return _with_groups(answers, program)


def _with_groups(answers: Mapping[str, _Answer], program: Program) -> dict[str, _Answer]:
    """The same where maps of groups, too, are asked of those that count rows."""
    lost = forgetful(program)
    kept = [m for m in program.maps if m.name not in {*answers, *lost} and not m.inputs]
    groups = {
        m.name: _Answer(tuple(c.name for c in m.keys), term)
        for m in kept
        if (term := _groups(m, [o for o in kept if o is not m], program)) is not None
    }
    asked = {
        name: replace(a, term=bottom_up(a.term, lambda part: _ask(part, groups)))
        for name, a in answers.items()
    }
    return {**asked, **groups}


def _existence(m: Map, others: Sequence[Map]) -> Expr | None:
    """A map of which rows there are, by the one that counts them."""
    counted = kept_view(m.definition.body, others) if isinstance(m.definition, Exists) else None
    return None if counted is None else exists(counted)


def _coarser(m: Map, others: Sequence[Map], walks: Walks) -> Expr | None:
    """A map of counts by one that counts by more keys, and is read wherever this one is.

    Only counts: another sum may leave its range, which refuses a change, and none of its parts.
    One whose records hold other maps, too, would be walked through for these all the same.
    """
    own, keys = core(m.definition), tuple(c.name for c in m.keys)
    if own != m.definition or m.name not in walks:
        return None
    if any(len(o.keys) == len(keys) and alike(core(o.definition), own) for o in others):
        return None
    for o in others:
        inside = o.definition.body if isinstance(o.definition, Sum) else o.definition
        if len(o.keys) <= len(keys) or core(o.definition) != o.definition:
            continue
        for chosen in combinations((c.name for c in o.keys), len(keys)):
            names = alike(own, sum_(chosen, inside))
            if names is None or not set(keys) <= names.keys():
                continue
            at = {names[k]: k for k in keys}
            read = tuple(at.get(c.name, f"{c.name}_of_{m.name}") for c in o.keys)
            if set(at) == set(chosen) and _read_alike(m, View(o.name, read), walks):
                return sum_(keys, View(o.name, read))
    return None


def _added_up(program: Program) -> frozenset[str]:
    """The maps that statements do not just multiply by: they ask first for all that one adds up."""
    terms = dict.fromkeys(s.term for t in program.triggers for s in t.statements)
    whole = (x for e in terms for x in distinct_subterms(e) if isinstance(x, Exists | Lift | Top))
    return frozenset().union(*map(stored, whole))


def _read_alike(m: Map, by: View, walks: Walks) -> bool:
    """Whether triggers that read a slice of a map read the same slice of the other one."""
    keys = [c.name for c in m.keys]
    return all(
        len(walk.known) < len(keys)
        and any(
            other.trigger == walk.trigger
            and {by.vars[i] for i in other.known} == {keys[i] for i in walk.known}
            for other in walks.get(by.name, ())
        )
        for walk in walks[m.name]
    )


def _groups(m: Map, others: Sequence[Map], program: Program) -> Expr | None:
    """A map of the groups that have a row, by the one that counts the rows, if those are as many.

    Exists(Sum[a](Exists(Sum[a, b](R(a, b, c))))) is asked of the map Sum[a, b](R(a, b, c)) where a
    is the key of R.
    """
    match m.definition:
        case Exists(Sum(keys, Exists(counted))):
            rows = counted.body if isinstance(counted, Sum) else counted
        case _:
            return None
    view = kept_view(counted, others)
    if not isinstance(rows, Rel) or not isinstance(view, View):
        return None
    relation = next(r for r in program.relations if r.name == rows.name)
    named = {c.name: v for c, v in zip(relation.columns, rows.vars, strict=True)}
    if not relation.key or not {named[k] for k in relation.key} <= set(keys):
        return None
    local = {v: f"{v}_of_{m.name}" for v in view.vars if v not in keys}
    return exists(sum_(keys, exists(rename(view, local))))


def _product(m: Map, others: Sequence[Map]) -> Expr | None:
    """A join by its parts, each of which another map holds."""
    body = m.definition.body if isinstance(m.definition, Sum) else m.definition
    keys = frozenset(c.name for c in m.keys)
    parts = [mul(*part) for part in _parts(factors(body), keys)]
    joined = [part for part in parts if has_data(part)]
    if len(joined) < 2 or outs(body) & keys != keys:
        return None
    weights = [part for part in parts if not has_data(part)]
    views: list[Expr] = []
    for part in joined:
        near = [w for w in weights if free(w) <= outs(part)]
        for chosen in (near, []) if near else ([],):
            visible = tuple(sorted(keys & outs(part)))
            view = kept_view(sum_(visible, mul(part, *chosen)), others)
            if view is not None:
                views.append(view)
                weights = [w for w in weights if w not in chosen]
                break
        else:
            return None
    return mul(*views, *weights)


def _is_only_tested(m: Map, program: Program) -> bool:
    """Whether queries ask only whether a map has a row, and triggers ask nothing."""
    terms = [q.term for q in program.queries]
    reads = [x for e in terms for x in subterms(e) if isinstance(x, View) and x.name == m.name]
    tested = [
        x.body
        for e in terms
        for x in subterms(e)
        if isinstance(x, Exists) and isinstance(x.body, View) and x.body.name == m.name
    ]
    read = {n for t in program.triggers for s in t.statements for n in stored(s.term)}
    return m.payload.kind != "ring" and len(reads) == len(tested) and m.name not in read


def _is_pointwise(m: Map, term: Expr, others: Sequence[Map]) -> bool:
    """Whether all the parts of a join are numbers of the same rows, one for each row of it."""
    maps = {o.name: o for o in others}
    keys = frozenset(c.name for c in m.keys)
    first, *rest = (v for v in factors(term) if isinstance(v, View))
    if any(outs(v) != keys for v in (first, *rest)):
        return False
    return all(_same_rows(maps[v.name], v, maps[first.name], first) for v in rest)


def _same_rows(a: Map, of_a: View, b: Map, of_b: View) -> bool:
    """Whether views of two maps have the same keys: the maps differ in weights alone."""
    renaming = alike(core(a.definition), core(b.definition))
    if renaming is None:
        return False
    known = dict(zip((c.name for c in b.keys), of_b.vars, strict=True))
    return all(
        known.get(renaming.get(c.name, "")) == v for c, v in zip(a.keys, of_a.vars, strict=True)
    )


def _is_quick(m: Map, term: Expr, program: Program) -> bool:
    """Whether no trigger that reads a join would meet many rows that are not in it.

    One row of a relation that is asked for by its key changes seldom beside those that refer to
    it. Else, only the parts that the row chooses from may leave rows out.
    """
    maps = {o.name: o for o in program.maps}
    keys = {
        r.name: [i for i, c in enumerate(r.columns) if c.name in r.key] for r in program.relations
    }
    names = [c.name for c in m.keys]
    for t in program.triggers:
        for s in t.statements:
            for view in (e for e in subterms(s.term) if isinstance(e, View) and e.name == m.name):
                known = _known(s.term, t)
                whole = [known[i] for i in keys[t.relation]] if known else []
                if whole and set(whole) <= set(view.vars):
                    continue
                bound = {k for k, v in zip(names, view.vars, strict=True) if v in known}
                later = [v for v in factors(term) if isinstance(v, View) and not bound & outs(v)]
                if any(is_selective(maps[v.name].definition) for v in later):
                    return False
    return True


def _known(e: Expr, t: Trigger) -> tuple[str, ...]:
    """The variables of the row that changes; in a batch, of each of its rows."""
    deltas = (part.vars for part in subterms(e) if isinstance(part, Delta))
    return t.params or next(deltas, ())


def _parts(all_factors: Sequence[Expr], keys: frozenset[str]) -> list[list[Expr]]:
    """Factors in groups: those that have a variable in common beside the keys belong together."""
    groups: list[tuple[frozenset[str], list[Expr]]] = []
    for f in all_factors:
        names, part = free(f) - keys, [f]
        for group in [g for g in groups if g[0] & names]:
            groups.remove(group)
            names, part = names | group[0], [*group[1], *part]
        groups.append((names, part))
    return [part for _, part in groups]


def kept_view(e: Expr, others: Sequence[Map]) -> Expr | None:
    """The view of a map that is defined like a term, over the variables of the term."""
    for o in others:
        renaming = alike(o.definition, e)
        if renaming is not None:
            names = tuple(renaming[c.name] for c in o.keys if c.name in renaming)
            if len(names) == len(o.keys) and set(names) == outs(e):
                return View(o.name, names)
    return None


def _ask(e: Expr, answers: Mapping[str, _Answer]) -> Expr | None:
    if isinstance(e, Exists):
        return _exist_all(factors(e.body))
    if not (isinstance(e, View) and e.name in answers):
        return None
    answer = answers[e.name]
    return rename(answer.term, dict(zip(answer.keys, e.vars, strict=True)))


def _exist_all(parts: Sequence[Expr]) -> Expr | None:
    """A product of numbers is not zero where none of them is: it need not be multiplied out."""
    views = [v for v in parts if isinstance(v, View)]
    keys = {outs(v) for v in views}
    others = [c for c in parts if not isinstance(c, View)]
    if len(parts) < 2 or len(keys) != 1 or not all(isinstance(c, Const) for c in others):
        return None
    return None if any(map(is_zero, others)) else mul(*map(exists, dict.fromkeys(views)))


def _changed(s: Statement, term: Expr, t: Trigger) -> Statement:
    if term == s.term:
        return s
    bound = frozenset((*t.params, *s.target.inputs))  # a view cache runs for each of its inputs
    return replace(s, term=arrange(simplify(term, (unnest,)), bound))


def _living(program: Program) -> Program:
    """The program without maps that neither a query nor another map needs."""
    living = needed_maps(program)
    triggers = tuple(
        replace(t, statements=tuple(s for s in t.statements if s.target.name in living))
        for t in program.triggers
    )
    maps = tuple(m for m in program.maps if m.name in living)
    return replace(program, maps=maps, triggers=triggers)
