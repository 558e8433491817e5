"""The listings of Valeanu 2018, 4.8 and 4.9: the same statements, up to the names of functions."""

from __future__ import annotations

import re

import pytest

from freshview.algebra import Pair
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Apply, Var
from freshview.calculus.types import DOUBLE, INT
from freshview.factorized.compile import compile_joins
from freshview.factorized.dtree import read_dtree
from freshview.factorized.hybrid import hybrid
from freshview.factorized.listing import listing as make_listing
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.terms import Join, natural_join
from freshview.program.check import check_program
from freshview.program.read_m3 import read_m3
from freshview.program.show_m3 import show_m3

DTREE = """6 3
0 A int -1 {} 0
1 B double 0 {0} 0
2 C int 0 {0} 0
3 D int 2 {2} 0
4 E int 2 {0,2} 0
5 F double 1 {0,1} 0
R 5 A,B,F
S 4 A,C,E
T 3 C,D
"""


class Ring(Pair):
    """The ring of the thesis's listing 4.1, under its name."""


def functions() -> Functions:
    known = BUILTINS
    for v in "ABFD":
        known = known.with_lift(f"f_{v}", Ring, Ring.of)
    return known


def relations(static: str = "") -> tuple[Relation, ...]:
    doubles = {"B", "F"}
    return tuple(
        Relation(n, tuple(Column(c, DOUBLE if c in doubles else INT) for c in cs), n in static)
        for n, cs in (("R", "ABF"), ("S", "ACE"), ("T", "CD"))
    )


def join() -> Join:
    lifts = tuple(Apply(f"f_{v}", (Var(v),), "Ring") for v in "ABFD")
    return natural_join(relations(), (), lifts)


def listing(*, inline: bool, static: str = "") -> str:
    tree = hybrid("Q", join(), read_dtree(DTREE).order, relations(static))
    program = make_listing([tree], relations(static), {}, functions(), inline=inline)
    text = show_m3(program)
    assert read_m3(text) == program
    return text


def trigger(text: str, relation: str) -> list[str]:
    """The statements of a batch, each on one line."""
    [body] = re.findall(rf"ON BATCH UPDATE OF {relation} \{{\n(.*?)\n\}}", text, re.DOTALL)
    flat = re.sub(r"\s+", " ", body).replace("( ", "(").replace(" )", ")")
    return [f"{s.strip()};" for s in flat.split(";") if s.strip()]


UNOPTIMIZED = [
    "DELTA_AGG_VIEW_B(Ring)[][A] := "
    "AggSum([A], ((DELTA R)(A, B, F) * ([f_B: Ring](B) * [f_F: Ring](F))));",
    "AGG_VIEW_B(Ring)[][A] += DELTA_AGG_VIEW_B(Ring)[][A];",
    "DELTA_AGG_VIEW_A(Ring)[][] := AggSum([], "
    "((DELTA_AGG_VIEW_B(Ring)[][A] * AGG_VIEW_C(Ring)[][A]) * [f_A: Ring](A)));",
    "AGG_VIEW_A(Ring)[][] += DELTA_AGG_VIEW_A(Ring)[][];",
]


def test_listings_4_11_and_4_14_batch_trigger_of_r() -> None:
    assert trigger(listing(inline=False), "R") == UNOPTIMIZED


def test_listing_4_15_a_map_that_is_read_once_is_inlined() -> None:
    assert trigger(listing(inline=True), "R") == [
        *UNOPTIMIZED[:2],
        "AGG_VIEW_A(Ring)[][] += AggSum([], "
        "((DELTA_AGG_VIEW_B(Ring)[][A] * AGG_VIEW_C(Ring)[][A]) * [f_A: Ring](A)));",
    ]


def test_listing_4_12_maps() -> None:
    text = listing(inline=False)
    for line in (
        "DECLARE MAP AGG_VIEW_D(Ring)[][C: int] := AggSum([C], (T(C, D) * [f_D: Ring](D)));",
        "DECLARE MAP DELTA_AGG_VIEW_D(Ring)[][C: int] := "
        "AggSum([C], ((DELTA T)(C, D) * [f_D: Ring](D)));",
    ):
        assert line in text
    assert "DECLARE MAP VIEW_T(long)[][C: int, D: int] := 0L;" in listing(inline=True, static="T")
    assert trigger(text, "T")[0] == (
        "DELTA_AGG_VIEW_D(Ring)[][C] := AggSum([C], ((DELTA T)(C, D) * [f_D: Ring](D)));"
    )
    assert "DECLARE QUERY Q := AGG_VIEW_A(Ring)[][];" in text


def test_listing_4_1_only_r_changes() -> None:
    """With S and T static, V_ST is filled once, and V_R is not kept: nothing beside it changes."""
    text = listing(inline=True, static="ST")
    assert "CREATE STREAM R(A int, B double, F double);" in text
    assert "CREATE TABLE T(C int, D int);" in text
    assert "AGG_VIEW_B(Ring)[][A: int]" not in text
    assert "ON SYSTEM READY {" in text
    [only] = trigger(text, "R")
    assert only.startswith("AGG_VIEW_A(Ring)[][] += AggSum([], (AggSum([A], ((DELTA R)(A, B, F)")


def test_the_program_that_runs_keeps_the_same_views() -> None:
    options = ViewTreeOptions(orders={"Q": read_dtree(DTREE).order})
    program = compile_joins({"Q": join()}, relations(), options, functions())
    check_program(program, functions())
    text = listing(inline=False)
    declared = re.findall(r"DECLARE MAP AGG_VIEW_(\w)\(", text)
    kept = [m.name[-1] for m in program.maps if m.name != "Q"]
    assert sorted(declared) == sorted([*kept, "A"])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("6 3", "7 3", "7 variables and 3 relations are announced, 9 lines follow"),
        ("6 3", "six", "begins with the numbers"),
        ("0 A int -1 {} 0", "1 A int -1 {} 0", "'A' has id 1, 0 is next"),
        ("4 E int 2 {0,2} 0", "4 E int 2 {2} 0", "dtree:6:1: 'E' depends on A, which its set"),
        ("S 4 A,C,E", "S 3 A,C,E", "dtree:9:1: S hangs under 'D', its lowest variable is 'E'"),
        ("T 3 C,D", "T 3 B,D", "T has 'B' and 'D' on two branches of the variable order"),
        ("T 3 C,D", "T 3 C,G", "variable 'G' of T is not among the variables"),
        ("1 B double 0 {0} 0", "1 B double 9 {0} 0", "there is no variable with id 9"),
        ("1 B double 0 {0} 0", "1 B double", "'1 B double' is not a variable"),
    ],
)
def test_a_dtree_file_that_is_wrong_says_where(old: str, new: str, said: str) -> None:
    with pytest.raises(Exception, match=re.escape(said)):
        read_dtree(DTREE.replace(old, new), "dtree")
