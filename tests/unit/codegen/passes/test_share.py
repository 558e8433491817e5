"""What goes on inside what is there already, and behind which definitions it may not go."""

from __future__ import annotations

from freshview.calculus.terms import Var
from freshview.calculus.text import read
from freshview.calculus.types import INT
from freshview.codegen.layout.terms import Sort
from freshview.codegen.loops.effects import Answer, Gain
from freshview.codegen.loops.parts import Holds, Search
from freshview.codegen.loops.terms import (
    At,
    Block,
    EachGroup,
    If,
    Intern,
    Let,
    Range,
    RangeSum,
    Stmt,
    Turn,
)
from freshview.codegen.loops.walk import statements
from freshview.codegen.passes.share import share


def write(row: str, payload: int, *keys: str) -> At:
    """A payload of a record gains one."""
    weight = (read("1"),)
    return At(row, "m", tuple(map(Var, keys)), (Gain(row, "m", payload, weight),))


def where(test: str, *body: Stmt) -> If:
    return If((Holds(read(test)),), body)


def test_a_test_goes_on_past_definitions_that_it_does_not_read() -> None:
    block: Block = (
        where("{x = 0}", Intern("t1", Var("y")), write("r1", 0, "t1")),
        Let("z", read("x + 1")),
        where("{x = 0}", Intern("t2", Var("y")), write("r2", 1, "t2")),
    )
    [both, _] = share(block)
    assert isinstance(both, If)
    [_, at] = both.body
    assert isinstance(at, At)
    assert [s.payload for s in at.body if isinstance(s, Gain)] == [0, 1]


def test_what_reads_a_definition_stays_behind_it() -> None:
    block: Block = (
        where("{x = 0}", write("r1", 0, "x")),
        Let("z", read("x + 1")),
        where("{x = 0}", write("r2", 1, "z")),
    )
    assert [type(s) for s in share(block)] == [If, Let, If]


def searched(n: int) -> Block:
    """The sum of each group up to where a condition turns."""
    sorts = (Sort(1), Sort(0))
    condition = (where("{e.k0 < x}", Answer()),)
    up_to = Range(Search("m", sorts, ((1, Var(f"g{n}.k1")),)), "e", (), condition, (f"u{n}",))
    add = Gain(f"r{n}", "t", n, (Var(f"s{n}.p{n}"),))
    inside = (RangeSum(f"s{n}", up_to), At(f"r{n}", "t", (Var(f"g{n}.k1"),), (add,)))
    return Turn(f"u{n}", INT), EachGroup(f"g{n}", Search("m", sorts, ()), (1,), inside)


def test_sums_over_one_range_are_added_up_once_with_one_turn() -> None:
    shared = share((*searched(0), *searched(1)))
    assert [type(s) for s in shared] == [Turn, EachGroup]
    [total] = [s for s in statements(shared) if isinstance(s, RangeSum)]
    [at] = [s for s in statements(shared) if isinstance(s, At)]
    assert [s.weight for s in at.body if isinstance(s, Gain)] == [
        (Var(f"{total.name}.p0"),),
        (Var(f"{total.name}.p1"),),
    ]
