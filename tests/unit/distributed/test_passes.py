"""Each pass on the smallest program that shows what it is for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import View
from freshview.calculus.text import read
from freshview.calculus.types import INT
from freshview.calculus.walk import Names
from freshview.distributed.compile import DistributedCompiler, PassResults, distribute
from freshview.distributed.fusion import fuse_blocks
from freshview.distributed.jobs import Jobs, count_jobs
from freshview.distributed.locations import AtomLocations
from freshview.distributed.options import LEVELS, DistributionOptions
from freshview.distributed.placement import by_key, choose_placement
from freshview.distributed.simplify_transformers import simplify
from freshview.distributed.terms import (
    Block,
    Compute,
    Dist,
    Kind,
    Local,
    Location,
    Move,
    Placed,
    PlacedStatement,
    Placement,
    PlacementProblem,
    Random,
    Replicated,
    Step,
    Transfer,
)
from freshview.distributed.text import show_placed
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Map, Program, Statement, Trigger
from freshview.program.text import read_program
from tests.differential.harness import case, compiled

EXAMPLE = """
CREATE STREAM R(a int, b int);
DECLARE MAP M[a int] : int := Sum[a](R(a, b));
DECLARE MAP M1[a int, b int] : int := R(a, b);
DECLARE MAP M2[a int, b int] : int := R(a, b);
ON BATCH UPDATE OF R {
  M[a] += Sum[a](M1[a, b] * M2[a, b]);
}
"""


def passes(
    text: str, placement: Placement, options: DistributionOptions | None = None
) -> PassResults:
    compiler = DistributedCompiler(read_program(text), placement, options or DistributionOptions())
    return compiler.passes(compiler.statements(compiler.streams()), trace=True)


def test_example_521_goes_from_two_rounds_to_one() -> None:
    """The bottom-up algorithm moves twice; the search moves the other operand, once."""
    placement = Placement({"M": Dist(("a",)), "M1": Dist(("a",)), "M2": Dist(("b",))})
    results = passes(EXAMPLE, placement)
    places = AtomLocations.of(read_program(EXAMPLE), placement)
    [located], [pushed] = results.located, results.pushed
    assert show_placed(located, places) == (
        "M[a]^[a] += Repart[a](Sum[a](Repart[b](M1[a, b]^[a]) * M2[a, b]^[b]));"
    )
    assert show_placed(pushed, places) == (
        "M[a]^[a] += Sum[a](M1[a, b]^[a] * Repart[a](M2[a, b]^[b]));"
    )


def test_of_equally_many_transformers_the_one_of_the_batch_is_taken() -> None:
    """A map as large as all the data is not moved to save a batch the trip (thesis 5.3.1)."""
    text = EXAMPLE.replace("M1[a, b] * M2[a, b]", "(DELTA R)(a, b) * M2[c, b]")
    placement = Placement({"M": Local(), "M1": Local(), "M2": Dist(("a",))})
    for measure in ("time", "transformers"):
        options = DistributionOptions(measure=measure)
        [pushed] = passes(text, placement, options).pushed
        [gather] = pushed.source.moves
        [repart] = gather.body.moves
        assert repart.kind == "repart"
        assert "DELTA" in str(repart.plain) or "Delta" in str(repart.plain)


def test_parts_of_a_sum_are_merged_before_they_are_looked_at() -> None:
    """What is not linear must not see partial sums: the thesis pushes Repart through them."""
    text = EXAMPLE.replace("Sum[a](M1[a, b] * M2[a, b])", "Exists(Sum[a]((DELTA R)(a, b)))")
    placement = Placement(dict.fromkeys(("M", "M1", "M2"), Dist(("a",))))
    [pushed] = passes(text, placement).pushed
    assert show_placed(pushed, AtomLocations.of(read_program(text), placement)) == (
        "M[a]^[a] += Exists(Repart[a](Sum[a]((DELTA R)(a, ..))));"
    )


def test_whole_rows_may_be_looked_at_where_they_are() -> None:
    text = EXAMPLE.replace("Sum[a](M1[a, b] * M2[a, b])", "Sum[a](Exists((DELTA R)(a, b)))")
    at = dict.fromkeys(("M", "M1", "M2"), Dist(("a",)))
    split = Placement(at, {"R": Random()})
    whole = Placement(at, {"R": Random(whole=True)})
    [first], [second] = passes(text, split).pushed, passes(text, whole).pushed
    assert [len(m.view.vars) for m in first.source.moves] == [2]
    assert [len(m.view.vars) for m in second.source.moves] == [1]


def test_what_reads_its_context_is_not_moved_but_what_it_reads_is() -> None:
    text = EXAMPLE.replace(
        "Sum[a](M1[a, b] * M2[a, b])", "Sum[a](M1[a, b] * (x := Sum[](M2[c, d] * {c < b})) * x)"
    )
    placement = Placement({"M": Dist(("a",)), "M1": Dist(("a",)), "M2": Dist(("a",))})
    [pushed] = passes(text, placement).pushed
    [move] = pushed.source.moves
    assert (move.kind, move.to) == ("repart", Replicated())
    assert move.plain == read("Sum[c](M2[c, d])")


def move(kind: Kind, to: Location, at: Location, body: Placed | None = None) -> Placed:
    """M[a] moved from one location to another, or something moved already moved on."""
    inner = body or Placed(View("M", ("a",)), at)
    view = View(f"m_{kind}", ("a",))
    return Placed(view, to, (Move(kind, view, to, inner, read("M[a]")),))


A, B = Dist(("a",)), Replicated()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("repart", B, A), ("gather", Local()), "gather"),
        (("scatter", A, Local()), ("gather", Local()), None),
        (("gather", Local(), Random()), ("scatter", A), "repart"),
        (("repart", B, Random()), ("keep", A), "repart"),
        (("scatter", B, Local()), ("keep", A), "scatter"),
        (("repart", B, A), ("keep", A), None),
        (("gather", Local(), B), ("scatter", A), "keep"),
    ],
)
def test_two_transformers_are_one(first, second, expected) -> None:
    """Fig. 5.3, and what replication adds to it."""
    kind, to, at = first
    twice = move(second[0], second[1], at, move(kind, to, at))
    simplified = simplify(PlacedStatement(View("Q", ("a",)), "+=", twice)).source
    assert [m.kind for m in simplified.moves] == ([expected] if expected else [])
    if expected:
        assert simplified.moves[0].body.term == View("M", ("a",))
    else:
        assert simplified.term == View("M", ("a",))


def compute(text: str, at: Location) -> Compute:
    target, op, term = text.partition(" := ") if ":=" in text else text.partition(" += ")
    view = read(target)
    assert isinstance(view, View)
    return Compute(Statement(view, ":=" if ":=" in op else "+=", read(term)), at)


def flat(blocks: tuple[Block, ...]) -> list[Step]:
    return [s for b in blocks for s in b.steps]


def test_writers_of_one_map_keep_their_order() -> None:
    """The thesis checks reads against writes only, and lets M += s run before M := r here."""
    set_it = compute("M[a] := r[a]", A)
    add_to_it = compute("M[a] += (DELTA S)(a)", A)
    steps: list[Step] = [
        compute("s[a] := (DELTA R)(a)", Random()),
        Transfer("repart", "s", "r", A, (0,)),
        set_it,
        add_to_it,
    ]
    done = flat(fuse_blocks(steps))
    assert done.index(set_it) < done.index(add_to_it)


def test_additions_to_one_map_commute() -> None:
    steps: list[Step] = [
        compute("s[a] := (DELTA R)(a)", Random()),
        Transfer("repart", "s", "r", A, (0,)),
        compute("M[a] += r[a]", A),
        compute("M[a] += (DELTA S)(a)", A),
    ]
    assert [b.mode for b in fuse_blocks(steps)] == ["distributed", "local", "distributed"]


def test_gathers_wait_for_the_end_of_the_job() -> None:
    steps: list[Step] = [
        compute("s[a] := (DELTA R)(a)", Random()),
        Transfer("gather", "s", "g", Local()),
        compute("Q[a] += g[a]", Local()),
        Transfer("repart", "s", "r", A, (0,)),
        compute("M[a] += r[a]", A),
    ]
    blocks = fuse_blocks(steps)
    assert [b.mode for b in blocks] == ["distributed", "local", "distributed", "local"]
    assert count_jobs(blocks) == Jobs(1, 2)


def test_a_job_ends_where_the_driver_must_see_a_result() -> None:
    steps: list[Step] = [
        compute("s[a] := (DELTA R)(a)", Random()),
        Transfer("gather", "s", "g", Local()),
        compute("h[a] := g[a] * N[a]", Local()),
        Transfer("scatter", "h", "r", A, (0,)),
        compute("M[a] += r[a]", A),
    ]
    assert count_jobs(fuse_blocks(steps)) == Jobs(2, 2)


def test_a_transfer_of_what_lies_there_is_a_stage() -> None:
    steps: list[Step] = [
        Transfer("repart", "N", "r", A, (0,)),
        compute("M[a] += r[a]", A),
    ]
    assert count_jobs(fuse_blocks(steps)) == Jobs(1, 2)


def test_sharing_sees_through_names_and_the_order_of_columns() -> None:
    text = """
    CREATE STREAM R(a int, b int, c int);
    DECLARE MAP M[a int, b int] : int := Sum[a, b](R(a, b, c));
    DECLARE MAP N[b int, a int] : int := Sum[a, b](R(a, b, c));
    ON BATCH UPDATE OF R {
      M[x, y] += Sum[x, y]((DELTA R)(x, y, z));
      N[p, q] += Sum[p, q]((DELTA R)(q, p, r));
    }
    """
    placement = Placement({"M": Dist(("a",)), "N": Dist(("a",))})
    results = passes(text, placement)
    assert sum(isinstance(s, Transfer) for s in results.single) == 2
    assert sum(isinstance(s, Transfer) for s in results.shared) == 1
    assert len(results.shared) == 4


def test_what_is_written_in_between_is_not_shared() -> None:
    text = """
    CREATE STREAM R(a int);
    DECLARE MAP M[a int] : int := R(a);
    DECLARE MAP N[a int] : int := R(a);
    DECLARE MAP O[a int] : int := R(a);
    ON BATCH UPDATE OF R {
      N[a] += M[a] * (DELTA R)(a);
      M[a] += (DELTA R)(a);
      O[a] += M[a] * (DELTA R)(a);
    }
    """
    placement = Placement({"M": Dist(("a",)), "N": Local(), "O": Local()})
    results = passes(text, placement)
    gathers = [s for s in results.shared if isinstance(s, Transfer) and s.kind == "gather"]
    assert len(gathers) == 2


def test_q3_fuses_to_few_blocks() -> None:
    """Fig. 5.5 ends with 2 local and 2 distributed blocks; a copy of q03_Orders spares one more."""
    program = compiled(case("tpch_papers", "q03"), DeltaOptions())
    maps: dict[str, Location] = {
        m.name: Dist(("o_orderkey",)) for m in program.maps if m.name != "q03_Orders"
    }
    placement = Placement({**maps, "q03_Orders": Replicated()})
    routine = distribute(program, placement).routines[-1]
    assert routine.relations == ("Lineitem", "Orders", "Customer")
    assert [b.mode for b in routine.blocks] == ["distributed", "local", "distributed"]
    assert count_jobs(routine.blocks) == Jobs(1, 2)
    spread = Placement({**maps, "q03_Orders": Dist(("c_custkey",))})
    modes = [b.mode for b in distribute(program, spread).routines[-1].blocks]
    assert modes == ["distributed", "local", "distributed", "local", "distributed"]
    naive = distribute(program, spread, LEVELS["naive"]).routines[-1].blocks
    assert len(naive) > 40


def test_the_smallest_routine_is_taken() -> None:
    program = compiled(case("tpch_papers", "q03"), DeltaOptions())
    distributed = distribute(program)
    assert distributed.routine("Orders").relations == ("Orders",)
    assert distributed.routine("Orders", "Customer").relations == ("Lineitem", "Orders", "Customer")
    with pytest.raises(PlacementProblem, match="Nation"):
        distributed.routine("Nation")


def test_what_cannot_be_spread_is_named() -> None:
    c = case("finance", "vwap")
    relations = list(c.catalog.relations.values())
    for options, word in (
        (DeltaOptions(mode="tuple"), "single rows"),
        (DeltaOptions(caches=True), "view cache"),
    ):
        program = compile_queries([c.query], relations, options, c.catalog.functions)
        with pytest.raises(PlacementProblem, match=word):
            distribute(program)


def simple() -> Program:
    a = Column("a", INT)
    follow = Statement(View("M", ("a",)), "+=", read("(DELTA R)(a)"))
    return Program(
        (Relation("R", (a,)),),
        (Map("M", (a,), INT, read("R(a)")),),
        (Trigger("batch", "R", (), (follow,)),),
        (),
    )


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (Dist(("b",)), "no column 'b'"),
        (Dist(()), "partitioned by no column"),
        (Dist(("a", "a")), "twice"),
        (Random(), "cannot be placed at random"),
        (None, "no location"),
    ],
)
def test_a_placement_must_fit(at: Location | None, words: str) -> None:
    with pytest.raises(PlacementProblem, match=words):
        distribute(simple(), Placement({} if at is None else {"M": at}))


def test_a_map_stays_where_it_was_told_to() -> None:
    program = compiled(case("tpch_papers", "q03"), DeltaOptions())
    pinned: dict[str, Location] = {"q03_Orders": Local(), "q03": Dist(("o_orderdate",))}
    placed_maps = choose_placement(program, DistributionOptions(), pinned)
    assert {name: placed_maps.maps[name] for name in pinned} == pinned
    assert placed_maps.maps["q03_Lineitem"] == Dist(("o_orderkey",))


def test_a_key_is_known_under_the_names_of_columns_joined_with_it() -> None:
    """Lineitem's orderkey is not a key of its own, but Orders has one that it is joined with."""
    program = compiled(case("tpch_papers", "q03"), DeltaOptions())
    placed_maps = by_key(program, DistributionOptions()).maps
    assert placed_maps["q03_Orders_2"] == Dist(("o_orderkey",))
    assert placed_maps["q03_Orders"] == Dist(("c_custkey",))
    assert placed_maps["q03_Customer"] == Dist(("o_orderkey",))


def test_names_of_temporary_maps_are_free() -> None:
    """A map of the program may be called `got` itself."""
    program = simple()
    [m] = program.maps
    [t] = program.triggers
    [s] = t.statements
    named = replace(
        program,
        maps=(replace(m, name="got"),),
        triggers=(replace(t, statements=(replace(s, target=View("got", ("a",))),)),),
    )
    distributed = distribute(named, Placement({"got": A}))
    assert {h.name for h in distributed.routines[0].maps} == {"send", "got_1"}
    assert Names({"got"}).fresh("got") == "got_1"
