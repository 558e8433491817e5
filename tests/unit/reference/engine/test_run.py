"""Engines: loading, changes, caches, complaints, and all or nothing."""

from __future__ import annotations

from decimal import Decimal

import pytest

from freshview.calculus.functions import BUILTINS, Function
from freshview.calculus.text import read
from freshview.calculus.types import INT
from freshview.errors import BadRow, BadValue, ProgramProblem, UnknownName
from freshview.program.check import check_program
from freshview.program.text import read_program
from freshview.reference.engine.run import Engine
from freshview.reference.oracle.evaluate import Database, evaluate

SALES = """
CREATE STREAM sale(item int, price decimal(2), note string?);
CREATE TABLE item(id int, label string);
DECLARE MAP total[item int] : decimal(2) := Sum[item](sale(item, price, note) * price);
DECLARE MAP labels[] : int := Sum[](item(id, label));
DECLARE QUERY totals(label string = label, total decimal(2) = t) :=
  item(id, label) * (t := total[id]) ORDER BY t desc, label;
ON + sale(i, p, n) { total[i] += p; }
ON - sale(i, p, n) { total[i] += -p; }
ON SYSTEM READY { labels[] := Sum[](item(id, label)); }
"""

CACHED = """
CREATE STREAM B(p int, v int);
DECLARE MAP V[p int] : int := Sum[p](B(p, v) * v);
DECLARE MAP C[q int][] : int := Sum[](B(p, v) * v * {p > q}) FILL Sum[](V[p] * {p > q});
DECLARE QUERY above(n int = n) := (n := Sum[](V[p] * C[p][]));
ON BATCH UPDATE OF B {
  C[q][] += Sum[]((DELTA B)(p, v) * v * {p > q});
  V[p] += Sum[p]((DELTA B)(p, v) * v);
}
"""

ABOVE = read("(n := Sum[](B(p, v) * v * B(p2, v2) * v2 * {p2 > p}))")


def sales() -> Engine:
    program = read_program(SALES)
    check_program(program)
    engine = Engine(program)
    engine.load({"item": [(1, "ink"), (2, "pen")]})
    return engine


def test_rows_come_in_the_query_s_order() -> None:
    engine = sales()
    engine.insert("sale", (1, Decimal("0.10"), None))
    engine.insert("sale", (1, Decimal("0.20"), "x"))
    engine.insert("sale", (2, Decimal("0.30"), None))
    assert engine.rows("totals") == [("ink", Decimal("0.30")), ("pen", Decimal("0.30"))]
    engine.delete("sale", (1, Decimal("0.10"), None))
    assert engine.rows("totals") == [("pen", Decimal("0.30")), ("ink", Decimal("0.20"))]
    assert engine.read("totals")["ink", Decimal("0.20")] == 1


def test_ready_triggers_run_once_the_tables_are_loaded() -> None:
    assert sales().contents("labels") == {(): 2}


def test_an_engine_that_is_not_loaded_starts_with_empty_tables() -> None:
    engine = Engine(read_program(SALES))
    engine.insert("sale", (1, 2, None))
    assert engine.rows("totals") == []
    with pytest.raises(ProgramProblem, match="loaded already"):
        engine.load({"item": [(1, "ink")]})


def test_a_batch_without_batch_triggers_goes_row_by_row() -> None:
    engine = sales()
    engine.apply("sale", {(1, Decimal(2), None): 3, (2, Decimal(1), None): -2})
    assert engine.contents("total") == {(1,): 6, (2,): -2}
    assert engine.state() == {"total": 2, "labels": 1}


def test_a_zero_goes() -> None:
    engine = sales()
    engine.apply("sale", [((1, 2, None), 1), ((1, 2, None), -1)])
    assert engine.contents("total") == {}


def test_work_follows_the_change() -> None:
    engine = sales()
    engine.apply("sale", [((i, 1, None), 1) for i in range(1000)])
    before = engine.work
    engine.insert("sale", (5, 1, None))
    assert engine.work - before <= 2


def test_a_cache_is_filled_on_demand_and_kept_fresh() -> None:
    program = read_program(CACHED)
    check_program(program)
    engine, rows = Engine(program), {}
    for row in [(1, 5), (2, 3), (4, 1), (2, -3), (3, 10), (9, 2)]:
        engine.apply("B", {row: 1})
        rows[row] = 1
        assert engine.read("above") == evaluate(ABOVE, Database({"B": rows}))
    assert {inputs for (inputs,) in engine.contents("C")} >= {1, 2, 3, 4}


def test_a_snapshot_keeps_caches() -> None:
    engine = Engine(read_program(CACHED))
    engine.apply("B", {(1, 5): 1, (2, 6): 1})
    engine.read("above")
    then = engine.snapshot()
    engine.apply("B", {(3, 7): 1})
    engine.restore(then)
    assert engine.contents("C") == {(1,): 6}
    assert engine.read("above") == {(30,): 1}


