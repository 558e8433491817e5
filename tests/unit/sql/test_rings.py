"""Rings in SQL: CREATE TYPE, lifting functions, and scripts of aggregates over joins."""

from __future__ import annotations

from pathlib import Path

import pytest

import freshview
from freshview.algebra import Pair
from freshview.calculus.text import show
from freshview.errors import FreshviewError
from freshview.sql.cpp_header import scan
from freshview.sql.join_aggregates import load_joined
from freshview.sql.load import load

SCHEMA = "CREATE STREAM r (a INT, b INT, d DATE); CREATE TABLE s (a INT, c DOUBLE);"
HEADER = """
struct Avg { long n; static Avg zero; Avg& operator += (const Avg& r); };
Avg operator * (const Avg& l, const Avg& r);
Avg operator * (int alpha, const Avg& r);
Avg f(int x) { return Avg(); }  // Avg g(int x);
Avg both(int x, double y);
"""


def test_a_ring_is_summed_up() -> None:
    db = freshview.connect(engine="reference")
    db.execute(SCHEMA + "CREATE VIEW v AS SELECT a, SUM([pair: Pair](b)) AS p FROM r GROUP BY a")
    db.insert("r", [(1, 2, None), (1, 3, None), (2, None, None)])
    assert dict(db.view("v").rows()) == {1: Pair(2, 5), 2: 0}


def test_a_header_says_which_functions_lift() -> None:
    assert scan(HEADER, "Avg").functions == (("f", 1), ("both", 2))


def test_a_type_is_declared_by_its_header(tmp_path: Path) -> None:
    (tmp_path / "avg.hpp").write_text(HEADER)
    script = tmp_path / "q.sql"
    text = SCHEMA + "CREATE TYPE Avg FROM FILE \"'avg.hpp'\"; SELECT SUM([f: Avg](b)) FROM r"
    script.write_text(text)
    catalog, [query] = load(text, str(script))
    assert str(query.columns[0].type) == "ring(Avg)"
    assert catalog.types["Avg"].path == "avg.hpp"


def test_the_reference_engine_does_not_run_a_header(tmp_path: Path) -> None:
    (tmp_path / "avg.hpp").write_text(HEADER)
    script = tmp_path / "q.sql"
    script.touch()
    text = SCHEMA + "CREATE TYPE Avg FROM FILE 'avg.hpp'; CREATE VIEW v AS SELECT SUM([f: Avg](b))"
    db = freshview.connect(engine="reference")
    with pytest.raises(FreshviewError, match=r"C\+\+ in 'avg.hpp': only kernels run it") as caught:
        db.execute(text + " FROM r", str(script))
    assert "engine='native'" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("struct P {};", "'ring.hpp' declares no type Avg; it declares P: use that name"),
        ("int x;", "it declares no type"),
        ("struct Avg { static Avg zero; };", "has no operator +="),
        ("struct Avg { Avg& operator+=(Avg); static Avg zero; };", "has no operator *"),
    ],
)
def test_a_header_that_is_no_ring_is_refused(text: str, said: str) -> None:
    with pytest.raises(FreshviewError) as caught:
        scan(text, "Avg")
    assert said in str(caught.value)


LIFTS: tuple[tuple[str, str, str], ...] = (
    ("SELECT SUM([pair: Ring](b)) FROM r", "1:12", "'pair' lifts into the ring Pair"),
    ("SELECT SUM([pear: Pair](b)) FROM r", "1:12", "no lifting function 'pear'"),
    ("SELECT SUM([pair: Pair](b, a)) FROM r", "1:12", "takes 1 arguments, 2 are given"),
    ("SELECT SUM([pair: Pair] + 1) FROM r", "1:12", "write [function: Ring](column, ...)"),
    ("SELECT SUM([pair:](b)) FROM r", "1:12", "this is not a lifting function"),
    ("SELECT SUM([pair: Pair](b) / 2) FROM r", "1:12", "needs numbers, not ring"),
    ("SELECT SUM([pair: Pair](b) * 1.5) FROM r", "1:12", "do not go together"),
    ("SELECT MAX([pair: Pair](b)) FROM r", "1:8", "MAX of a ring is not supported"),
    ("SELECT a,\n  [pair: Pair](b) FROM r", "2:3", "outside of SUM"),
    ("SELECT a FROM r WHERE [pair: Pair](b) > 3", "1:23", "no order"),
    ("SELECT a FROM r GROUP BY [pair: Pair](b)", "1:", "outside of SUM"),
    ("CREATE TYPE Ring FROM 'x'", "1:23", "write CREATE TYPE Ring FROM FILE 'ring.hpp'"),
    ("CREATE TYPE Ring FROM FILE x", "1:28", "the path of a header"),
    ("CREATE TYPE Ring FROM FILE 'no.hpp'", "1:13", "'no.hpp' of the type Ring cannot be read"),
    ("CREATE TYPE Ring FROM FILE 'x' NOW", "1:32", "'NOW' is not supported after the header"),
)


