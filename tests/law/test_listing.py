"""The law of M3 listings: every view equals its definition after every batch; text reads back."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from freshview.calculus.build import is_zero
from freshview.calculus.terms import Var
from freshview.draw.pdf import show_pdf
from freshview.draw.svg import show_svg
from freshview.factorized.hybrid import hybrid
from freshview.factorized.listing import listing
from freshview.factorized.optimize import find_order
from freshview.factorized.picture import picture
from freshview.factorized.terms import Join
from freshview.program.read_m3 import read_m3
from freshview.program.show_m3 import show_m3
from freshview.reference.oracle.evaluate import Database, evaluate
from tests.law.run_listing import Runner
from tests.law.test_factorized import ARITY, batches, join_term, joins, linear, relations

Stream = list[tuple[str, list[tuple[Any, int]]]]


@given(
    join=joins(),
    stream=batches(),
    static=st.sampled_from([frozenset[str](), frozenset("S"), frozenset("RT")]),
    chain=st.booleans(),
    chains=st.booleans(),
    inline=st.booleans(),
)
def test_every_view_equals_its_definition(
    join: Join, stream: Stream, static: frozenset[str], chain: bool, chains: bool, inline: bool
) -> None:
    order = linear(join) if chain else find_order(join)
    declared = relations(static)
    h = hybrid("Q", join, order, declared, chains=chains)
    program = listing([h], declared, {}, inline=inline)
    assert read_m3(show_m3(program)) == program
    runner = Runner(program)
    seen: dict[str, Counter[Any]] = {name: Counter() for name in ARITY}
    for name, changes in stream:
        if name in static:
            seen[name].update([row for row, _ in changes])
    runner.load(join, seen)
    [(_, root)] = program.queries
    for name, changes in stream:
        if name in static:
            continue
        runner.apply(name, changes)
        for row, n in changes:
            seen[name][row] += n
        db = Database({r: {row: n for row, n in rows.items() if n} for r, rows in seen.items()})
        for m in program.maps:
            if not m.name.startswith("DELTA_") and not is_zero(m.definition):
                keys = tuple(c.name for c in m.keys)
                assert runner.maps[m.name] == evaluate(m.definition, db, keys=keys), m.name
        assert runner.maps[root.name] == evaluate(join_term(join), db, keys=root.vars)


@given(joins(), batches())
def test_aggregates_of_one_join_do_not_disturb_each_other(join: Join, stream: Stream) -> None:
    plain = Join(join.keys, join.atoms)
    valued = Join(join.keys, join.atoms, (Var(join.variables[0]),))
    declared = relations(frozenset())
    hybrids = [hybrid(n, j, find_order(j), declared) for n, j in (("n", plain), ("s", valued))]
    program = listing(hybrids, declared, {})
    assert read_m3(show_m3(program)) == program
    runner = Runner(program)
    seen: dict[str, Counter[Any]] = {name: Counter() for name in ARITY}
    for name, changes in stream:
        runner.apply(name, changes)
        for row, n in changes:
            seen[name][row] += n
    db = Database({r: {row: n for row, n in rows.items() if n} for r, rows in seen.items()})
    for (_, root), j in zip(program.queries, (plain, valued), strict=True):
        assert runner.maps[root.name] == evaluate(join_term(j), db, keys=root.vars)


@given(joins(), st.sampled_from([frozenset[str](), frozenset("S")]))
def test_every_tree_can_be_drawn(join: Join, static: frozenset[str]) -> None:
    drawing = picture(hybrid("Q", join, find_order(join), relations(static)), "Q")
    assert show_svg(drawing).endswith("</svg>\n")
    assert show_pdf(drawing).endswith(b"%%EOF\n")
