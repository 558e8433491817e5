"""The compiler's law: after every change, each view equals its definition over the new data.

Random terms become queries; random changes, deletions included, run through the programs of all
strategies, in single-row and in batch mode; every map must equal its definition as well.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

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
def test_views_stay_fresh(strategy: str, mode: str, data: st.DataObject) -> None:
    e = numeric(without_nulls(data.draw(terms(depth=4))))
    assume(relations(e) and is_typed(e))
    names = tuple(sorted(outs(e)))
    query = Query("Q", tuple(Column(v, INT) for v in names), names, e)
    options = STRATEGIES[strategy]
    program = compile_queries([query], SCHEMA, DeltaOptions(**{**vars_of(options), "mode": mode}))
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


def vars_of(options: DeltaOptions) -> dict:
    return {name: getattr(options, name) for name in options.__dataclass_fields__}
