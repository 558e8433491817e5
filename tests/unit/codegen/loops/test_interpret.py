"""What single statements do, on a few records."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.terms import View
from freshview.calculus.types import DOUBLE, INT, STRING, decimal
from freshview.codegen.layout.text import read as read_layout
from freshview.codegen.loops.interpret.engine import Interpreter
from freshview.codegen.loops.read import read
from freshview.errors import Overflow, UnknownName
from freshview.program.terms import Program

NULLABLE = INT.or_null()
R = Relation("R", (Column("a", NULLABLE), Column("b", INT)))
TEXTS = Relation("T", (Column("a", STRING),))
NUMBERS = Relation("N", (Column("a", DOUBLE), Column("b", decimal(2))))
ANSWER = Query("q", (Column("x", NULLABLE), Column("y", NULLABLE)), ("x", "y"), View("M", ()))
LAYOUT = """
    table m [int?, int] : [int]
      index k1
      order k0, k1
    table t [string] : [int]
    table d [double] : [double]
    transient tmp0 [int?, int] : [int]
"""
FOLLOW = """
    relation on_R of R {
      batch i of R { at w in m[i.c0, i.c1] { gain w.p0 += i.count } }
    }
    relation on_T of T {
      batch i of T { intern y = i.c0 at w in t[y] { gain w.p0 += i.count } }
    }
    relation on_N of N {
      batch i of N { at w in d[i.c0] { gain w.p0 += i.c0 * i.count } }
    }
    ready ready { }
