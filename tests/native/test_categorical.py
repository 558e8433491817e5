"""Categorical variables in kernels: after every batch the same as the reference engine's."""

from __future__ import annotations

import random
from datetime import date
from typing import Any

import pytest

import freshview as fv
from freshview.errors import NotNative
from freshview.runtime.compile import kernels

needs_compiler = pytest.mark.skipif(kernels.compiler() is None, reason="there is no C++ compiler")
pytestmark = [pytest.mark.native, needs_compiler]

SCHEMA = """
CREATE STREAM r (k INT NOT NULL, a INT NOT NULL, s STRING, x DOUBLE NOT NULL);
CREATE STREAM t (k INT NOT NULL, c STRING NOT NULL, d DATE, y INT);
"""
CASES: dict[str, tuple[str, list[str]]] = {
    "mixed": ("SELECT r.a, r.s, r.x, t.c, t.y FROM r NATURAL JOIN t", ["a", "s", "c"]),
    "categories only": ("SELECT r.s, t.c, t.d FROM r NATURAL JOIN t", ["s", "c", "d"]),
    "grouped": ("SELECT s, x, c, y FROM r NATURAL JOIN t GROUP BY a", ["s", "c"]),
    "one relation": ("SELECT s, x FROM r", ["s"]),
    "a number is a category": ("SELECT x, a FROM r", ["x"]),
}


def drawn(rng: random.Random, name: str) -> tuple[Any, ...]:
    if name == "r":
        text = rng.choice(["red", "green as a long text", "b", None])
        return rng.randrange(3), rng.randrange(3), text, float(rng.randint(-3, 3))
    day = rng.choice([None, date(2024, 2, 29), date(1969, 12, 31)])
    return (
        rng.randrange(3),
        rng.choice(["u", "v", "a very long category"]),
        day,
        rng.choice([None, 1, 2]),
    )


def change(rng: random.Random, live: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Some rows come; now and then many of them go, or all."""
    out: dict[str, list[Any]] = {}
    for name, rows in live.items():
        rng.shuffle(rows)
        often = rng.random() < 0.4
        gone = [rows.pop() for _ in range(rng.randint(0, len(rows)))] if often else []
        new = [drawn(rng, name) for _ in range(rng.randint(0, 5))]
        rows += new
        out[name] = [*((row, -1) for row in gone), *((row, 1) for row in new)]
    return out


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("case", CASES)
def test_the_same_as_the_reference(case: str, mode: Any) -> None:
    sql, categorical = CASES[case]
    models = []
    for engine in ("native", "reference"):
        db = fv.connect(engine=engine, mode=mode)  # type: ignore[arg-type]
        db.execute(SCHEMA)
        models.append((db, fv.models.Cofactor(db, sql, categorical=categorical)))
    rng = random.Random(case)
    live: dict[str, list[Any]] = {"r": [], "t": []}
    seen = set()
    for _ in range(40):
        batch = change(rng, live)
        for db, _ in models:
            db.apply(batch)
        (_, native), (_, reference) = models
        assert native.engine == "native"
        here = native.read()[1]
        assert here == reference.read()[1]
        seen.update(here.values())
    assert len(seen) > 10
    [one, other] = [db.view(cof.view.name).to_arrow() for db, cof in models]
    assert sorted(map(str, one.to_pylist())) == sorted(map(str, other.to_pylist()))


def test_what_goes_leaves_no_memory_behind() -> None:
    sql, categorical = CASES["mixed"]
    db = fv.connect(engine="native")
    db.execute(SCHEMA)
    cof = fv.models.Cofactor(db, sql, categorical=categorical)
    rng = random.Random(1)
    rows = {name: [drawn(rng, name) for _ in range(200)] for name in ("r", "t")}
    sizes = []
    for _ in range(12):
        for count in (1, -1):
            db.apply({name: [(row, count) for row in new] for name, new in rows.items()})
        sizes.append(db.view(cof.view.name).statistics().bytes)
    assert cof.count() == 0
    assert sizes[-1] == sizes[3]


def test_a_variable_that_is_lifted_twice_stays_with_the_reference_engine() -> None:
    db = fv.connect(engine="native")
    lifts = "[onehot: Cofactor]('s', r.s) * [onehot: Cofactor]('s', t.c)"
    with pytest.raises(NotNative, match="'s' is lifted twice"):
        db.execute(f"{SCHEMA} CREATE VIEW v AS SELECT SUM({lifts}) AS p FROM r JOIN t ON r.k = t.k")
