"""Sums of doubles: what has gone leaves no trace, on both engines, in views and in inner maps.

The bound that the documentation states is checked against exact fractions over the rows that are
there: half a unit in the last place, and next to nothing for rows that have gone.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from freshview.runtime.database.database import Database
from tests.unit.databases import Connect

SCHEMA = """
CREATE STREAM a (k BIGINT, x DOUBLE, n BIGINT NOT NULL);
CREATE STREAM b (k BIGINT NOT NULL, y DOUBLE NOT NULL);
"""
VIEWS = {
    "whole": "SELECT SUM(y) AS s, AVG(y) AS m FROM b",
    "grouped": "SELECT k, SUM(y) AS s FROM b GROUP BY k",
    "nullable": "SELECT k, SUM(x) AS s, AVG(x) AS m FROM a GROUP BY k",
    "cases": "SELECT k, SUM(CASE WHEN n > 1 THEN x ELSE 0 END) AS s, SUM(x - n) AS d "
    "FROM a GROUP BY k",
    "joined": "SELECT a.k, SUM(a.x * b.y) AS s FROM a, b WHERE a.k = b.k GROUP BY a.k",
    "apart": "SELECT a.n, SUM(a.x - b.y) AS s FROM a, b WHERE a.k = b.k GROUP BY a.n",
    "nested": "SELECT SUM(t.s * t.s) AS q FROM (SELECT k, SUM(y) AS s FROM b GROUP BY k) t",
    "having": "SELECT k, SUM(y) AS s FROM b GROUP BY k HAVING SUM(y) > 0.25",
    "ranged": "SELECT SUM(b1.y * b1.k) AS s FROM b b1 WHERE 0.25 * (SELECT SUM(b3.y) FROM b b3) > "
    "(SELECT SUM(b2.y) FROM b b2 WHERE b2.y > b1.y)",
}
EPS = 2.0**-53

pytestmark = pytest.mark.xdist_group("sums of doubles")  # the views are compiled once

Row = tuple[Any, ...]


@pytest.fixture
def db(connect: Connect) -> Database:
    database = connect()
    database.execute(SCHEMA)
    for name, text in VIEWS.items():
        database.execute(f"CREATE VIEW {name} AS {text}")
    return database


def read(db: Database, name: str) -> dict[Row, Row]:
    """The rows of a view by their columns before the sums."""
    keys = {"whole": 0, "nested": 0, "ranged": 0}.get(name, 1)
    return {
        row[:keys]: row[keys:] for row in (tuple(r.values()) for r in db.view(name).to_pylist())
    }


def sizes(db: Database) -> int:
    return sum(n for name in VIEWS for n in db.view(name).statistics().rows.values())


def test_a_group_that_died_is_forgotten(db: Database) -> None:
    db.insert("b", [(1, 1e16), (1, 1.0)])
    db.insert("a", [(1, 1e16, 2), (1, 1.0, 2), (1, 3.0, 0)])
    db.delete("b", [(1, 1e16)])
    assert read(db, "grouped") == {(1,): (1.0,)}
    assert read(db, "whole") == {(): (1.0, 1.0)}
    db.delete("b", [(1, 1.0)])
    db.delete("a", [(1, 1e16, 2), (1, 1.0, 2)])
    assert read(db, "whole") == {(): (None, None)}
    assert read(db, "cases") == {(1,): (0.0, 3.0)}
    assert isinstance(read(db, "cases")[1,][0], float)
    db.insert("b", [(1, 5.0)])
    assert read(db, "grouped") == {(1,): (5.0,)}
    assert read(db, "whole") == {(): (5.0, 5.0)}
    assert read(db, "joined") == {(1,): (15.0,)}
    assert read(db, "nested") == {(): (25.0,)}


def test_emptied_groups_leave_no_records(db: Database) -> None:
    rows = [(k, x) for k in range(5) for x in (0.1, 0.2, 0.3, 1e300, 1e-300, -0.7)]
    db.insert("b", rows)
    for k, x in rows:
        db.insert("a", (k, x, k % 3))
    assert sizes(db) > 0
    back = list(rows)
    random.Random(1).shuffle(back)
    for k, x in back:
        db.delete("a", (k, x, k % 3))
    db.delete("b", rows[::2])
    db.delete("b", rows[1::2])
    assert sizes(db) == 0
    assert {name: list(read(db, name).values()) for name in ("grouped", "joined", "apart")} == {
        "grouped": [],
        "joined": [],
        "apart": [],
    }


def test_what_overflowed_comes_back(db: Database) -> None:
    db.insert("b", [(1, 1.7e308), (1, 1.7e308)])
    db.insert("b", (1, 1.0))
    assert read(db, "grouped") == {(1,): (math.inf,)}
    db.delete("b", (1, 1.7e308))
    assert read(db, "grouped") == {(1,): (1.7e308,)}
    db.delete("b", (1, 1.7e308))
    assert read(db, "grouped") == {(1,): (1.0,)}
    assert read(db, "whole") == {(): (1.0, 1.0)}
    db.insert("a", [(1, 1.0, 2), (1, 1.7e308, 2)])
    db.insert("a", (1, 1.7e308, 2))
    assert read(db, "nullable") == {(1,): (math.inf, math.inf)}
    assert read(db, "joined") == {(1,): (math.inf,)}
    db.insert("b", (1, 1.0))
    db.delete("a", [(1, 1.7e308, 2), (1, 1.7e308, 2)])
    assert read(db, "nullable") == {(1,): (1.0, 1.0)}
    assert read(db, "cases") == {(1,): (1.0, -1.0)}
    assert read(db, "joined") == {(1,): (2.0,)}
    assert read(db, "apart") == {(2,): (0.0,)}
    db.delete("a", (1, 1.0, 2))
    db.delete("b", [(1, 1.0), (1, 1.0)])
    assert sizes(db) == 0


def test_a_product_that_overflowed_is_forgotten_with_its_group(db: Database) -> None:
    db.insert("b", [(1, 1.7e308), (1, 1.3e308), (1, 1e300)])
    db.insert("a", [(1, 1.7e308, 2), (1, -1.1e308, 2), (1, 1e250, 2)])
    db.delete("b", [(1, 1e300), (1, 1.3e308), (1, 1.7e308)])
    db.insert("b", (1, 0.5))
    db.delete("a", [(1, 1e250, 2), (1, 1.7e308, 2), (1, -1.1e308, 2)])
    db.insert("a", (1, 3.0, 2))
    assert read(db, "joined") == {(1,): (1.5,)}
    assert read(db, "nested") == {(): (0.25,)}
    db.delete("b", (1, 0.5))
    db.delete("a", (1, 3.0, 2))
    assert sizes(db) == 0


def test_a_sum_of_overflowing_opposites(db: Database) -> None:
    db.insert("b", [(1, 1.7e308), (1, 1.7e308), (1, -1.7e308), (1, -1.7e308), (1, 0.1)])
    assert read(db, "grouped") == {(1,): (0.1,)}


def test_a_batch_that_replaces_a_whole_group(db: Database) -> None:
    db.insert("b", [(1, 1e16), (1, 0.1)])
    db.apply({"b": [((1, 1e16), -1), ((1, 0.1), -1), ((1, 0.3), 1)]})
    assert read(db, "grouped") == {(1,): (0.3,)}


def test_large_multiplicities_of_a_value(db: Database) -> None:
    db.apply({"b": [((1, 0.1), 2**40), ((2, 0.3), 3)]})
    assert read(db, "grouped") == {
        (1,): (float(Fraction(0.1) * 2**40),),
        (2,): (float(Fraction(0.3) * 3),),
    }
    for _ in range(4):
        db.apply({"b": [((1, 0.1), -(2**38))]})
    db.apply({"b": [((2, 0.3), -1)]})
    db.apply({"b": [((2, 0.3), -2)]})
    assert sizes(db) == 0


def near(actual: float | None, exact: Fraction, seen: Fraction) -> bool:
    """Within the stated bound: of the sum itself, and of all that went into it and out of it."""
    if actual is None:
        return False
    bound = Fraction(EPS) * abs(exact) + Fraction(2.0**-104) * 100 * seen
    return abs(Fraction(actual) - exact) <= bound + Fraction(5e-324)


def test_random_streams_stay_within_the_stated_bound(db: Database) -> None:
    """Non-dyadic doubles of all sizes, once and a million times; keys die and come back."""
    draw = random.Random(7)
    a: Counter[Row] = Counter()
    b: Counter[Row] = Counter()
    seen = {"a": Fraction(0), "b": Fraction(0)}  # the absolute values of all rows that came or went
    for step in range(60):
        size = draw.choice((1, 1, 3, 8))
        change: dict[str, list[tuple[Row, int]]] = {"a": [], "b": []}
        for _ in range(size):
            name, held = draw.choice((("a", a), ("b", b)))
            if held and (draw.random() < 0.5 or step % 20 > 15):
                row = draw.choice(sorted(held, key=repr))
                change[name].append((row, -held[row]))
                seen[name] += held[row] * abs(Fraction(row[1]))
                del held[row]
            else:
                value = draw.choice((0.1, 0.7, -0.3, draw.gauss(0, 1), draw.uniform(-1, 1) * 1e9))
                value *= draw.choice((1.0, 1.0, 1e-30, 1e16))
                row = (draw.randrange(3), value)
                row += (draw.randrange(3),) if name == "a" else ()
                times = draw.choice((1, 1, 1, 3, 2**20))
                change[name].append((row, times))
                held[row] += times
                seen[name] += times * abs(Fraction(value))
        db.apply({n: rows for n, rows in change.items() if rows})
        check(db, a, b, seen)
    db.apply({"a": [(r, -n) for r, n in a.items()], "b": [(r, -n) for r, n in b.items()]})
    assert sizes(db) == 0


def check(db: Database, a: Counter[Row], b: Counter[Row], seen: dict[str, Fraction]) -> None:
    sums: dict[int, Fraction] = {}
    for (k, y), n in b.items():
        sums[k] = sums.get(k, Fraction(0)) + n * Fraction(y)
    actual = read(db, "grouped")
    assert actual.keys() == {(k,) for k in sums}
    for k, exact in sums.items():
        assert near(actual[k,][0], exact, seen["b"]), (k, actual[k,], float(exact))
    if b:
        assert near(read(db, "whole")[()][0], sum(sums.values(), Fraction(0)), seen["b"])
    joins: dict[int, Fraction] = {}
    for (k, x, _), n in a.items():
        if k in sums:
            joins[k] = joins.get(k, Fraction(0)) + n * Fraction(x) * sums[k]
    actual = read(db, "joined")
    assert actual.keys() == {(k,) for k in joins}
    for k, exact in joins.items():
        assert near(actual[k,][0], exact, seen["a"] * seen["b"]), (k, actual[k,], float(exact))
