"""Every rewrite rule keeps the meaning of a term, on random terms, databases and contexts.

Arithmetic over NULL is left out: the translation from SQL guards it, and the rules may rely on
that (see the docstring of calculus/terms.py).
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.calculus.build import const, is_zero
from freshview.calculus.scope import free, ins, outs
from freshview.calculus.terms import Const, Expr
from freshview.calculus.text import read, show
from freshview.calculus.walk import bottom_up
from freshview.reference.oracle.evaluate import Database, evaluate
from freshview.simplify import FINISH, RULES, Rule, finish, simplify
from tests.law.examples import examples
from tests.law.strategies import contexts, databases, terms

BOUND = ("w", "x")


def without_nulls(e: Expr) -> Expr:
    return bottom_up(e, lambda t: const(4) if isinstance(t, Const) and t.value is None else None)


def filled(db: Database) -> Database:
    def fill(rows: dict) -> dict:
        out: dict = {}
        for row, m in rows.items():
            key = tuple(4 if v is None else v for v in row)
            out[key] = out.get(key, 0) + m
        return {row: m for row, m in out.items() if m}

    return Database(
        {n: fill(r) for n, r in db.relations.items()},
        {n: fill(r) for n, r in db.deltas.items()},
        {n: fill(r) for n, r in db.maps.items()},
    )


def same(old: Expr, new: Expr, db: Database, env: dict) -> None:
    keys = tuple(sorted(outs(old) - set(env)))
    context = {v: x for v, x in env.items() if v in free(old) or v in free(new)}
    assert meaning(new, db, context, keys) == meaning(old, db, context, keys), show(new)


def meaning(e: Expr, db: Database, env: dict, keys: tuple[str, ...]) -> dict:
    """The rows of a term; the empty relation has none, whatever its columns."""
    return {} if is_zero(e) else evaluate(e, db, env, keys=keys)


@pytest.mark.parametrize("rule", dict.fromkeys(RULES + FINISH), ids=lambda r: r.__name__)
@examples(200)
@given(data=st.data())
def test_rule_keeps_meaning(rule: Rule, data: st.DataObject) -> None:
    e = without_nulls(data.draw(terms(bound=BOUND, depth=3)))
    new = bottom_up(e, rule)
    assert ins(new) <= frozenset(BOUND)
    db = filled(data.draw(databases()))
    env = data.draw(contexts(BOUND))
    same(e, new, db, {k: 4 if v is None else v for k, v in env.items()})


@examples(400)
@given(data=st.data())
def test_simplify_keeps_meaning(data: st.DataObject) -> None:
    e = without_nulls(data.draw(terms(bound=BOUND, depth=4)))
    db = filled(data.draw(databases()))
    env = {k: 4 if v is None else v for k, v in data.draw(contexts(BOUND)).items()}
    new = simplify(e)
    same(e, new, db, env)
    same(e, finish(new, frozenset(BOUND)), db, env)


def test_what_the_context_binds_stays_bound_in_a_top() -> None:
    """Expanding made x, read by one branch and bound by a later factor, a choice of the Top."""
    e = read("Top[; ; 1](U(y) * (1 + Sum[x](R(l, x))) * R(z, x))")
    db = Database({"R": {(1, 1): 1, (1, 2): 1}, "U": {(1,): 1}})
    for x in (1, 2):
        same(e, simplify(e), db, {"x": x})
