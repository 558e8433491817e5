"""Terms shortened for the eye: columns that nothing reads are left out as `..`.

The result is for printing only; the full text is what `freshview compile` writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from freshview.calculus.terms import Delta, Expr, Lift, Rel, Sum, Top, Var, View
from freshview.calculus.walk import bottom_up, subterms
from freshview.program.terms import Program

GAP = ".."


def abbreviate(e: Expr, keep: Iterable[str] = ()) -> Expr:
    """A term whose atoms name only the variables that are read elsewhere, or kept.

    >>> from freshview.calculus.text import read, show
    >>> show(abbreviate(read("Sum[a](R(a, b, c, d) * d)")))
    'Sum[a](R(a, .., d) * d)'
    """
    uses = Counter(keep)
    for t in subterms(e):
        match t:
            case Var(name) | Lift(name, _):
                uses[name] += 2
            case Rel(_, names) | Delta(_, names):
                uses.update(names)
            case View(_, names, inputs):
                uses.update((*names, *inputs) * 2)
            case Sum(keys, _):
                uses.update(keys)
            case Top(keys, order, _, _):
                uses.update((*keys, *(o.var for o in order)))
            case _:
                pass

    def shorten(t: Expr) -> Expr | None:
        if not isinstance(t, Rel | Delta):
            return None
        names: list[str] = []
        for name in t.vars:
            shown = name if uses[name] > 1 else GAP
            if shown != GAP or names[-1:] != [GAP]:
                names.append(shown)
        return replace(t, vars=tuple(names))

    return bottom_up(e, shorten)


def abbreviate_program(program: Program) -> Program:
    """A program for reading: short atoms, only the relations that it uses."""
    maps = tuple(
        replace(m, definition=abbreviate(m.definition, [k.name for k in (*m.inputs, *m.keys)] * 2))
        for m in program.maps
    )
    triggers = tuple(
        replace(
            t,
            statements=tuple(
                replace(s, term=abbreviate(s.term, [*s.target.vars, *t.params] * 2))
                for s in t.statements
            ),
        )
        for t in program.triggers
    )
    queries = tuple(replace(q, term=abbreviate(q.term, q.vars * 2)) for q in program.queries)
    return replace(program, relations=(), maps=maps, triggers=triggers, queries=queries)
