"""What is shown can be read back: terms and programs, however their lines are broken."""

from __future__ import annotations

from datetime import date, datetime

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from freshview.calculus.build import const
from freshview.calculus.pretty_print import show_term
from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.terms import Expr, Lift, Order, View
from freshview.calculus.text import read, show
from freshview.calculus.types import (
    BOOL,
    DATE,
    DOUBLE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    Type,
    Value,
    decimal,
    read_type,
)
from freshview.errors import TypeProblem
from freshview.program.terms import Map, Program, Statement, Trigger
from freshview.program.text import read_program, show_program
from tests.law.examples import examples
from tests.law.programs import recompute
from tests.law.strategies import ALL_ATOMS, terms

kinds = st.sampled_from([INT, DOUBLE, DATE, TIMESTAMP, BOOL, STRING, NULL, decimal(0), decimal(4)])
types = st.builds(Type.or_null, kinds, st.booleans())

# A zero with a sign is not a constant of ours: the constructors fold it to 0.
literals: st.SearchStrategy[Value] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.decimals(-(10**9), 10**9, places=3).filter(bool),
    st.floats(allow_nan=False, allow_infinity=False).filter(bool),
    st.text(),
    st.dates(date(1, 1, 1)),
    st.datetimes(datetime(1, 1, 1)),
)

names = st.sampled_from(["a", "b1", "r_a", "L.ok", "_x$"])
odd_names = st.one_of(names, st.text(min_size=1, max_size=8))
columns = st.lists(st.builds(Column, odd_names, types), max_size=3).map(tuple)
tuples_of_names = st.lists(names, max_size=3).map(tuple)
any_terms = terms(bound=("x", "y"), atoms=ALL_ATOMS, hygienic=False, depth=2)


@examples(2000)
@given(terms(bound=("x", "y"), atoms=ALL_ATOMS, hygienic=False, depth=4))
def test_terms_read_back(e: Expr) -> None:
    assert read(show(e)) == e


@examples(500)
@given(literals)
def test_constants_read_back(value: Value) -> None:
    e = Lift("x", const(value))
    assert read(show(e)) == e


@examples(500)
@given(
    terms(bound=("x", "y"), atoms=ALL_ATOMS, depth=4),
    st.integers(0, 12),
    st.integers(10, 80),
)
def test_broken_lines_read_back(e: Expr, indent: int, width: int) -> None:
    text = show_term(e, indent, width)
    assert read(text) == e
    assert "".join(text.split()) == "".join(show(e).split())


@given(types)
def test_types_read_back(t: Type) -> None:
    assert read_type(str(t)) == t


relations = st.builds(
    Relation, odd_names, columns, st.booleans(), st.lists(odd_names, max_size=2).map(tuple)
)
maps = st.builds(Map, names, columns, types, any_terms)
caches = st.builds(Map, names, columns, types, any_terms, columns.filter(bool), any_terms)
views = st.builds(View, names, tuples_of_names, tuples_of_names)
statements = st.builds(Statement, views, st.sampled_from(["+=", ":="]), any_terms)
bodies = st.lists(statements, max_size=2).map(tuple)
orders = st.lists(st.builds(Order, names, st.booleans(), st.booleans()), max_size=2).map(tuple)
triggers = st.one_of(
    st.builds(Trigger, st.sampled_from(["insert", "delete"]), odd_names, tuples_of_names, bodies),
    st.builds(Trigger, st.just("batch"), odd_names, st.just(()), bodies),
    st.builds(Trigger, st.just("ready"), st.just(""), st.just(()), bodies),
)


@st.composite
def queries(draw: st.DrawFn) -> Query:
    shown = draw(columns)
    variables = tuple(draw(names) for _ in shown)
    return Query(draw(odd_names), shown, variables, draw(any_terms), draw(orders))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    def some(items: st.SearchStrategy) -> tuple:
        return tuple(draw(st.lists(items, max_size=2)))

    return Program(some(relations), some(st.one_of(maps, caches)), some(triggers), some(queries()))


@examples(300)
@given(programs(), st.lists(st.text(max_size=20), max_size=2))
def test_programs_read_back(p: Program, notes: list[str]) -> None:
    noted = Program(p.relations, p.maps, p.triggers, p.queries, tuple(notes))
    assert read_program(show_program(noted)) == p


@settings(max_examples=50)
@given(terms())
def test_recomputing_programs_read_back(e: Expr) -> None:
    try:
        p = recompute(e, batches=False)
    except TypeProblem:
        assume(False)
        raise
    assert read_program(show_program(p)) == p
