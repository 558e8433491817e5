"""M3 in the syntax of the papers: what is read, and what is refused with its place."""

from __future__ import annotations

import pytest

from freshview.errors import FreshviewError
from freshview.program.read_m3 import read_m3
from freshview.program.show_m3 import show_m3

TEXT = """\
-- The batch trigger of R, Valeanu 2018, listing 4.11.
CREATE TYPE Ring FROM FILE 'ring.hpp';
CREATE STREAM R(A int, B double, F double);
CREATE TABLE T(C long, D decimal(2), N string, W date);
DECLARE MAP VIEW_T(long)[][C: int, D: decimal(2)] := 0L;
DECLARE MAP AGG_VIEW_B(Ring)[][A: int] := AggSum([A], (R(A, B, F) * [f_B: Ring](B)));
DECLARE MAP DELTA_AGG_VIEW_B(Ring)[][A: int] :=
  AggSum([A], ((DELTA R)(A, B, F) * ([f_B: Ring](B) * [f_F: Ring](F))));
DECLARE MAP AGG_VIEW_A(Ring)[][] := AggSum([], (AGG_VIEW_B(Ring)[][A] * [f_A: Ring](A)));
DECLARE MAP SCALED(decimal(2))[][] := AggSum([], ((VIEW_T(long)[][C, D] * {C > 3}) * (D - 2)));
DECLARE MAP THERE(long)[][A: int] := Exists(AggSum([A], R(A, B, F))) * {[abs](A) <> -1};
DECLARE QUERY 'the sum' := AGG_VIEW_A(Ring)[][];
ON SYSTEM READY { SCALED(decimal(2))[][] := AggSum([], (VIEW_T(long)[][C, D] * D)); }
ON BATCH UPDATE OF R {
  DELTA_AGG_VIEW_B(Ring)[][A] := AggSum([A], ((DELTA R)(A, B, F) * [f_B: Ring](B)));
  AGG_VIEW_B(Ring)[][A] += DELTA_AGG_VIEW_B(Ring)[][A];
}
"""


def test_a_listing_reads_and_prints() -> None:
    program = read_m3(TEXT)
    assert program.types == (("Ring", "ring.hpp"),)
    assert [m.name for m in program.maps][:2] == ["VIEW_T", "AGG_VIEW_B"]
    assert str(program.maps[4].payload) == "decimal(2)"
    assert read_m3(show_m3(program)) == program


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        ("ON BATCH", "ON FULL", "14:4", "expected BATCH UPDATE OF or SYSTEM READY"),
        ("+= DELTA", "-= DELTA", "16:25", "expected += or :="),
        ("(VIEW_T(long)[][C, D] * {C > 3})", "(VIEW_T(long)[][C, D] * )", "10:75", "a term"),
        ("{C > 3}", "{C}", "10:77", "a comparison"),
        ("CREATE TABLE T", "CREATE INDEX T", "4:8", "TYPE, STREAM or TABLE"),
        ("'ring.hpp'", "ring", "2:28", "the path of a header"),
        ("[f_A: Ring](A)", "[f_A: Ring]", "9:84", "expected '('"),
        ("C: int, D", "C int, D", "5:30", "expected ':'"),
        ("DECLARE QUERY", "DECLARE VIEW", "12:1", "DECLARE MAP, DECLARE QUERY or ON"),
        ("-- The", "# The", "1:1", "cannot read '#'"),
    ],
)
def test_a_mistake_is_told_with_its_place(old: str, new: str, place: str, said: str) -> None:
    assert old in TEXT
    with pytest.raises(FreshviewError) as caught:
        read_m3(TEXT.replace(old, new, 1), "q.m3")
    assert str(caught.value).startswith(f"q.m3:{place}: "), caught.value
    assert said in str(caught.value)


def test_an_unknown_map_is_refused() -> None:
    with pytest.raises(FreshviewError, match="there is no map 'AGG_VIEW_Z'; declare it"):
        read_m3(TEXT.replace("AGG_VIEW_B(Ring)[][A] +=", "AGG_VIEW_Z(Ring)[][A] +="))
