"""The law of view trees: every map equals its definition over the rows seen so far.

Whatever the join, the variable order, the ring, the static tables and the batches.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from freshview.calculus.build import const, mul, sum_
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Apply, Cmp, Expr, Rel, Var
from freshview.calculus.types import INT
from freshview.factorized.compile import compile_joins
from freshview.factorized.dtree import DTree, read_dtree, show_dtree
from freshview.factorized.optimize import find_order
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.order import VariableOrder, check_order, read_order
from freshview.factorized.terms import Join
from freshview.factorized.viewtree import compact, definition, view_tree
from freshview.program.check import check_program
from freshview.program.text import read_program, show_program
from freshview.reference.engine.run import Engine
from freshview.reference.oracle.evaluate import Database, evaluate

ARITY = {"R": 2, "S": 2, "T": 3}
VARIABLES = "abcde"

atoms = st.sampled_from(sorted(ARITY)).flatmap(
    lambda name: st.lists(
        st.sampled_from(VARIABLES), min_size=ARITY[name], max_size=ARITY[name]
    ).map(lambda names: Rel(name, tuple(names)))
)


@st.composite
def joins(draw: st.DrawFn) -> Join:
    """Joins of up to four relations: self-joins, cycles, repeated variables, tests and lifts."""
    chosen = tuple(draw(st.lists(atoms, min_size=1, max_size=4)))
    names = sorted({v for a in chosen for v in a.vars})
    keys = tuple(draw(st.lists(st.sampled_from(names), max_size=2, unique=True)))
    factors: list[Expr] = []
    ring = draw(st.sampled_from(["", "cofactor", "listing"]))
    for v in draw(st.lists(st.sampled_from(names), max_size=3, unique=True)):
        name = {"cofactor": "Cofactor", "listing": "Relational"}.get(ring)
        factors.append(Apply(ring, (const(v), Var(v)), name) if name else Var(v))
    if draw(st.booleans()):
        pair = draw(st.tuples(st.sampled_from(names), st.sampled_from(names)))
        factors.append(Cmp("<", Var(pair[0]), Var(pair[1])))
    return Join(keys, chosen, tuple(factors))


def linear(join: Join) -> VariableOrder:
    """All variables on one path, the last ones on top: an order that fits any join."""
    names = join.variables[::-1]
    return VariableOrder(tuple(zip(names, (None, *names), strict=False)))


def relations(static: frozenset[str]) -> list[Relation]:
    return [
        Relation(name, tuple(Column(f"c{i}", INT) for i in range(n)), name in static)
        for name, n in ARITY.items()
    ]


rows = {name: st.tuples(*[st.integers(0, 2)] * n) for name, n in ARITY.items()}


@st.composite
def batches(draw: st.DrawFn) -> list[tuple[str, list[tuple[Any, int]]]]:
    """Changes of one relation after the other; a row is deleted only while it is there."""
    live: dict[str, Counter[Any]] = {name: Counter() for name in ARITY}
    steps = []
    for _ in range(draw(st.integers(1, 5))):
        name = draw(st.sampled_from(sorted(ARITY)))
        changes = []
        for _ in range(draw(st.integers(1, 4))):
            there = sorted(r for r, n in live[name].items() if n > 0)
            gone = bool(there) and draw(st.booleans())
            row = draw(st.sampled_from(there)) if gone else draw(rows[name])
            live[name][row] += -1 if gone else 1
            changes.append((row, -1 if gone else 1))
        steps.append((name, changes))
    return steps


@given(
    join=joins(),
    stream=batches(),
    mode=st.sampled_from(["batch", "tuple"]),
    static=st.sampled_from([frozenset(), frozenset("S"), frozenset("RT")]),
    chain=st.booleans(),
    compacted=st.booleans(),
    indicators=st.booleans(),
)
def test_every_map_equals_its_definition(
    join: Join,
    stream: list[tuple[str, list[tuple[Any, int]]]],
    mode: Any,
    static: frozenset[str],
    chain: bool,
    compacted: bool,
    indicators: bool,
) -> None:
    options = ViewTreeOptions(
        mode=mode,
        orders={"Q": linear(join)} if chain else {},
        compact=compacted,
        indicators=indicators,
    )
    program = compile_joins({"Q": join}, relations(static), options)
    check_program(program)
    assert read_program(show_program(program)) == program
    engine = Engine(program)
    seen: dict[str, Counter[Any]] = {name: Counter() for name in ARITY}
    for name, changes in stream:
        if name in static:
            seen[name].update([row for row, _ in changes])
    engine.load({name: list(seen[name].elements()) for name in static})
    for name, changes in stream:
        if name in static:
            continue
        engine.apply(name, changes)
        for row, n in changes:
            seen[name][row] += n
        db = Database({r: {row: n for row, n in rows.items() if n} for r, rows in seen.items()})
        for m in program.maps:
            keys = tuple(c.name for c in m.keys)
            assert engine.contents(m.name) == evaluate(m.definition, db, keys=keys), m.name
        # The root equals the join written out flat, whatever the tree.
        flat = join_term(join)
        assert engine.contents("Q") == evaluate(flat, db, keys=join.keys)


def join_term(join: Join) -> Expr:

    return sum_(join.keys, mul(*join.atoms, *join.factors))


@given(joins())
def test_an_order_that_is_found_fits(join: Join) -> None:
    order = find_order(join)
    check_order(order, join)
    free_on_top = [v in join.keys for v in order.path(order.above[0][0])]
    assert free_on_top == sorted(free_on_top, reverse=True)
    for v in order.parents:
        path = [w in join.keys for w in order.path(v)]
        assert path == sorted(path, reverse=True), "a bound variable stands above a free one"


@given(joins())
def test_orders_print_and_read_back(join: Join) -> None:
    order = find_order(join)
    assert set(read_order(str(order)).above) == set(order.above)
    tree = DTree(order, dict.fromkeys(order.parents, "int"), join.atoms)
    again = read_dtree(show_dtree(tree))
    assert set(again.order.above) == set(order.above)
    assert again.relations == join.atoms


@given(joins(), st.dictionaries(rows["R"], st.integers(1, 2), max_size=4))
def test_compaction_keeps_the_meaning(join: Join, counts: dict[Any, int]) -> None:
    three = {(*row, row[0]): n for row, n in counts.items()}
    db = Database({"R": counts, "S": counts, "T": three})
    tree = view_tree(join, find_order(join))
    want = evaluate(definition(tree), db, keys=join.keys)
    assert evaluate(definition(compact(tree)), db, keys=join.keys) == want
