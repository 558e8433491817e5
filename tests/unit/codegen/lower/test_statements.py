"""Which statements of a trigger mingle, and what is known before anything is written."""

from __future__ import annotations

from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import View
from freshview.calculus.text import read
from freshview.calculus.types import INT
from freshview.codegen.loops.terms import (
    At,
    Collect,
    Get,
    Group,
    Probe,
    Scan,
)
from freshview.codegen.loops.walk import statements
from freshview.codegen.passes.share_lookups import share_lookups
from freshview.codegen.pipeline import plan_kernel
from freshview.program.terms import Map, Program, Statement, Trigger

A = Column("a", INT)


def groups(*changes: tuple[str, str]) -> list[Group]:
    """The groups of a trigger that adds terms to maps, row by row."""
    names = dict.fromkeys(("M", "N", *(name for name, _ in changes)))
    maps = tuple(Map(name, (A,), INT, read(f"{name}0(a)")) for name in names)
    adding = tuple(Statement(View(name, ("a",)), "+=", read(term)) for name, term in changes)
    going = tuple(
        Statement(s.target, "+=", read(f"-1 * ({t})"))
        for s, (_, t) in zip(adding, changes, strict=True)
    )
    triggers = (
        Trigger("insert", "R", ("a",), adding),
        Trigger("delete", "R", ("a",), going),
    )
    program = Program((Relation("R", (A,)),), maps, triggers, ())
    [f] = [f for f in plan_kernel(program).loops.functions if f.kind == "relation"]
    return [s for s in statements(f.body) if isinstance(s, Group)]


def test_statements_mingle_that_read_nothing_of_what_they_write() -> None:
    assert len(groups(("P", "M[a]"), ("Q", "N[a]"))) == 1


def test_one_that_reads_what_another_writes_stands_apart() -> None:
    for together in (
        groups(("P", "M[a]"), ("M", "1")),
        groups(("M", "1"), ("P", "M[a]")),
    ):
        assert all(len(g.statements) == 1 for g in together)


def test_one_that_reads_what_it_writes_knows_all_its_rows_before() -> None:
    first = groups(("M", "Sum[a](M[b] * {a = b + 1} + N[a])"))[0]
    kinds = [type(s) for s in first.body]
    assert kinds == [Collect, Scan]
    collected, poured = first.body
    assert not any(isinstance(s, At) and s.table == "m_M" for s in statements((collected,)))
    assert any(isinstance(s, At) and s.table == "m_M" for s in statements((poured,)))


def test_a_record_that_may_move_is_looked_up_again() -> None:
    [kept] = groups(("P", "M[a] * Exists(M[a] + 1)"))
    shared = [s for s in statements(kept.body) if isinstance(s, Get | Probe)]
    assert any(isinstance(s, Probe) for s in shared)
    assert all(s.probe for s in shared if isinstance(s, Get))


def test_look_ups_in_a_table_that_is_written_are_not_shared() -> None:
    maps = (Map("M", (A,), INT, read("R(a)")),)
    program = Program((Relation("R", (A,)),), maps, (), ())
    layout = plan_kernel(program).layout
    key = (read("i_1.c0"),)
    asks = Get("r_1", "m_M", key, ())
    writes = At("into_2", "m_M", key, ())
    for body, probes in (((asks, asks), 1), ((asks, asks, writes), 0)):
        [group] = share_lookups((Group((), body),), layout, "i_1")
        assert isinstance(group, Group)
        assert sum(isinstance(s, Probe) for s in group.body) == probes
