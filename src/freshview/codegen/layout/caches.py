"""View caches as maps (Koch et al. 2014, section on input variables): what was asked for is a map.

A cache `M[x][k]` holds a copy of a view for each value of x that was ever asked for. A kernel keeps
it as a map over x and k beside one that tells which x were asked for. Statements that read the
cache are preceded by two that fill it, where something new is asked:

    M[x, k] += D[x] * {M_asked[x] = 0} * fill;     M_asked[x] += D[x] * {M_asked[x] = 0};

where D are the values of x that the statement is going to ask for. Statements that maintain the
cache loop over what was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from freshview.calculus.build import const, exists, mul, sum_
from freshview.calculus.scope import outs, within
from freshview.calculus.terms import (
    Add,
    Cmp,
    Exists,
    Expr,
    Lift,
    Mul,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.types import INT
from freshview.calculus.walk import Names, bottom_up, rename, variables
from freshview.errors import NotNative
from freshview.program.terms import Map, Program, Statement, Trigger


def keep_caches(program: Program) -> Program:
    """The same program with view caches as maps whose first keys are their inputs."""
    caches = {m.name: m for m in program.maps if m.inputs}
    if not caches:
        return program
    filling = _Filling(caches)
    # What queries are going to ask for is filled when something changes, and at the start.
    asked_by_queries = [s for q in program.queries for s in filling.before(q.term)]
    triggers = program.triggers
    if asked_by_queries and not any(t.event == "ready" for t in triggers):
        triggers = (*triggers, Trigger("ready", "", (), ()))
    return replace(
        program,
        maps=tuple(new for m in program.maps for new in _as_maps(m)),
        triggers=tuple(
            replace(t, statements=(*filling.statements(t), *asked_by_queries)) for t in triggers
        ),
        queries=tuple(replace(q, term=_plain(q.term)) for q in program.queries),
    )


def _as_maps(m: Map) -> tuple[Map, ...]:
    """The map of a cache, and that of what was asked for; their inputs tell them from others."""
    if not m.inputs:
        return (m,)
    asked = Map(_asked(m.name), m.inputs, INT, const(1), inputs=m.inputs)
    return replace(m, keys=(*m.inputs, *m.keys), fill=None), asked


def _asked(name: str) -> str:
    return f"{name}_asked"


def _plain(e: Expr) -> Expr:
    """A term that reads caches as maps."""

    def rule(part: Expr) -> Expr | None:
        match part:
            case View(name, names, inputs) if inputs:
                return View(name, inputs + names)
            case _:
                return None

    return bottom_up(e, rule)


@dataclass(frozen=True)
class _Filling:
    """What fills the caches of a program before they are read."""

    caches: Mapping[str, Map]

    def statements(self, t: Trigger) -> Iterator[Statement]:
        """The statements of a trigger over maps."""
        for s in t.statements:
            name, inputs = s.target.name, s.target.inputs
            if inputs and name in {access.name for access, _ in _accesses(s.term)}:
                raise NotNative(f"view cache '{name}', which asks itself, is kept in Python only")
            own = (View(_asked(name), inputs),) if inputs else ()
            yield from self.before(s.term, own, t.params)
            target = View(name, inputs + s.target.vars)
            yield Statement(target, s.op, mul(*own, _plain(s.term)))

    def before(
        self, e: Expr, context: tuple[Expr, ...] = (), params: tuple[str, ...] = ()
    ) -> Iterator[Statement]:
        """The statements that fill what a term asks for, where some rows are given.

        A cache is filled for all its keys, so none may have the name of a parameter.
        """
        for access, rows in _accesses(e, context):
            yield from self._fill(access, rows, params)

    def _fill(
        self, access: View, rows: Sequence[Expr], params: tuple[str, ...]
    ) -> Iterator[Statement]:
        m = self.caches[access.name]
        assert m.fill is not None, "a view cache says how it is filled"
        used = {*access.inputs, *params}.union(*map(variables, rows))
        names = Names(used)
        fresh = {v: names.fresh(v) for v in sorted(_variables_of(m))}
        inputs = tuple(fresh[c.name] for c in m.inputs)
        wanted = [Lift(x, Var(v)) for x, v in zip(inputs, access.inputs, strict=True)]
        seen = View(_asked(m.name), inputs)
        count = names.fresh("asked")
        # Rows are counted once each, so that those of opposite signs do not hide what is asked.
        there = (exists(_plain(mul(*rows))),) if rows else ()
        domain = exists(sum_(inputs, mul(*there, *wanted)))
        is_new = (domain, Lift(count, sum_(inputs, seen)), Cmp("=", Var(count), const(0)))
        fill = rename(m.fill, fresh)
        yield from self.before(fill, is_new, params)
        keys = tuple(fresh[c.name] for c in m.keys)
        yield Statement(View(m.name, inputs + keys), "+=", mul(*is_new, _plain(fill)))
        yield Statement(seen, "+=", mul(*is_new))


def _variables_of(m: Map) -> frozenset[str]:
    assert m.fill is not None
    return variables(m.fill).union(c.name for c in (*m.inputs, *m.keys))


def _accesses(e: Expr, rows: tuple[Expr, ...] = ()) -> Iterator[tuple[View, tuple[Expr, ...]]]:
    """The caches that a term reads, each with what stands before it and binds its inputs."""
    match e:
        case View(_, _, inputs):
            if inputs:
                yield e, rows
        case Mul(factors):
            for i, f in enumerate(factors):
                yield from _accesses(f, rows + factors[:i])
        case Add(terms):
            for t in terms:
                yield from _accesses(t, rows)
        case Lift(_, body) | Exists(body):
            yield from _accesses(body, rows)
        case Sum(keys, body) | Top(keys, _, _, body):
            bound = outs(mul(*rows)) if rows else frozenset()
            visible = tuple(sorted(within(keys, body, bound)))
            inner = (sum_(visible, exists(mul(*rows))),) if rows else ()
            yield from _accesses(body, inner)
        case _:
            return
