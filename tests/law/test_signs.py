"""Terms for both signs: with a sign of 1 they are the insertion's, with -1 the deletion's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from freshet.calculus.scope import outs
from freshet.calculus.text import show
from freshet.codegen.signs import SIGN, signed
from freshet.ivm.delta import Update, delta
from freshet.simplify import simplify
from tests.law.examples import examples
from tests.law.strategies import RELATIONS, contexts, databases, rows_of, terms
from tests.law.test_simplify import filled, meaning, without_nulls

GIVEN = ("w",)


@examples(500)
@given(data=st.data())
def test_both_signs(data: st.DataObject) -> None:
    e = without_nulls(data.draw(terms(given=GIVEN, depth=3)))
    relation = data.draw(st.sampled_from(sorted(RELATIONS)))
    db, env = filled(data.draw(databases())), data.draw(contexts(GIVEN))
    row = data.draw(rows_of(RELATIONS[relation]))
    params = tuple(f"t_{c}" for c in RELATIONS[relation])
    plus, minus = (simplify(delta(e, Update(relation, params, sign))) for sign in (1, -1))
    found = signed(plus, minus)
    if found is None:
        return
    context = {**env, **dict(zip(params, row, strict=True))}
    keys = tuple(sorted(outs(e) - set(env)))
    for sign, term in ((1, plus), (-1, minus)):
        expected = meaning(term, db, context, keys)
        assert meaning(found, db, {**context, SIGN: sign}, keys) == expected, show(found)