BROKEN = """
CREATE STREAM B(p int, v int);
DECLARE MAP V[p int] : int := Sum[p](B(p, v) * v);
DECLARE MAP W[p int] : int := Sum[p](B(p, v) * {fragile(v)});
DECLARE QUERY all(p int = p) := Exists(V[p]);
ON BATCH UPDATE OF B {
  V[p] += Sum[p]((DELTA B)(p, v) * v);
  W[p] += Sum[p]((DELTA B)(p, v) * {fragile(v)});
}
ON + B(p, v) { V[p] += v; W[p] += {fragile(v)}; }
"""


def _fragile(v: int) -> int:
    if v == 13:
        raise ArithmeticError("thirteen")
    return v


FRAGILE = BUILTINS.with_(Function("fragile", _fragile, lambda *_: INT, (1, 1)))


def test_an_error_leaves_everything_as_it_was() -> None:
    engine = Engine(read_program(BROKEN), FRAGILE)
    engine.apply("B", {(1, 5): 1})
    then = engine.snapshot()
    with pytest.raises(BadValue):
        engine.apply("B", {(1, 6): 1, (2, 13): 1})
    assert engine.snapshot() == then
    with pytest.raises(BadValue):
        engine.insert("B", (2, 13))
    assert engine.snapshot() == then
    engine.apply("B", {(2, 6): 1})
    assert engine.rows("all") == [(1,), (2,)]


def test_a_batch_is_gone_when_it_is_applied() -> None:
    engine = Engine(
        read_program(
            "CREATE STREAM R(a int); CREATE STREAM S(a int); DECLARE MAP M[a int] : int := S(a);"
            "ON BATCH UPDATE OF R { } ON BATCH UPDATE OF S { M[a] += (DELTA S)(a) + (DELTA R)(a); }"
        )
    )
    engine.apply("R", {(1,): 1})
    engine.apply("S", {(2,): 1})
    assert engine.contents("M") == {(2,): 1}


def test_a_statement_reads_its_own_target_as_it_was() -> None:
    engine = Engine(
        read_program(
            "CREATE STREAM R(a int); DECLARE MAP M[a int] : int := R(a);"
            "ON + R(x) { M[a] += M[b] * (a := b + 1); M[x] += 1; }"
        )
    )
    for _ in range(3):
        engine.insert("R", (0,))
    assert engine.contents("M") == {(0,): 3, (1,): 3, (2,): 1}


def test_replacing_the_slice_of_a_parameter() -> None:
    engine = Engine(
        read_program(
            "CREATE STREAM R(a int, b int); DECLARE MAP M[a int, b int] : int := R(a, b);"
            "ON + R(x, y) { M[x, b] := (b := y); }"
        )
    )
    for row in [(1, 1), (2, 2), (1, 3)]:
        engine.insert("R", row)
    assert engine.contents("M") == {(2, 2): 1, (1, 3): 1}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ((1, 2), "row 2 of 'sale': a row of 'sale' has 2 values; expected 3: item, price, note"),
        (
            (1, Decimal("0.001"), None),
            r"row 2 of 'sale': sale.price cannot hold Decimal\('0.001'\); expected a decimal with",
        ),
        ((None, 1, None), "row 2 of 'sale': sale.item is NOT NULL; expected a 64-bit integer"),
        ((1, 1, 5), "row 2 of 'sale': sale.note cannot hold 5; expected a text or NULL"),
    ],
)
def test_bad_rows_are_named(change: tuple, complaint: str) -> None:
    engine = sales()
    with pytest.raises(BadRow, match=complaint):
        engine.apply("sale", [((1, 1, None), 1), (change, 1)])
    assert engine.contents("total") == {}


def test_complaints() -> None:
    engine = sales()
    with pytest.raises(BadRow, match=r"the count of row 1 of 'sale' is 1\.5; give an integer"):
        engine.apply("sale", [((1, 1, None), 1.5)])
    with pytest.raises(UnknownName, match="there is no relation 'nosuch'; declare it first"):
        engine.insert("nosuch", (1,))
    with pytest.raises(UnknownName, match="there is no query 'q'; the queries are: totals"):
        engine.read("q")
    with pytest.raises(ProgramProblem, match="'item' is a static table; give its rows to load"):
        engine.insert("item", (1, "x"))
    with pytest.raises(ProgramProblem, match="'sale' is a stream; apply its rows"):
        Engine(read_program(SALES)).load({"sale": []})
    with pytest.raises(ProgramProblem, match="does not say what to do on delete of 'R'"):
        Engine(read_program("CREATE STREAM R(a int); ON + R(a) { }")).delete("R", (1,))
    with pytest.raises(ProgramProblem, match="view cache 'C' does not say how it is filled"):
        Engine(read_program("DECLARE MAP C[p int][] : int := p;"))