"""
ROWS = [((1, 5), 2), ((1, 6), 1), ((2, 5), 1), ((None, 9), 1), ((3, 1), -1)]


def engine(body: str, functions: str = "") -> Interpreter:
    program = Program((R, TEXTS, NUMBERS), (), (), (ANSWER,))
    loops = read(f"{FOLLOW} {functions} read read_q of q {{ {body} }}")
    return Interpreter(program, read_layout(LAYOUT), loops)


def answer(body: str, rows: Any = ROWS) -> dict[Any, Any]:
    e = engine(body)
    e.apply({"R": rows})
    return e.read("q")


def out(x: str, y: str, n: str) -> str:
    return f"output q({x} : int?, {y} : int?) += {n}"


def test_records_come_and_go() -> None:
    e = engine(f"scan r in m {{ {out('r.k0', 'r.k1', 'r.p0')} }}")
    e.apply({"R": [((1, 5), 2), ((1, 5), -1), ((2, 5), 1)]})
    e.apply({"R": [((2, 5), -1)]})
    assert e.read("q") == {(1, 5): 1}
    assert len(e.state.tables["m"].records) == 1


def test_a_row_that_counts_for_less_than_nothing_is_not_put_out() -> None:
    assert (3, 1) not in answer(f"scan r in m {{ {out('r.k0', 'r.k1', 'r.p0')} }}")


def test_get_slice_and_null() -> None:
    assert answer(f"get r in m[null, 9] {{ {out('r.k0', 'r.k1', 'r.p0')} }}") == {(None, 9): 1}
    assert answer(f"get r in m[7, 9] {{ {out('r.k0', 'r.k1', 'r.p0')} }}") == {}
    sliced = answer(f"slice r in m by k1 = 5 {{ {out('r.k0', 'r.k1', 'r.p0')} }}")
    assert sliced == {(1, 5): 2, (2, 5): 1}


def test_a_total_of_what_is_tallied() -> None:
    body = f"total t : int {{ scan r in m {{ tally r.p0 * r.k1 }} }} {out('t', '0', '1')}"
    assert answer(body) == {(10 + 6 + 5 + 9 - 1, 0): 1}


def test_null_counts_for_nothing() -> None:
    body = f"total t : int {{ scan r in m {{ tally r.k0 }} }} {out('t', '0', '1')}"
    assert answer(body) == {(1 + 1 + 2 + 3, 0): 1}


@pytest.mark.parametrize(
    ("ends", "keys"),
    [
        ("", [None, 1, 1, 2, 3]),
        ("from { if {k.k0 > 1} { answer } }", [2, 3]),
        ("to { if {coalesce(k.k0, 0) < 2} { answer } }", [None, 1, 1]),
        ("from { if {k.k0 > 0} { answer } } to { if {k.k0 < 3} { answer } }", [1, 1, 2]),
    ],
)
def test_ranges_follow_the_order(ends: str, keys: list[int | None]) -> None:
    body = f"walk r of k in m sorted k0, k1 {{ {ends} do {{ {out('r.k0', 'r.k1', '1')} }} }}"
    assert [row[0] for row in answer(body)] == keys
    total = f"sum s of k in m sorted k0, k1 {{ {ends} }} {out('s.p0', '0', '1')}"
    counts = dict(ROWS)
    rows = sorted(counts, key=lambda r: (r[0] is not None, r))
    [(number, _)] = answer(total)
    assert number == sum(counts[r] for r in rows if r[0] in keys)


@pytest.mark.parametrize(
    ("how", "chosen"),
    [
        ("first 1 of p0 r in m sorted k0, k1", {(None, 9): 1}),
        ("first 2 of p0 r in m sorted k0, k1 nulls last", {(1, 5): 2}),
        ("first 1 of p0 r in m sorted k0, k1 backward", {(2, 5): 1}),
        ("first 2 of p0 r in m sorted k0, k1 backward nulls first", {(None, 9): 1, (2, 5): 1}),
        ("first 2 of p0 r in m sorted k0, k1 known k0 = 1 backward", {(1, 6): 1, (1, 5): 1}),
        ("first 2 of p0 once r in m sorted k0, k1 known k0 = 1", {(1, 5): 1, (1, 6): 1}),
        ("first 0 of p0 r in m sorted k0, k1", {}),
    ],
)
def test_first_rows(how: str, chosen: dict[Any, int]) -> None:
    assert answer(f"{how} {{ {out('r.k0', 'r.k1', 'r.n')} }}") == chosen


COLLECT = "collect tmp0 [int?, int] : [int] { %s at w in tmp0[1, 5] { gain w.p0 += %s } }"


def test_first_rows_among_others() -> None:
    body = "first 4 of p0 r in m sorted k0, k1 known k0 = 1 plus tmp0 by k0, k1"
    more = COLLECT % ("", "1")
    rows = answer(f"{more} {body} {{ {out('r.k0', 'r.k1', 'r.n')} }}")
    assert rows == {(1, 5): 3, (1, 6): 1}
    less = COLLECT % ("", "(-2)")
    assert answer(f"{less} {body} {{ {out('r.k0', 'r.k1', 'r.n')} }}") == {(1, 6): 1}


@pytest.mark.parametrize(
    ("how", "chosen"),
    [
        ("choose 1 r in tmp0 sorted k0, k1", {(1, 5): 1}),
        ("choose 1 r in tmp0 sorted k0 nulls first, k1", {(None, 9): 1}),
        ("choose 1 r in tmp0 sorted k0 falling nulls first", {(None, 9): 1}),
        (
            "choose 2 r in tmp0 by k0 sorted k1 falling",
            {(None, 9): 1, (1, 6): 1, (1, 5): 1, (2, 5): 1},
        ),
        ("choose 1 r in tmp0 by k1 sorted k0 falling", {(2, 5): 1, (1, 6): 1, (None, 9): 1}),
    ],
)
def test_first_of_groups(how: str, chosen: dict[Any, int]) -> None:
    copy = "scan r in m { at w in tmp0[r.k0, r.k1] { gain w.p0 += r.p0 } }"
    fill = f"collect tmp0 [int?, int] : [int] {{ {copy} }}"
    assert answer(f"{fill} {how} {{ {out('r.k0', 'r.k1', 'r.n')} }}") == chosen


def test_each_group_and_turns() -> None:
    """What one group has learned of where a condition turns, the next one does not ask again."""
    body = (
        "turn u : int turn v : int groups g by k0 in m sorted k0, k1 { "
        "sum s of k in m sorted k0, k1 known k0 = g.k0 turns u, v "
        f"{{ from {{ if {{k.k1 > 5}} {{ answer }} }} }} {out('g.k0', 's.p0', '1')} }}"
    )
    assert answer(body) == {(None, 1): 1, (1, 1): 1, (2, 0): 1, (3, 0): 1}


def test_tests() -> None:
    for test, holds in {
        "nonnegative p0 of m": False,
        "missing m[1, 5]": False,
        "missing m[1, 7]": True,
        "missing m[1, 5] where ({1 > 2})": True,
        "same k0 of m : 1 = 1.00": True,
        "there 0": False,
        "nonzero 2": True,
        "{null = null} and {null <= 1}": False,
        "always": True,
    }.items():
        rows = answer(
            f"if {test} {{ {out('1', '1', '1')} }} unless {test} {{ {out('0', '0', '1')} }}"
        )
        assert rows == {(int(holds), int(holds)): 1}, test


def test_texts_are_known_once_a_row_had_them() -> None:
    e = engine(f"find y : string = 'a' {{ {out('1', '1', '1')} }}")
    assert e.read("q") == {}
    e.apply({"T": [(("a",), 1)]})
    e.apply({"T": [(("a",), -1)]})
    assert e.read("q") == {(1, 1): 1}


def test_digits_that_fit() -> None:
    assert answer(f"find y : int = 1.00 {{ {out('y', '0', '1')} }}") == {(1, 0): 1}
    assert answer(f"find y : int = 1.50 {{ {out('y', '0', '1')} }}") == {}
    assert answer(f"look y : int = 1.50 if fits y {{ {out('1', '1', '1')} }}") == {}


def test_sums_of_doubles_forget_what_has_gone() -> None:
    e = engine("")
    e.apply({"N": [((1e300, 1), 1), ((0.1, 1), 3)]})
    e.apply({"N": [((1e300, 1), -1), ((0.1, 1), -2)]})
    assert [r.payloads for r in e.state.tables["d"].records.values()] == [[0.1]]
    e.apply({"N": [((0.1, Decimal("1.00")), -1)]})
    assert not e.state.tables["d"].records


def test_signs_in_turn_and_times() -> None:
    layout = read_layout("table m [int] : [int]")
    text = """
        relation on_R of R {
          batch i of R in turn {
            times insert i { at w in m[1] { gain w.p0 += 1 } }
            times delete i { at w in m[2] { gain w.p0 += 1 } }
            times either i as s { at w in m[3] { gain w.p0 += s } }
            at w in m[4] { assign w.p0 := i.c1 }
          }
        }
        ready ready { }
    """
    e = Interpreter(Program((R,), (), (), ()), layout, read(text))
    e.apply({"R": [((0, 7), 3), ((0, 8), -2)]})
    assert {r.values[0]: r.payloads[0] for r in e.state.tables["m"].records.values()} == {
        1: 3,
        2: 2,
        3: 1,
        4: 7,
    }


def test_what_is_stale_is_recomputed_once() -> None:
    more = "refresh refresh { at w in t['x'] { gain w.p0 += 1 } } after after { stale M }"
    e = engine(f"call refresh scan r in t {{ {out('r.p0', '0', '1')} }}", more)
    assert e.read("q") == {}
    e.state.stale = True
    assert e.read("q") == e.read("q") == {(1, 0): 1}


def test_a_record_is_found_by_what_determines_it() -> None:
    layout = read_layout("table m [int, int] : [int] key k1")
    follow = (
        "relation on_R of R { batch i of R { at w in m[i.c0, i.c1] { gain w.p0 += i.count } } }"
    )
    read_q = f"read read_q of q {{ get r in m[5] {{ {out('r.k0', 'r.k1', 'r.p0')} }} }}"
    e = Interpreter(
        Program((R,), (), (), (ANSWER,)), layout, read(f"{follow} ready ready {{ }} {read_q}")
    )
    e.apply({"R": [((1, 5), 1), ((2, 6), 1)]})
    assert e.read("q") == {(1, 5): 1}


def test_a_change_that_fails_changes_nothing() -> None:
    e = engine(f"scan r in m {{ {out('r.k0', 'r.k1', 'r.p0')} }}")
    e.apply({"R": [((1, 5), 2)]})
    with pytest.raises(Overflow, match="out of its range"):
        e.apply({"R": [((2, 5), 1), ((1, 5), 2**63)]})
    assert e.read("q") == {(1, 5): 2}
    with pytest.raises(UnknownName):
        e.apply({"X": []})


def test_keys_are_of_the_types_of_their_columns() -> None:
    layout = read_layout("table m [timestamp] : [int]")
    text = "relation on_R of R { } ready ready { at w in m[date '2020-01-02'] { gain w.p0 += 1 } }"
    e = Interpreter(Program((R,), (), (), ()), layout, read(text))
    e.load()
    [record] = e.state.tables["m"].records.values()
    assert record.values == (datetime(2020, 1, 2),) != (date(2020, 1, 2),)
