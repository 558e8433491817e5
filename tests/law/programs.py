"""Programs made from random terms: the simplest that is right, which recomputes the view."""

from __future__ import annotations

from freshview.calculus.check import Schema, infer
from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.scope import outs
from freshview.calculus.terms import Delta, Expr, Rel, View
from freshview.calculus.text import read
from freshview.calculus.types import INT
from freshview.calculus.walk import bottom_up
from freshview.program.terms import Map, Program, Statement, Trigger
from tests.law.strategies import RELATIONS

NULLABLE = INT.or_null()
SCHEMA = Schema({name: (NULLABLE,) * len(columns) for name, columns in RELATIONS.items()})


def over_copies(e: Expr) -> Expr:
    """The term over maps that copy the relations."""
    return bottom_up(e, lambda t: View(f"M_{t.name}", t.vars) if isinstance(t, Rel) else None)


def recompute(e: Expr, *, batches: bool) -> Program:
    """Copies of the relations, and a map Q that every change computes anew.

    Raises a TypeProblem where the term mixes types that do not go together.
    """
    payload, types = infer(e, SCHEMA)
    keys = tuple(sorted(outs(e)))
    columns = tuple(Column(k, types[k]) for k in keys)
    anew = Statement(View("Q", keys), ":=", over_copies(e))
    relations, maps, triggers = [], [], [Trigger("ready", "", (), (anew,))]
    for name, names in RELATIONS.items():
        copied = tuple(Column(c, NULLABLE) for c in names)
        relations.append(Relation(name, copied))
        maps.append(Map(f"M_{name}", copied, INT, Rel(name, names)))
        copy = View(f"M_{name}", names)
        if batches:
            follow = Statement(copy, "+=", Delta(name, names))
            triggers.append(Trigger("batch", name, (), (follow, anew)))
        else:
            # The parameters a, b, c, d are not variables of random terms: nothing is captured.
            more, less = (Statement(copy, "+=", read(sign)) for sign in ("1", "-1"))
            triggers.append(Trigger("insert", name, names, (more, anew)))
            triggers.append(Trigger("delete", name, names, (less, anew)))
    maps.append(Map("Q", columns, payload, e))
    query = Query("q", columns, keys, View("Q", keys))
    return Program(tuple(relations), tuple(maps), tuple(triggers), (query,))
