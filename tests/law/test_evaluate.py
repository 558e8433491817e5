"""The compiled closures mean what `solve` means, on every term and in every context."""

from __future__ import annotations

import decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from freshview.algebra import EXACT
from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Expr
from freshview.calculus.types import Value
from freshview.calculus.walk import subterms
from freshview.reference.engine.closures import compile_term
from freshview.reference.engine.scope import Rows
from freshview.reference.engine.store import Cache, Store, Stores
from freshview.reference.oracle.evaluate import Database, evaluate
from tests.law.examples import examples
from tests.law.strategies import ALL_ATOMS, CACHES, MAPS, contexts, databases, terms

NODES = 13


def stores_of(db: Database) -> Stores:
    """The database as stores; a cache that is asked for new inputs finds nothing for them."""
    stores = Stores(
        {name: Store(rows) for name, rows in db.relations.items()},
        {name: Store(rows) for name, rows in db.deltas.items()},
        {name: Store(db.maps[name]) for name in MAPS},
    )
    for name, (inputs, _) in CACHES.items():
        cache = stores.caches[name] = Cache()
        cache.fill = lambda _: {}
        for row, m in db.maps[name].items():
            cache.at(row[: len(inputs)]).add(row[len(inputs) :], m)
    return stores


def run(e: Expr, db: Database, env: dict[str, Value]) -> Rows:
    with decimal.localcontext(EXACT):
        return compile_term(e, stores_of(db), tuple(env))(tuple(env.values()))


@examples(1000)
@given(terms(atoms=ALL_ATOMS), databases())
def test_closures_agree_with_solve(e: Expr, db: Database) -> None:
    assert run(e, db, {}) == evaluate(e, db)


@examples(1000)
@given(
    terms(bound=("x", "y", "g"), atoms=ALL_ATOMS, hygienic=False),
    databases(),
    contexts(("x", "y", "g")),
)
def test_closures_agree_with_solve_in_a_context(
    e: Expr, db: Database, env: dict[str, Value]
) -> None:
    assert run(e, db, env) == evaluate(e, db, env)


@given(terms(bound=("g",), atoms=ALL_ATOMS, depth=4))
def test_random_terms_are_well_bound(e: Expr) -> None:
    assert ins(e) <= {"g"}


@given(st.data())
@settings(max_examples=30)
def test_a_compiled_term_can_be_run_again(data: st.DataObject) -> None:
    e = data.draw(terms(bound=("x",), atoms=ALL_ATOMS))
    db = data.draw(databases())
    with decimal.localcontext(EXACT):
        rows_of = compile_term(e, stores_of(db), ("x",))
        first = rows_of((1,))
        rows_of((2,))
        assert rows_of((1,)) == first


def test_random_terms_cover_every_node() -> None:
    seen: set[type] = set()

    @settings(max_examples=400, database=None, derandomize=True)
    @given(terms(bound=("g",), atoms=ALL_ATOMS))
    def collect(e: Expr) -> None:
        seen.update(type(t) for t in subterms(e))
        assert outs(e) is not None

    collect()
    assert len(seen) == NODES
