"""Rows that only add to one table are added up by key, a block at a time."""

from __future__ import annotations

import pytest

from freshview.calculus.types import DATE, DOUBLE, INT, Type
from freshview.codegen.kernel.source import emit
from freshview.codegen.layout.terms import Layout, Table
from freshview.codegen.loops.read import read
from freshview.codegen.loops.terms import Batch, Function, Loops
from freshview.codegen.loops.text import show
from freshview.codegen.options import KernelPasses
from freshview.codegen.passes.preaggregate import preaggregate
from freshview.ivm.options import DeltaOptions
from tests.differential.harness import case, compiled

TEXT = Type("string")
COLUMNS = {"r": (INT, INT, TEXT, DOUBLE, DATE, DOUBLE.or_null())}
LAYOUT = Layout(
    {
        "m": Table("m", (INT,), (INT, INT)),
        "t": Table("t", (TEXT, DATE), (INT,)),
        "f": Table("f", (DOUBLE,), (INT,)),
        "d": Table("d", (INT,), (DOUBLE,)),
        "k": Table("k", (INT, INT), (INT,), determining=(0,)),
        "tmp": Table("tmp", (INT,), (INT,), transient=True),
    },
    {},
)


def passed(text: str) -> Batch:
    [f] = read(f"relation on_r of r {{ {text} }}").functions
    [s] = preaggregate(f.body, LAYOUT, COLUMNS)
    assert isinstance(s, Batch)
    return s


ADDED = (
    "batch i of r { at w in m[i.c0] { gain w.p0 += i.count gain w.p1 += i.count * (1 - i.c1) } }",
    "batch i of r where {i.c3 > 0.5} { let s = i.count group { does 'x' at w in m[i.c0] "
    "{ gain w.p0 += s } } }",
    "batch i of r { intern x = i.c2 at w in t[x, i.c4] { gain w.p0 += i.count } }",
    "batch i of r { at w in m[i.c0 + i.c1] { gain w.p0 += i.count } }",
    "batch i of r { at w in d[i.c0] { gain w.p0 += i.c3 } }",
    "batch i of r { at w in d[i.c0] { gain w.p0 += i.count * (i.c3 * i.c3) * i.c1 } }",
)


@pytest.mark.parametrize("text", ADDED)
def test_what_rows_only_add_is_added_up_first(text: str) -> None:
    s = passed(text)
    assert s.preaggregated
    loops = Loops((Function("on_r", "relation", "r", (s,)),))
    assert " preaggregated {" in show(loops)
    assert read(show(loops)) == loops


OTHERS = {
    "another table is asked": "batch i of r { get g in d[i.c0] { at w in m[i.c0] "
    "{ gain w.p0 += i.count } } }",
    "a test inside": "batch i of r { if {i.c1 > 0} { at w in m[i.c0] { gain w.p0 += i.count } } }",
    "two records": "batch i of r { at w in m[i.c0] { gain w.p0 += i.count } "
    "at v in m[i.c1] { gain v.p0 += i.count } }",
    "something is set": "batch i of r { at w in m[i.c0] { assign w.p0 := i.count } }",
    "sums of doubles are added": "batch i of r { at w in d[i.c0] { gain w.p0 += (i.c3 + i.c3) } }",
    "a double that may be NULL is added": "batch i of r { at w in d[i.c0] { gain w.p0 += i.c5 } }",
    "a decimal is added to doubles": "batch i of r { at w in d[i.c0] { gain w.p0 += i.c3 * 0.5 } }",
    "too much is added to a double": "batch i of r { at w in d[i.c0] { "
    + "gain w.p0 += i.c3 " * 9
    + "} }",
    "a double is the key": "batch i of r { at w in f[i.c3] { gain w.p0 += i.count } }",
    "the count is the key": "batch i of r { at w in m[i.count] { gain w.p0 += i.count } }",
    "a function is added": "batch i of r { at w in m[i.c0] { gain w.p0 += abs(i.c1) } }",
    "a large constant is added": "batch i of r { at w in m[i.c0] { gain w.p0 += "
    "4611686018427387904 } }",
    "a part of the keys finds the record": "batch i of r { at w in k[i.c0, i.c1] "
    "{ gain w.p0 += i.count } }",
    "deletions come first": "batch i of r in turn { at w in m[i.c0] { gain w.p0 += i.count } }",
    "the table is transient": "batch i of r { at w in tmp[i.c0] { gain w.p0 += i.count } }",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=list(OTHERS))
def test_other_loops_stay_as_they_are(text: str) -> None:
    assert not passed(text).preaggregated


def test_rows_of_static_tables_stay_as_they_are() -> None:
    [f] = read(f"relation on_r of r {{ {ADDED[0]} }}").functions
    assert preaggregate(f.body, LAYOUT, {}) == f.body


def test_the_switch_turns_it_off() -> None:
    c = case("tpch_papers", "q01")
    program = compiled(c, DeltaOptions(mode="tuple"))
    assert "Groups<6> groups;" in emit(program, c.catalog.functions)
    without = emit(program, c.catalog.functions, KernelPasses(preaggregate=False))
    assert "Groups<" not in without
    assert "preaggregate.hpp" not in without
