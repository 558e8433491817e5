"""Switches from the user to the notes of a program, and the moves of `auto` in both directions."""

from __future__ import annotations

from dataclasses import replace

import pytest

import freshview as fv
from freshview.cli.switches import switches_of
from freshview.errors import FreshviewError, StrictRefusal
from freshview.plan.choose import recomputed
from freshview.plan.options import PlanOptions
from freshview.plan.switches import Switches, read_switches
from freshview.program.statistics import Statistics
from freshview.program.terms import Program
from tests.unit.plan.test_compile import BELOW_AVERAGE, EDGES, JOINED, program

BY_GROUP = """
CREATE STREAM r (g INT NOT NULL, a INT NOT NULL);
CREATE STREAM s (g INT NOT NULL, c INT NOT NULL);
SELECT COUNT(*) FROM r WHERE r.a < (SELECT SUM(s.c) FROM s WHERE s.g = r.g)
"""

FEW_GROUPS = Statistics(
    rows={"r": 2_000, "s": 2_000},
    rates={"r": 0.1, "s": 1.0},
    batch=1_000,
    values={"r": {"g": 3}, "s": {"g": 3}},
)
"""A batch has rows of all the groups: new-minus-old looks at all the rows twice."""


def recomputing(p: Program) -> set[str]:
    """The relations whose changes make a map recompute."""
    return {t.relation for t in p.triggers for s in t.statements if s.op == ":="}


@pytest.mark.parametrize(
    ("switches", "words"),
    [
        (Switches(depth=1), "switches: depth=1"),
        (Switches(decompose=False), "switches: decompose=no"),
        (Switches(always_update=True), "switches: always_update=yes"),
        (Switches(low_cardinality=("S",)), "switches: low_cardinality=s"),
        (Switches(increment=(("query", "r"),)), "switches: increment=query:r"),
        (Switches(recompute=(("query", "R"),)), "switches: recompute=query:r"),
        (Switches(moves=False), "switches: moves=no"),
    ],
)
@pytest.mark.parametrize("strategy", ["auto", "higher-order"])
def test_notes_show_switches_beside_the_strategy(
    strategy: str, switches: Switches, words: str
) -> None:
    options = PlanOptions(strategy=strategy, switches=switches)  # type: ignore[arg-type]
    notes = program(JOINED, options).notes
    assert notes[0].startswith("strategy: ")
    assert notes[1] == words
    assert not any("switch" in n for n in program(JOINED, PlanOptions(strategy="auto")).notes)


def test_names_that_a_view_does_not_read_are_not_shown() -> None:
    switches = Switches(low_cardinality=("nation",), recompute=(("other", "nation"),))
    compiled = program(JOINED, PlanOptions(switches=switches))
    assert compiled == program(JOINED, PlanOptions())
    assert not any("switches" in n for n in compiled.notes)


@pytest.mark.parametrize(("depth", "names"), [(0, "reeval"), (1, "project first-order")])
def test_auto_goes_no_deeper_than_it_is_told(depth: int, names: str) -> None:
    compiled = program(EDGES, PlanOptions(switches=Switches(depth=depth)))
    assert any(f"strategy: {name}," in compiled.notes[0] for name in names.split())
    assert "higher-order" not in compiled.notes[0]
    assert recomputed(compiled) == (depth == 0)


def test_a_strategy_that_is_asked_for_goes_no_deeper_either() -> None:
    options = PlanOptions(strategy="higher-order", switches=Switches(depth=0))
    assert recomputed(program(EDGES, options))


def test_auto_recomputes_nothing_under_always_update() -> None:
    assert recomputed(program(BELOW_AVERAGE, PlanOptions()))
    options = PlanOptions(switches=Switches(always_update=True), strict=True)
    assert not recomputed(program(BELOW_AVERAGE, options))


def test_auto_turns_deltas_into_recomputing_where_a_batch_touches_most_groups() -> None:
    usual = PlanOptions(strategy="higher-order", statistics=FEW_GROUPS)
    assert recomputing(program(BY_GROUP, usual)) == set()
    compiled = program(BY_GROUP, PlanOptions(statistics=FEW_GROUPS))
    assert recomputing(compiled) == {"s"}
    assert (
        "query is recomputed when s changes: its delta is estimated to cost more" in compiled.notes
    )
    for options in (
        PlanOptions(),
        PlanOptions(statistics=replace(FEW_GROUPS, batch=1)),
        PlanOptions(statistics=FEW_GROUPS, strict=True),
        PlanOptions(statistics=FEW_GROUPS, switches=Switches(moves=False)),
        PlanOptions(statistics=FEW_GROUPS, switches=Switches(always_update=True)),
        PlanOptions(statistics=FEW_GROUPS, switches=Switches(increment=(("query", "s"),))),
    ):
        assert recomputing(program(BY_GROUP, options)) == set()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"deep": 1}, "the compiler has no switch 'deep'; the switches are: depth, decompose, "),
        ({"depth": -1}, "the switch 'depth' cannot be -1; give a number from 0 on"),
        ({"depth": True}, "the switch 'depth' cannot be True"),
        ({"decompose": "no"}, "the switch 'decompose' cannot be 'no'; give True or False"),
        ({"low_cardinality": "nation"}, "cannot be 'nation'; give the names of relations"),
        ({"recompute": ["q", "r"]}, "give pairs of a map and a relation, as "),
        ({"recompute": [("q", "r", "s")]}, "give pairs of a map and a relation, as "),
        ({"always_update": True, "depth": 0}, "recomputes nothing, and depth=0 asks for it"),
        (
            {"increment": [("q", "r")], "recompute": [("q", "r")]},
            "q cannot be both incremented and recomputed when r changes",
        ),
        ([("depth", 1)], "switches cannot be "),
    ],
)
def test_a_wrong_switch_is_refused_in_a_sentence(values: dict[str, object], words: str) -> None:
    with pytest.raises(FreshviewError) as caught:
        fv.connect(switches=values)
    assert words in str(caught.value)


def test_a_strategy_that_contradicts_a_switch_is_refused() -> None:
    with pytest.raises(FreshviewError, match="has no switches; drop the switches"):
        PlanOptions(strategy="factorized", switches=Switches(depth=1))
    with pytest.raises(FreshviewError, match="recomputes, and always_update never does"):
        PlanOptions(strategy="reeval", switches=Switches(always_update=True))


def test_a_strict_view_names_the_switch_that_it_refuses() -> None:
    asked = Switches(recompute=(("query_2", "r"),))
    with pytest.raises(StrictRefusal, match="a switch asks for it; drop the switch"):
        program(JOINED, PlanOptions(strategy="higher-order", strict=True, switches=asked))


def test_the_command_line_spells_all_of_them() -> None:
    switches = Switches(
        depth=2,
        decompose=False,
        low_cardinality=("a", "b"),
        caches=True,
        increment=(("q", "r"),),
        recompute=(("p", "s"), ("q", "s")),
        moves=False,
    )
    [line] = switches.words()
    assert switches_of(line.removeprefix("switches: ").split()) == read_switches(
        {f: getattr(switches, f) for f in Switches.__dataclass_fields__}
    )
    with pytest.raises(FreshviewError, match="the switch 'depth' has no value"):
        switches_of(["depth"])
