"""The order of factors says who binds a variable and who looks it up, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from freshview.calculus.build import mul, sum_
from freshview.calculus.check import check_bound
from freshview.calculus.scope import outs, relations
from freshview.calculus.terms import Cmp, Delta, Expr, Lift, Rel, Var, View
from freshview.calculus.text import show
from freshview.ivm.delta import delta
from freshview.program.updates import Update
from freshview.reference.oracle.evaluate import evaluate
from freshview.simplify import APART, FINISH, arrange, finish, simplify
from tests.law.examples import examples
from tests.law.strategies import MAPS, OPS, POOL, RELATIONS, contexts, databases
from tests.law.test_evaluate import run
from tests.law.test_simplify import filled, meaning

BOUND = ("x",)


@st.composite
def atoms(draw: st.DrawFn, kinds: tuple[type, ...]) -> Expr:
    """An atom over variables that few others have."""
    kind = draw(st.sampled_from(kinds))
    columns = MAPS if kind is View else RELATIONS
    name = draw(st.sampled_from(sorted(n for n, c in columns.items() if c)))
    names = draw(st.permutations(POOL))[: len(columns[name])]
    return kind(name, tuple(names))


@st.composite
def joins(draw: st.DrawFn, *kinds: type, most: int) -> list[Expr]:
    """Atoms, then tests and values of what they bind."""
    factors = draw(st.lists(atoms(kinds), min_size=3, max_size=most))
    bound = sorted(outs(mul(*factors)))
    for _ in range(draw(st.integers(0, 2))):
        left, right = draw(st.sampled_from(bound)), draw(st.sampled_from(bound))
        factors.append(Cmp(draw(st.sampled_from(OPS)), Var(left), Var(right)))
    if draw(st.booleans()):
        factors.append(Lift("n", Var(draw(st.sampled_from(bound)))))
    return factors


@examples(300)
@given(st.data())
def test_any_order_can_be_arranged(data: st.DataObject) -> None:
    factors = data.draw(joins(Rel, Delta, Delta, View, most=6))
    e = mul(*data.draw(st.permutations(factors)))
    db, env = data.draw(databases()), data.draw(contexts(BOUND))
    new = arrange(e, frozenset(BOUND))
    check_bound(new, frozenset(BOUND))
    keys = tuple(sorted(outs(new)))
    law = evaluate(mul(*factors), db, env, keys=keys)
    assert evaluate(new, db, env, keys=keys) == law, show(new)
    assert run(new, db, env) == evaluate(new, db, env)


@examples(200)
@given(st.data())
def test_products_may_stay_apart_or_share_factors(data: st.DataObject) -> None:
    """The change of a join whose relations stand several times, as it is finished."""
    body = mul(*data.draw(joins(Rel, most=4)))
    keys = tuple(v for v in sorted(outs(body)) if data.draw(st.booleans()))
    change = delta(sum_(keys, body), Update(data.draw(st.sampled_from(sorted(relations(body))))))
    db = filled(data.draw(databases()))  # rules may rely on it: no NULL
    law = meaning(change, db, {}, keys)
    flat = simplify(change)
    finished = [arrange(simplify(flat, rules)) for rules in (FINISH, APART)]
    assert finish(flat) in finished
    for new in finished:
        assert meaning(new, db, {}, keys) == law, show(new)
