"""Scopes and renamings tell the truth about what terms read and bind."""

from __future__ import annotations

from hypothesis import given

from freshview.calculus.build import mul, sum_
from freshview.calculus.scope import free, has_data, ins, outs
from freshview.calculus.terms import Expr, Mul, Sum
from freshview.calculus.types import Value
from freshview.calculus.walk import Names, freshen, map_children, rename, subterms, variables
from freshview.reference.oracle.evaluate import Database, evaluate, solve
from tests.law.examples import examples
from tests.law.strategies import ALL_ATOMS, contexts, databases, terms

BOUND = ("x", "y", "g")
any_term = terms(bound=BOUND, atoms=ALL_ATOMS, hygienic=False)
hygienic_term = terms(bound=BOUND, atoms=ALL_ATOMS)


@examples(300)
@given(any_term, databases(), contexts(BOUND))
def test_a_term_binds_its_outs_and_nothing_else(
    e: Expr, db: Database, env: dict[str, Value]
) -> None:
    for solution, _ in solve(e, db, env):
        assert solution.keys() == env.keys() | outs(e)


@examples(300)
@given(any_term, databases(), contexts(BOUND))
def test_a_term_sees_its_free_variables_and_nothing_else(
    e: Expr, db: Database, env: dict[str, Value]
) -> None:
    seen = {v: x for v, x in env.items() if v in free(e)}
    assert ins(e) <= seen.keys()
    assert evaluate(e, db, seen) == evaluate(e, db, env)


@examples(300)
@given(hygienic_term, databases(), contexts(BOUND))
def test_names_do_not_matter(e: Expr, db: Database, env: dict[str, Value]) -> None:
    # Names keep their order, since a Top breaks ties by it.
    new = {v: f"{v}_new" for v in {*variables(e), *BOUND}}
    renamed = rename(e, new)
    assert outs(renamed) == {new[v] for v in outs(e)}
    keys = tuple(sorted(outs(e)))
    there = evaluate(
        renamed, db, {new[v]: x for v, x in env.items()}, keys=tuple(map(new.get, keys))
    )
    assert there == evaluate(e, db, env, keys=keys)


@examples(300)
@given(any_term, databases(), contexts(BOUND))
def test_a_fresh_copy_means_the_same(e: Expr, db: Database, env: dict[str, Value]) -> None:
    copy = freshen(e, Names(variables(e) | set(BOUND)))
    assert free(copy) == free(e)
    assert evaluate(copy, db, env) == evaluate(e, db, env)


@examples(300)
@given(hygienic_term, databases(), contexts(BOUND))
def test_constructors_keep_the_meaning(e: Expr, db: Database, env: dict[str, Value]) -> None:
    keys = tuple(sorted(outs(e)))[:1]
    for built, raw in ((mul(e, e), Mul((e, e))), (sum_(keys, e), Sum(keys, e))):
        if outs(built) == outs(raw):  # a zero forgets what it binds
            assert evaluate(built, db, env) == evaluate(raw, db, env)


@given(any_term)
def test_a_walk_that_changes_nothing_gives_the_same_object(e: Expr) -> None:
    assert map_children(e, lambda c: c) is e


@given(any_term)
def test_data_is_where_atoms_are(e: Expr) -> None:
    atoms = {"Rel", "Delta", "View"}
    assert has_data(e) == any(type(t).__name__ in atoms for t in subterms(e))