@pytest.mark.parametrize(("sql", "place", "said"), LIFTS)
def test_what_is_no_ring_is_refused(sql: str, place: str, said: str) -> None:
    catalog, _ = load(SCHEMA)
    with pytest.raises(FreshviewError) as caught:
        load(sql, "q.sql", catalog)
    assert str(caught.value).startswith(f"q.sql:{place}"), caught.value
    assert said in str(caught.value)


def test_a_select_is_aggregates_over_a_join() -> None:
    _, [joined] = load_joined(
        SCHEMA + "CREATE VIEW v (x, n, t) AS"
        " SELECT b, COUNT(*), SUM(2 * r.a * (c + 1) * (c * 3)) FROM r JOIN s ON r.a = s.a"
        " WHERE b > 3 AND d = DATE '2020-01-01' GROUP BY b"
    )
    assert (joined.name, joined.keys) == ("v", (("x", "b"),))
    assert [show(a) for a in joined.atoms] == ["r(a, b, d)", "s(a, c)"]
    assert [show(t) for t in joined.tests] == ["{b > 3}", "{d = date '2020-01-01'}"]
    assert [(n, [show(f) for f in fs]) for n, fs in joined.sums] == [
        ("n", []),
        ("t", ["2 * a", "c + 1.0e0", "3.0e0 * c"]),
    ]


def test_equal_names_of_other_columns_stay_apart() -> None:
    _, [joined] = load_joined(SCHEMA + "SELECT SUM(x.b * y.b) FROM r x JOIN r y ON x.a = y.a")
    assert [show(a) for a in joined.atoms] == ["r(a, x_b, x_d)", "r(a, y_b, y_d)"]


JOINED: tuple[tuple[str, str, str], ...] = (
    ("SELECT a FROM r", "1:1", "a SELECT without SUM or COUNT"),
    ("SELECT a, COUNT(*) FROM r", "1:8", "'a' is neither in GROUP BY nor inside SUM"),
    ("SELECT *, COUNT(*) FROM r", "1:8", "* is not kept by a view tree"),
    ("SELECT AVG(a) FROM r", "1:8", "write SUM([pair: Pair](x)), which is count and sum"),
    ("SELECT MIN(a) FROM r", "1:8", "MIN is not kept by a view tree; use another strategy"),
    ("SELECT COUNT(DISTINCT a) FROM r", "1:8", "COUNT(DISTINCT ...) is not kept"),
    ("SELECT a, COUNT(*) FROM r GROUP BY a HAVING a > 1", "1:1", "HAVING is not kept"),
    ("SELECT a + 1, COUNT(*) FROM r GROUP BY a + 1", "1:", "an expression as a key"),
    ("SELECT COUNT(*) FROM r LEFT JOIN s ON r.a = s.a", "1:1", "an outer join is not kept"),
    ("SELECT COUNT(*) FROM (SELECT a FROM r) x", "1:1", "a subquery"),
    ("SELECT SUM(a) + 1 FROM r", "1:8", "SUM is not allowed here"),
    ("SELECT SUM(d) FROM r", "1:12", "a value of type date"),
    ("SELECT SUM(z) FROM r", "1:12", "no column 'z'"),
    ("SELECT COUNT(*) FROM r ORDER BY 1", "1:1", "ORDER BY is not kept"),
    ("CREATE VIEW v (x, y) AS SELECT COUNT(*) FROM r", "1:13", "1 columns, 2 names"),
)


@pytest.mark.parametrize(("sql", "place", "said"), JOINED)
def test_more_than_a_join_is_refused(sql: str, place: str, said: str) -> None:
    with pytest.raises(FreshviewError) as caught:
        load_joined(sql, "q.sql", load_joined(SCHEMA)[0])
    assert str(caught.value).startswith(f"q.sql:{place}"), caught.value
    assert said in str(caught.value)
