"""Programs of several views as one: what is shared, what stays apart, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from freshview.calculus.schema import Relation
from freshview.errors import ProgramProblem, UnknownName
from freshview.factorized import compile as factorized
from freshview.factorized.options import ViewTreeOptions
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.check import check_program
from freshview.program.merge import merge, without
from freshview.program.terms import Program
from freshview.program.text import read_program, show_program
from freshview.reference.engine.run import Engine
from freshview.sql.load import load

STREAMS = """
CREATE STREAM r (a INT NOT NULL, b INT NOT NULL);
CREATE STREAM s (b INT NOT NULL, c INT NOT NULL);
"""
TOTALS = "SELECT r.a, SUM(s.c) AS total FROM r, s WHERE r.b = s.b GROUP BY r.a"
BELOW_AVERAGE = "SELECT COUNT(*) AS n FROM r WHERE r.b < (SELECT AVG(r.a) FROM r)"


def programs(*texts: str, options: Sequence[DeltaOptions] = (DeltaOptions(),)) -> list[Program]:
    """The views v0, v1, ... each by its options, or all by the same."""
    views = ";".join(f"CREATE VIEW v{i} AS {text}" for i, text in enumerate(texts))
    catalog, queries = load(STREAMS + views)
    each = list(options) * (len(queries) if len(options) == 1 else 1)
    declared = list(catalog.relations.values())
    return [compile_queries([q], declared, o) for q, o in zip(queries, each, strict=True)]


def test_views_share_what_they_keep_alike() -> None:
    one, other = programs(TOTALS, TOTALS.replace("r.a", "r.b"))
    merged = merge([one, other])
    check_program(merged)
    # How many rows of s there are for a value of b, and the sum of their c.
    assert {m.name for m in one.maps} - {"v0", "v0_2", "v0_s"} == {"v0_r", "v0_2_r"}
    assert len(merged.maps) == len(one.maps) + len(other.maps) - 2
    assert [q.name for q in merged.queries] == ["v0", "v1"]
    assert read_program(show_program(merged)) == merged


def test_equal_maps_that_are_maintained_in_different_ways_stay_two() -> None:
    deltas, anew = programs(TOTALS, TOTALS, options=[DeltaOptions(), DeltaOptions(depth=0)])
    merged = merge([deltas, anew])
    check_program(merged)
    assert {m.name for m in merged.maps} >= {"v0", "v0_2", "v1", "v1_2"}
    assert len(merged.maps) == len(deltas.maps) + len(anew.maps) - 1  # the rows of r


@pytest.mark.parametrize("types", [("int", "double"), ("double", "int")])
def test_maps_of_other_types_stay_two(types: tuple[str, str]) -> None:
    text = """
    CREATE STREAM r(a int);
    DECLARE MAP {0}[a {1}] : {2} := r(a);
    DECLARE QUERY {0}(a {1} = a) := {0}[a];
    ON BATCH UPDATE OF r {{ {0}[a] += (DELTA r)(a); }}
    """
    plain = read_program(text.format("p", "int", "int"))
    merged = merge([plain, read_program(text.format("q", *types))])
    check_program(merged)
    assert [m.name for m in merged.maps] == ["p", "q"]


def test_maps_of_one_name_are_renamed_apart() -> None:
    # Both have a map called r_base: all of r, and the columns in use.
    both = [DeltaOptions(depth=1), DeltaOptions(depth=1, project=True)]
    merged = merge(programs(TOTALS, TOTALS.replace("r.a, ", "").split(" GROUP")[0], options=both))
    check_program(merged)
    assert {"r_base", "r_base_1"} <= {m.name for m in merged.maps}


@pytest.mark.parametrize("turned", [False, True])
def test_triggers_of_other_parameters_are_put_together(turned: bool) -> None:
    """A table called d has a variable d_a: the parameters of its program have another name."""
    alias = TOTALS.replace("FROM r", "FROM r d").replace("r.", "d.")
    parts = programs(TOTALS, alias, options=[DeltaOptions(mode="tuple")])
    assert parts[0].triggers[0].params != parts[1].triggers[0].params
    parts = parts[::-1] if turned else parts
    merged = merge(parts)
    check_program(merged)
    assert len(merged.maps) == len(parts[0].maps)
    engine, apart = Engine(merged), [Engine(p) for p in parts]
    for e in (engine, *apart):
        for row in ((1, 2), (1, 3), (2, 2)):
            e.apply("r", [(row, 1)])
            e.apply("s", [(row, 1)])
    for e in apart:
        [name] = e.queries
        assert engine.read(name) == e.read(name) != {}


@pytest.mark.parametrize("local", ["x", "d_a"])
def test_variables_give_way_to_the_parameters_of_another_program(local: str) -> None:
    text = """
    CREATE STREAM r(a int, b int);
    DECLARE MAP {0}[a int, x int] : int := Sum[a, x](r(a, b) * r(x, b));
    DECLARE MAP {0}_r[x int, b int] : int := r(x, b);
    DECLARE QUERY {0}(a int = a, x int = x) := {0}[a, x];
    ON + r({1}, {2}) {{
      {0}[{1}, {3}] += {0}_r[{3}, {2}]; {0}[{3}, {1}] += {0}_r[{3}, {2}]; {0}[{1}, {1}] += 1;
      {0}_r[{1}, {2}] += 1;
    }}
    """
    parts = [read_program(text.format("p", "e", "f", local))]
    parts.append(read_program(text.format("q", "x", "y", "e")))  # each uses the other's names
    merged = merge(parts)
    check_program(merged)
    assert len(merged.maps) == 2
    engine = Engine(merged)
    for row in ((1, 1), (2, 1), (2, 2)):
        engine.insert("r", row)
    assert engine.read("p") == engine.read("q") == {(1, 1): 1, (1, 2): 1, (2, 1): 1, (2, 2): 2}


def test_view_caches_are_shared_with_what_fills_them() -> None:
    text = "SELECT SUM(r.a) AS n FROM r WHERE r.b < (SELECT SUM(s.c) FROM s WHERE s.b < r.a)"
    [one], [other] = (programs(text, options=[DeltaOptions(caches=True)]) for _ in range(2))
    assert any(m.inputs for m in one.maps)
    merged = merge([one, replace(other, queries=(replace(other.queries[0], name="again"),))])
    check_program(merged)
    assert merged.maps == one.maps
    assert merged.triggers == one.triggers
    filled_otherwise = tuple(
        replace(m, fill=m.definition) if m.fill is not None else m for m in other.maps
    )
    again = replace(other, maps=filled_otherwise, queries=merged.queries[1:])
    assert len(merge([one, again]).maps) > len(one.maps)


def test_factors_of_a_ring_keep_their_order() -> None:
    text = """
    CREATE STREAM r(a int);
    DECLARE MAP {0}[] : ring(Matrix) := Sum[](r(a) * {1});
    DECLARE QUERY {0}(m ring(Matrix) = m) := (m := {0}[]);
    ON BATCH UPDATE OF r {{ {0}[] += Sum[]((DELTA r)(a) * {2}); }}
    """
    one, other = "[f: Matrix](a) * [g: Matrix](a)", "[g: Matrix](a) * [f: Matrix](a)"
    p = read_program(text.format("p", one, one))
    assert len(merge([p, read_program(text.format("q", one, one))]).maps) == 1
    for definition, change in ((other, other), (one, other), (other, one)):
        assert len(merge([p, read_program(text.format("q", definition, change))]).maps) == 2


def test_factors_of_products_are_put_aside_once() -> None:
    catalog, queries = load(f"{STREAMS}CREATE VIEW v0 AS {TOTALS}; CREATE VIEW v1 AS {TOTALS}")
    trees = ViewTreeOptions("batch", products={"r": [["a"], ["b"]]})
    declared = list(catalog.relations.values())
    parts = [factorized.compile_queries([q], declared, trees) for q in queries]
    merged = merge(parts)
    check_program(merged)
    assert merged.maps == parts[0].maps
    assert without(merged, "v1") == parts[0]


def test_notes_are_those_of_each_query() -> None:
    one, other = programs(TOTALS, BELOW_AVERAGE)
    other = replace(other, notes=("strategy: deltas", *other.notes))
    merged = merge([replace(one, notes=("strategy: deltas",)), other])
    assert merged.view_notes["v0"] == ("strategy: deltas",)
    assert merged.view_notes["v1"] == other.notes
    assert "-- v1: v1 is recomputed when r changes" in show_program(merged)
    assert merge([without(merged, "v1")]).view_notes == {"v0": ("strategy: deltas",)}


def test_notes_follow_the_names_of_maps() -> None:
    [one], [other] = (
        programs(BELOW_AVERAGE),
        programs(BELOW_AVERAGE.replace("AVG(r.a)", "AVG(r.b)")),
    )
    other = replace(other, queries=(replace(other.queries[0], name="w"),))
    merged = merge([one, other])  # both have maps called v0
    assert merged.view_notes["v0"][0].startswith("v0 is recomputed")
    assert merged.view_notes["w"][0].startswith("v0_1 is recomputed")


def test_two_queries_of_one_name_are_refused() -> None:
    [p] = programs(TOTALS)
    with pytest.raises(ProgramProblem, match="2 of the programs to merge have a query 'v0'; give"):
        merge([p, p])


def test_programs_for_rows_and_for_batches_are_refused() -> None:
    modes = [DeltaOptions(mode="tuple"), DeltaOptions(mode="batch")]
    with pytest.raises(ProgramProblem) as caught:
        merge(programs(TOTALS, TOTALS, options=modes))
    assert str(caught.value) == (
        "of the programs to merge, one follows every delete and every insert of 'r', another "
        "batch changes; compile them in the same mode"
    )
    apart = programs("SELECT a FROM r", "SELECT c FROM s", options=modes)
    check_program(merge(apart))  # they follow different relations


def test_relations_that_differ_are_refused() -> None:
    p, q = programs(TOTALS, TOTALS)
    first, *rest = q.relations
    keyed = Relation(first.name, first.columns, key=("a",))
    with pytest.raises(ProgramProblem, match="declare the relation 'r' in different ways"):
        merge([p, replace(q, relations=(keyed, *rest))])


def test_relations_that_no_query_needs_go() -> None:
    merged = merge(programs(TOTALS, "SELECT a FROM r"))
    assert [r.name for r in without(merged, "v0").relations] == ["r"]
    assert len(without(merged, "v1").relations) == 2


def test_an_unknown_query_cannot_be_taken_out() -> None:
    with pytest.raises(UnknownName, match="there is no query 'w'; the queries are: v0"):
        without(programs(TOTALS)[0], "w")
