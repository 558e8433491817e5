"""Terms for both signs: with a sign of 1 they are the insertion's, with -1 the deletion's."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from freshview.calculus.scope import outs
from freshview.calculus.terms import View
from freshview.calculus.text import show
from freshview.calculus.types import DOUBLE
from freshview.ivm.delta import delta
from freshview.program.signs import SIGN, multiplied, signed
from freshview.program.terms import Map, Statement
from freshview.program.updates import Update
from freshview.simplify import simplify
from tests.law.examples import examples
from tests.law.strategies import RELATIONS, contexts, databases, rows_of, terms
from tests.law.test_simplify import filled, meaning, without_nulls

BOUND = ("w",)


@examples(500)
@given(data=st.data())
def test_both_signs(data: st.DataObject) -> None:
    e = without_nulls(data.draw(terms(bound=BOUND, depth=3)))
    relation = data.draw(st.sampled_from(sorted(RELATIONS)))
    db, env = filled(data.draw(databases())), data.draw(contexts(BOUND))
    row = data.draw(rows_of(RELATIONS[relation]))
    params = tuple(f"t_{c}" for c in RELATIONS[relation])
    plus, minus = (simplify(delta(e, Update(relation, params, sign))) for sign in (1, -1))
    actual = signed(plus, minus)
    if actual is None:
        return
    context = {**env, **dict(zip(params, row, strict=True))}
    keys = tuple(sorted(outs(e) - set(env)))
    for sign, term in ((1, plus), (-1, minus)):
        expected = meaning(term, db, context, keys)
        assert meaning(actual, db, {**context, SIGN: sign}, keys) == expected, show(actual)


@examples(500)
@given(data=st.data())
def test_any_number_of_times(data: st.DataObject) -> None:
    """With any sign it is the change of a batch in which the row comes so many times."""
    e = without_nulls(data.draw(terms(bound=BOUND, depth=3)))
    relation = data.draw(st.sampled_from(sorted(RELATIONS)))
    db, env = filled(data.draw(databases())), data.draw(contexts(BOUND))
    row, times = data.draw(rows_of(RELATIONS[relation])), data.draw(st.sampled_from((-5, 2, 7)))
    params = tuple(f"t_{c}" for c in RELATIONS[relation])
    keys = tuple(sorted(outs(e) - set(env)))
    target = View("Q", keys)
    maps = {"Q": Map("Q", (), DOUBLE, e)}
    plus, minus = (
        [Statement(target, "+=", simplify(delta(e, Update(relation, params, sign))))]
        for sign in (1, -1)
    )
    actual = multiplied(plus, minus, relation, maps)
    if actual is None:
        return
    batch = replace(db, deltas={**db.deltas, relation: {row: times}})
    expected = meaning(simplify(delta(e, Update(relation))), batch, env, keys)
    context = {**env, **dict(zip(params, row, strict=True)), SIGN: times}
    assert meaning(actual[0].term, db, context, keys) == expected, show(actual[0].term)
