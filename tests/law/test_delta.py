"""The delta law: delta(Q) = Q(D + dD) - Q(D), for every node, single rows and batches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.calculus.build import mul
from freshview.calculus.scope import outs
from freshview.calculus.terms import Delta, Expr, Rel
from freshview.calculus.text import read, show
from freshview.calculus.walk import bottom_up
from freshview.ivm.delta import delta
from freshview.ivm.domains import extract_domain
from freshview.program.updates import Update
from freshview.reference.oracle.evaluate import Database
from freshview.simplify import simplify
from tests.law.examples import examples
from tests.law.strategies import RELATIONS, contexts, databases, deltas, rows_of, terms, updated
from tests.law.test_simplify import filled, meaning, without_nulls

BOUND = ("w",)


def difference(new: dict, old: dict) -> dict:
    out = dict(new)
    for row, m in old.items():
        out[row] = out.get(row, 0) - m
    return {row: m for row, m in out.items() if m}


@examples(500)
@given(data=st.data())
def test_batch(data: st.DataObject) -> None:
    e = data.draw(terms(bound=BOUND, depth=3))
    relation = data.draw(st.sampled_from(sorted(RELATIONS)))
    db, env = data.draw(databases()), data.draw(contexts(BOUND))
    change = data.draw(deltas(relation))
    after = replace(
        db, relations={**db.relations, relation: updated(db.relations[relation], change)}
    )
    keys = tuple(sorted(outs(e) - set(env)))
    law = difference(meaning(e, after, env, keys), meaning(e, db, env, keys))
    with_change = replace(db, deltas={**db.deltas, relation: change})
    d = delta(e, Update(relation))
    assert meaning(d, with_change, env, keys) == law, show(d)


@examples(500)
@given(data=st.data(), sign=st.sampled_from([1, -1]))
def test_single_row(data: st.DataObject, sign: int) -> None:
    e = data.draw(terms(bound=BOUND, depth=3))
    relation = data.draw(st.sampled_from(sorted(RELATIONS)))
    db, env = data.draw(databases()), data.draw(contexts(BOUND))
    row = data.draw(rows_of(RELATIONS[relation]))
    after = replace(
        db, relations={**db.relations, relation: updated(db.relations[relation], {row: sign})}
    )
    keys = tuple(sorted(outs(e) - set(env)))
    law = difference(meaning(e, after, env, keys), meaning(e, db, env, keys))
    params = tuple(f"t_{c}" for c in RELATIONS[relation])
    d = delta(e, Update(relation, params, sign))
    context = {**env, **dict(zip(params, row, strict=True))}
    assert meaning(d, db, context, keys) == law, show(d)


@examples(500)
@given(data=st.data())
def test_a_domain_holds_wherever_its_term_does(data: st.DataObject) -> None:
    e = data.draw(terms(bound=BOUND, depth=3))
    relation = data.draw(st.sampled_from(sorted(RELATIONS)))
    db, env = data.draw(databases()), data.draw(contexts(BOUND))
    with_change = replace(db, deltas={**db.deltas, relation: data.draw(deltas(relation))})
    small = data.draw(st.frozensets(st.sampled_from(sorted(RELATIONS))))

    def as_change(t: Expr) -> Expr | None:
        return Delta(t.name, t.vars) if isinstance(t, Rel) and t.name == relation else None

    for term in (bottom_up(e, as_change), delta(e, Update(relation))):
        keys = tuple(sorted(outs(term) - set(env)))
        domain = extract_domain(term, known=frozenset(BOUND), small=small)
        bounded = mul(*domain, term)
        assert meaning(bounded, with_change, env, keys) == meaning(term, with_change, env, keys), (
            show(term),
            show(mul(*domain)),
        )


@pytest.mark.parametrize(
    "text",
    [
        "Sum[d]((DELTA S)(a, b) * (n := Sum[b](R(b, c))) * {n = 0} * T(p) * (d := p + b))",
        "Sum[d]((DELTA S)(a, b) * (n := Sum[b](S(b, c))) * T(p) * (d := n + p + b))",
        "Sum[p]((DELTA S)(a, b) * T(p) * (n := Sum[p, b](R(p, b))) * {n = 0})",
    ],
)
def test_nested_sums_of_nothing_are_in_the_domain(text: str) -> None:
    """`(n := Q)` has a row where Q has none, so what Q reads bounds nothing."""
    e = read(text)
    relations = {"R": {(1, 2): 1}, "S": {(1, 1): 1}, "T": {(1,): 1, (5,): 1}}
    db = Database(relations, {"S": {(0, 1): 1, (0, 2): 1, (0, 7): 1}})
    for small in ("", "R", "RST"):
        domain = extract_domain(e, small=frozenset(small))
        assert meaning(mul(*domain, e), db, {}, tuple(sorted(outs(e)))) == meaning(
            e, db, {}, tuple(sorted(outs(e)))
        )


@examples(300)
@given(data=st.data())
def test_simplified_second_delta(data: st.DataObject) -> None:
    """The delta of a simplified delta obeys the law as well."""
    e = without_nulls(data.draw(terms(depth=3)))
    first = simplify(delta(e, Update("R", ("t_a", "t_b"))))
    db = filled(data.draw(databases()))
    change = {(1, 2): 1, (2, 2): -1, (4, 1): 2}
    after = Database(
        {**db.relations, "S": updated(dict(db.relations["S"]), change)}, db.deltas, db.maps
    )
    with_change = replace(db, deltas={**db.deltas, "S": change})
    env = {"t_a": 1, "t_b": 2}
    keys = tuple(sorted(outs(e)))
    law = difference(meaning(first, after, env, keys), meaning(first, db, env, keys))
    second = simplify(delta(first, Update("S")))
    assert meaning(second, with_change, env, keys) == law, show(second)
