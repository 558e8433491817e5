"""Types tell the truth: what a term evaluates to belongs to the types that were inferred."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import assume, given

from freshview.calculus.check import Schema, infer
from freshview.calculus.scope import outs
from freshview.calculus.terms import Expr
from freshview.calculus.types import INT, Type, Value, fits
from freshview.errors import TypeProblem
from freshview.reference.oracle.evaluate import Database, evaluate
from tests.law.examples import examples
from tests.law.strategies import ALL_ATOMS, CACHES, MAPS, RELATIONS, contexts, databases, terms

NULLABLE = INT.or_null()
BOUND = {"x": NULLABLE, "y": NULLABLE}

SCHEMA = Schema(
    {name: (NULLABLE,) * len(columns) for name, columns in RELATIONS.items()},
    {
        **{name: ((NULLABLE,) * len(keys), INT) for name, keys in MAPS.items()},
        **{name: ((NULLABLE,) * len(i + k), INT) for name, (i, k) in CACHES.items()},
    },
)


def belongs(value: Value, t: Type) -> bool:
    """As `fits`; but coalesce(0.5, 1e0) is not widened to a double, and abs(true) is 1."""
    if isinstance(value, Decimal) and t.kind == "double":
        return True
    return fits(value, t) or (t.kind == "bool" and value in (0, 1))


def inferred(e: Expr) -> tuple[Type, dict[str, Type]]:
    try:
        return infer(e, SCHEMA, BOUND)
    except TypeProblem:
        assume(False)
        raise


@examples(1000)
@given(terms(bound=("x", "y"), atoms=ALL_ATOMS), databases(), contexts(("x", "y")))
def test_values_belong_to_their_inferred_types(
    e: Expr, db: Database, env: dict[str, Value]
) -> None:
    payload, types = inferred(e)
    names = sorted(outs(e))
    for row, m in evaluate(e, db, env).items():
        for name, value in zip(names, row, strict=True):
            assert belongs(value, types[name]), (name, value, types[name])
        assert belongs(m, payload), (m, payload)
