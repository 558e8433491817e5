"""What a Top chooses does not depend on what the context knows of it.

A variable that a term binds may be bound already where the term stands: by the batch, by a factor
to its left, by a map that is looked up. That selects rows of the term and changes none of them. A
Top is where this is easily lost: with the chosen variable bound inside it, it would choose among
the rows of that one value, and every row would be the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshview.calculus.build import add, const, mul, same_choice, sum_
from freshview.calculus.check import check_bound
from freshview.calculus.schema import Column, Query
from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Cmp, Delta, Expr, Lift, Order, Rel, Top, Var, View
from freshview.calculus.text import read, show
from freshview.calculus.types import INT
from freshview.calculus.walk import rename
from freshview.errors import ProgramProblem
from freshview.ivm.compile import compile_queries
from freshview.ivm.divide import Decision
from freshview.ivm.materialize import materialize
from freshview.reference.engine.run import Engine
from freshview.reference.oracle.evaluate import Database, evaluate
from freshview.simplify import arrange, finish, simplify
from tests.law.strategies import (
    ALL_ATOMS,
    CACHES,
    MAPS,
    RELATIONS,
    contexts,
    databases,
    deltas,
    terms,
    updated,
)
from tests.law.test_compile import SCHEMA, STRATEGIES, no_null
from tests.law.test_evaluate import run
from tests.law.test_simplify import meaning

BOUND = ("x",)
NO_MAPS: dict[str, dict] = {name: {} for name in (*MAPS, *CACHES)}


@dataclass
class Definitions:
    """Maps that are made on demand and filled by evaluating what they are defined as."""

    db: Database
    maps: dict[str, dict] = field(default_factory=dict)

    def access(self, definition: Expr) -> Expr:
        """A map of the rows of a definition."""
        name, keys = f"map{len(self.maps)}", tuple(sorted(outs(definition)))
        self.maps[name] = evaluate(definition, self.db, keys=keys)
        return View(name, keys)

    def cached(self, definition: Expr) -> Expr | None:
        """No caches here."""
        return None

    def is_static(self, relation: str) -> bool:
        """Every relation is stored."""
        return False


def selected(rows: dict, keys: tuple[str, ...], env: dict) -> dict:
    """The rows that agree with a context."""
    at = [(i, env[v]) for i, v in enumerate(keys) if v in env]
    return {row: m for row, m in rows.items() if all(row[i] == x for i, x in at)}


@st.composite
def choices(draw: st.DrawFn, atoms: tuple[type, ...] = (Rel,)) -> Expr:
    """An atom beside a Top, that tests what it chooses, over the same few variables."""

    def atom() -> Expr:
        name = draw(st.sampled_from(["R", "R", "S"]))
        names = draw(st.sampled_from([("w", "x"), ("w", "x"), ("w", "y"), ("x", "w")]))
        return draw(st.sampled_from(atoms))(name, names)

    def tests(bound: list[str], least: int, most: int) -> list[Expr]:
        """Tests that most rows pass."""
        comparisons: list[Expr] = []
        for _ in range(draw(st.integers(least, most))):
            left = Var(draw(st.sampled_from(bound)))
            pairs = [("<>", const(3)), ("<=", const(2)), (">=", Var(draw(st.sampled_from(bound))))]
            op, right = draw(st.sampled_from(pairs))
            comparisons.append(Cmp(op, left, right))
        return comparisons

    def some(names: frozenset[str]) -> tuple[str, ...]:
        return tuple(v for v in sorted(names) if draw(st.booleans()))

    def assigned(name: str, bound: list[str]) -> Expr:
        """A variable that another one gives its value, or a number."""
        value = Var(draw(st.sampled_from(bound))) if bound else const(2)
        return Lift(name, draw(st.sampled_from([value, add(value, const(1)), const(2)])))

    inner = [atom() for _ in range(draw(st.sampled_from([1, 1, 2])))]
    body = mul(*inner, *tests(sorted(outs(mul(*inner))), 1, 2))
    if draw(st.sampled_from([False, False, True])):
        body = mul(body, assigned("z", sorted(outs(body))))
    if draw(st.sampled_from([False, False, True])):
        kept = some(outs(body))
        body = rename(body, {v: f"l_{v}" for v in outs(body) - set(kept)})  # they are its own
        body = sum_(kept, body)
    keys = some(outs(body))[:1]
    order = tuple(
        Order(v, draw(st.booleans()), draw(st.booleans())) for v in sorted(outs(body) - set(keys))
    )
    top = Top(keys, order, draw(st.sampled_from([1, 1, 2])), body)
    beside = [atom() for _ in range(draw(st.sampled_from([0, 1, 1, 2])))]
    whole = mul(*draw(st.permutations([top, *beside])))
    if outs(top) and draw(st.sampled_from([False, False, True])):
        # What the Top shows has a value before it comes.
        shown = draw(st.sampled_from(sorted(outs(top))))
        whole = mul(*beside, assigned(shown, sorted(outs(mul(*beside)) - {shown})), top)
    if bound := sorted(outs(whole)):
        whole = mul(whole, *tests(bound, 0, 1))
    return sum_(some(outs(whole)), whole) if draw(st.sampled_from([False, True])) else whole


def tables() -> st.SearchStrategy[Database]:
    """A few values, and many rows of each, so that there is something to choose."""
    few = st.sampled_from([1, 2, 2, 3])
    dense = st.dictionaries(st.tuples(few, few), st.sampled_from([1, 1, 2]), min_size=3)
    return st.builds(
        lambda r, s, dr, ds: Database({"R": r, "S": s}, {"R": dr, "S": ds}, NO_MAPS),
        dense,
        dense,
        dense,
        dense,
    )


def check_selection(e: Expr, db: Database, env: dict, known: dict) -> None:
    """A context that knows outputs of a term selects rows of it, in every form that it takes."""
    keys = tuple(sorted(outs(e)))
    law = selected(evaluate(e, db, env), keys, known)
    both = {**env, **known}
    bound = frozenset(both)
    assert evaluate(e, db, both) == law, show(e)
    assert run(e, db, both) == law
    arranged = arrange(e, bound)
    check_bound(arranged, bound)
    assert evaluate(arranged, db, both, keys=keys) == law, show(arranged)
    store = Definitions(db)
    for decision in (Decision(bound), Decision(bound, aggressive=True), Decision(grain="atoms")):
        materialized = materialize(e, store, replace(decision, known=bound))
        full = replace(db, maps={**db.maps, **store.maps})
        check_bound(materialized, bound)
        assert evaluate(materialized, full, both, keys=keys) == law, show(materialized)


@settings(max_examples=150)
@given(data=st.data())
def test_a_context_selects_rows_of_a_term(data: st.DataObject) -> None:
    e = data.draw(terms(bound=BOUND, atoms=ALL_ATOMS, depth=3))
    env = data.draw(contexts(BOUND))
    keys = tuple(sorted(outs(e) - ins(e) - set(BOUND)))
    known = {v: data.draw(st.sampled_from([0, 1, 2])) for v in keys if data.draw(st.booleans())}
    db = data.draw(databases())
    law = selected(evaluate(e, db, env), tuple(sorted(outs(e))), known)
    assert evaluate(e, db, {**env, **known}) == law
    assert run(e, db, {**env, **known}) == law


@settings(max_examples=200)
@given(data=st.data())
def test_a_context_selects_rows_of_a_choice(data: st.DataObject) -> None:
    e = data.draw(choices())
    db = data.draw(tables())
    names = sorted(outs(e))
    known = {v: data.draw(st.sampled_from([1, 2])) for v in names if data.draw(st.booleans())}
    check_selection(e, db, {}, known)


@settings(max_examples=100)
@given(data=st.data())
def test_known_variables_do_not_change_a_choice(data: st.DataObject) -> None:
    """Simplified and finished for a context that binds its outputs, a term means the same."""
    e = data.draw(choices((Rel, Delta)))
    db = data.draw(tables())
    keys = tuple(sorted(outs(e)))
    known = {v: data.draw(st.sampled_from([1, 2])) for v in keys if data.draw(st.booleans())}
    bound = frozenset(known)
    law = selected(evaluate(e, db), keys, known)
    for new in (simplify(e, known=bound), simplify(e)):
        done = finish(new, bound)
        assert meaning(done, db, known, keys) == law, show(done)


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=8)
@given(data=st.data())
def test_choices_stay_fresh(strategy: str, mode: str, data: st.DataObject) -> None:
    """A Top joined with the relation that it chooses from, by every strategy."""
    e = data.draw(choices())
    names = tuple(sorted(outs(e)))
    query = Query("Q", tuple(Column(v, INT) for v in names), names, e)
    program = compile_queries([query], SCHEMA, replace(STRATEGIES[strategy], mode=mode))
    engine = Engine(program)
    engine.load({"U": []})
    now: dict = {name: {} for name in RELATIONS}
    for _ in range(3):
        relation = data.draw(st.sampled_from(["R", "S"]))
        change = no_null(data.draw(deltas(relation)))
        engine.apply(relation, change)
        now[relation] = updated(now[relation], change)
        assert engine.read("Q") == evaluate(e, Database(now), keys=names), show(e)


def test_materializing_keeps_what_the_batch_has_by_the_same_name_out_of_a_choice() -> None:
    """The test of b was put before the rows of b, since the batch binds a b as well."""
    e = read("(DELTA R)(a, b) * Top[a; b desc; 1](R(a, b) * {b <> null})")
    rows = {(1, 1): 1, (1, 2): 1, (2, 5): 1}
    db = Database({"R": rows}, {"R": rows})
    store = Definitions(db)
    materialized = materialize(e, store, Decision(updated=frozenset({"R"})))
    check_bound(materialized)
    actual = evaluate(materialized, replace(db, maps=store.maps))
    assert actual == evaluate(e, db) == {(1, 2): 1, (2, 5): 1}


def test_a_choice_is_not_made_among_what_is_read_from_outside() -> None:
    e = read("Top[a; b desc; 1](R(a, b) * {b > 1})")
    assert isinstance(e, Top)
    with pytest.raises(ProgramProblem, match="chooses among the values of 'b'"):
        same_choice(e, read("{b > 1} * R(a, b)"))
    same_choice(e, read("{b > 1} * R(a, b)"), more=("b",))


def test_a_value_is_not_carried_to_where_its_variable_is_another_one() -> None:
    """The z = w + 1 of the outer w became w + 1 of the w that the Top chooses among."""
    e = read("R(w, y) * (z := w + 1) * Top[; x desc; 1](R(w, x) * {x <= z})")
    db = Database({"R": {(1, 2): 1, (2, 3): 1, (1, 3): 1, (1, 1): 2}})
    keys = tuple(sorted(outs(e)))
    assert evaluate(simplify(e), db, keys=keys) == evaluate(e, db, keys=keys)
    summed = sum_(("w", "x", "y"), e)
    keys = ("w", "x", "y")
    assert evaluate(simplify(summed), db, keys=keys) == evaluate(summed, db, keys=keys)


def test_a_value_is_not_carried_into_the_choice_of_its_variable() -> None:
    """The x of the outer row became the y of every row that the Top chooses among."""
    e = read("R(w, v) * (x := w + 1) * Top[; y desc, x; 1](S(x, u) * (y := x))")
    db = Database({"R": {(0, 1): 1, (2, 1): 1}, "S": {(1, 1): 1, (3, 1): 1}})
    keys = tuple(sorted(outs(e)))
    assert evaluate(simplify(e), db, keys=keys) == evaluate(e, db, keys=keys) != {}
