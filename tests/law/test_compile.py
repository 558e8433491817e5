"""The compiler's law: after every change, each view equals its definition over the new data.

Random terms become queries; random changes, deletions included, run through the programs of all
strategies, in single-row and in batch mode; every map must equal its definition as well.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from freshview.calculus.alpha_equivalence import shape
from freshview.calculus.build import const
from freshview.calculus.check import Schema, infer
from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.scope import outs, relations
from freshview.calculus.terms import Const, Expr
from freshview.calculus.text import show
from freshview.calculus.types import INT
from freshview.calculus.walk import bottom_up
from freshview.errors import TypeProblem
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Program
from freshview.program.updates import Mode
from freshview.reference.engine.run import Engine
from freshview.reference.oracle.evaluate import Database, evaluate
from tests.law.examples import examples
from tests.law.strategies import RELATIONS, deltas, terms, updated
from tests.law.test_simplify import without_nulls

STRATEGIES = {
    "higher-order": DeltaOptions(),
    "caches": DeltaOptions(caches=True),
    "cyclic": DeltaOptions(cyclic=True),
    "first-order": DeltaOptions(depth=1),
    "second-order": DeltaOptions(depth=2),
    "project": DeltaOptions(depth=1, project=True),
    "reeval": DeltaOptions(depth=0),
    "no decomposition": DeltaOptions(decompose=False),
    "no decomposition, second-order": DeltaOptions(decompose=False, depth=2),
    "always-update": DeltaOptions(always_update=True),
    "ordered": DeltaOptions(ordered=True),
    "low cardinality": DeltaOptions(low_cardinality=frozenset(RELATIONS)),
    "low cardinality of S and U": DeltaOptions(low_cardinality=frozenset("SU")),
}

SCHEMA = tuple(
    Relation(name, tuple(Column(c, INT) for c in columns), static=name == "U")
    for name, columns in RELATIONS.items()
)


def no_null(rows: dict) -> dict:
    out: dict = {}
    for row, m in rows.items():
        key = tuple(4 if v is None else v for v in row)
        out[key] = out.get(key, 0) + m
    return {row: m for row, m in out.items() if m}


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@examples(25)
@given(data=st.data())
def test_views_stay_fresh(strategy: str, mode: Mode, data: st.DataObject) -> None:
    query = data.draw(queries())
    options = replace(STRATEGIES[strategy], mode=mode)
    follow(query, compile_queries([query], SCHEMA, options), data)


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@examples(25)
@given(data=st.data())
def test_views_stay_fresh_whatever_is_recomputed(mode: Mode, data: st.DataObject) -> None:
    """Any maps may be recomputed for any relations, and the maps that this asks for as well."""
    query = data.draw(queries())
    options = DeltaOptions(mode=mode)
    for _ in range(2):
        program = compile_queries([query], SCHEMA, options)
        pairs = sorted((shape(m.definition), r) for m in program.maps for r in "RST")
        chosen = data.draw(st.sets(st.sampled_from(pairs or [("", "")])))
        options = replace(options, recompute=options.recompute | chosen)
    follow(query, compile_queries([query], SCHEMA, options), data)


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """A random term as a query."""
    e = numeric(without_nulls(draw(terms(depth=4))))
    assume(relations(e) and is_typed(e))
    names = tuple(sorted(outs(e)))
    return Query("Q", tuple(Column(v, INT) for v in names), names, e)


def follow(query: Query, program: Program, data: st.DataObject) -> None:
    """Random changes through a program: the query and all the maps equal their definitions."""
    e, names = query.term, query.vars
    engine = Engine(program)
    tables = {"U": no_null(data.draw(deltas("U")))}
    tables["U"] = {row: abs(m) for row, m in tables["U"].items()}
    engine.load({"U": [row for row, m in tables["U"].items() for _ in range(m)]})
    now = {name: {} for name in RELATIONS} | tables
    for _ in range(3):
        relation = data.draw(st.sampled_from(["R", "S", "T"]))
        change = no_null(data.draw(deltas(relation)))
        engine.apply(relation, change)
        now[relation] = updated(now[relation], change)
        db = Database(now)
        assert engine.read("Q") == evaluate(e, db, keys=names), show(e)
        for m in program.maps:
            if not m.inputs:
                keys = tuple(k.name for k in m.keys)
                assert engine.contents(m.name) == evaluate(m.definition, db, keys=keys), m.name


def numeric(e: Expr) -> Expr:
    """Truth constants as numbers, since simplification may bring them together with numbers."""
    return bottom_up(
        e,
        lambda t: const(int(t.value)) if isinstance(t, Const) and t.type.kind == "bool" else None,
    )


def is_typed(e: Expr) -> bool:
    """Random terms may mix truth values with numbers, which the compiler refuses."""
    try:
        infer(e, Schema({r.name: r.types for r in SCHEMA}))
    except TypeProblem:
        return False
    return True
