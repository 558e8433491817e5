"""Which maps a kernel does not keep, since others answer for them."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.terms import View
from freshview.calculus.text import read, show
from freshview.calculus.types import DOUBLE, INT
from freshview.codegen.layout.derive import derive
from freshview.program.terms import Map, Program, Statement, Trigger

R = Relation("R", (Column("a", INT), Column("b", INT)))
S = Relation("S", (Column("b", INT), Column("c", INT)))


def map_of(name: str, definition: str, *keys: str) -> Map:
    return Map(name, tuple(Column(k, INT) for k in keys), INT, read(definition))


def program(maps: list[Map], statements: dict[str, str], shown: str) -> Program:
    """One trigger that fills each map as told, and a query that shows one of them."""
    keys = {m.name: tuple(c.name for c in m.keys) for m in maps}
    fills = tuple(
        Statement(View(name, keys[name]), "+=", read(term)) for name, term in statements.items()
    )
    columns = tuple(Column(k, INT) for k in keys[shown])
    query = Query("q", columns, keys[shown], View(shown, keys[shown]))
    return Program((R, S), tuple(maps), (Trigger("insert", "R", ("a", "b"), fills),), (query,))


def names(p: Program) -> list[str]:
    return [m.name for m in p.maps]


def test_existence_is_asked_of_the_count() -> None:
    count, some = map_of("n", "Sum[a](R(a, b))", "a"), map_of("e", "Exists(Sum[x](R(x, y)))", "x")
    whole = map_of("q", "Sum[a](R(a, b)) * Exists(Sum[a](R(a, c)))", "a")
    p = program([whole, count, some], {"n": "1", "q": "e[a] * n[a]", "e": "Exists(n[x])"}, "q")
    derived = derive(p)
    assert names(derived) == ["q", "n"]
    terms = {s.target.name: show(s.term) for s in derived.triggers[0].statements}
    assert terms == {"n": "1", "q": "n[a] * Exists(n[a])"}
    # What reads the count as it was before the change comes before the count is changed.
    assert [s.target.name for s in derived.triggers[0].statements] == ["q", "n"]


JOIN = map_of("j", "Sum[a, b](R(a, b) * S(b, c) * {a > b})", "a", "b")
PARTS = [map_of("r", "R(x, y)", "y", "x"), map_of("s", "Sum[b](S(b, c))", "b")]


def test_a_join_is_the_product_of_its_parts() -> None:
    view = map_of("v", "Sum[](R(a, b) * S(b, c))")
    p = program([view, JOIN, *PARTS], {"v": "Sum[](j[a, b])", "r": "1", "s": "1"}, "v")
    derived = derive(p)
    assert names(derived) == ["v", "r", "s"]
    assert show(derived.triggers[0].statements[0].term) == "Sum[](r[b, a] * {a > b} * s[b])"


def test_a_join_that_is_shown_is_kept() -> None:
    p = program([JOIN, *PARTS], {"j": "r[b, a] * s[b]", "r": "1", "s": "1"}, "j")
    assert derive(p) == p


def test_a_join_that_is_shown_can_be_factorised() -> None:
    p = program([JOIN, *PARTS], {"j": "r[b, a] * s[b]", "r": "1", "s": "1"}, "j")
    derived = derive(p, factorise=True)
    assert names(derived) == ["r", "s"]
    assert show(derived.queries[0].term) == "r[b, a] * s[b] * {a > b}"


def test_a_join_over_what_its_keys_do_not_tell_is_kept() -> None:
    view, some = (
        map_of("v", "Sum[](R(a, b) * S(b, c))"),
        map_of("j", "Sum[a](R(a, b) * S(b, c))", "a"),
    )
    p = program([view, some, *PARTS], {"v": "Sum[](j[a])", "j": "s[b]", "r": "1", "s": "1"}, "v")
    assert "j" in names(derive(p))


def test_a_map_for_derived_ones_only_goes_with_them() -> None:
    view, lone = map_of("v", "Sum[](R(a, b) * S(b, c))"), map_of("l", "S(b, c) * c", "b", "c")
    terms = {"v": "Sum[](j[a, b])", "j": "Sum[](l[b, c])", "r": "1", "s": "1", "l": "1"}
    p = program([view, JOIN, *PARTS, lone], terms, "v")
    assert names(derive(p)) == ["v", "r", "s"]


def test_a_join_that_leaves_out_most_of_what_it_is_made_of_is_kept() -> None:
    """A row of R meets all the rows of S with its b, and few of them may have a c in T."""
    t = Relation("T", (Column("c", INT),))
    view = map_of("v", "Sum[](R(a, b) * S(b, c) * T(c) * {c > 5})")
    join = map_of("j", "S(b, c) * T(c) * {c > 5}", "b", "c")
    few, every = map_of("t", "T(c) * {c > 5}", "c"), map_of("t", "T(c)", "c")
    parts = [map_of("s", "S(b, c)", "b", "c")]
    fills = {"v": "Sum[](j[b, c])", "s": "1", "t": "1"}
    for last, names_left in ((few, ["v", "j", "s", "t"]), (every, ["v", "s", "t"])):
        definition = join if last is few else map_of("j", "S(b, c) * T(c)", "b", "c")
        p = program([view, definition, *parts, last], fills, "v")
        assert names(derive(replace(p, relations=(*p.relations, t)))) == names_left


def test_a_view_of_a_relation_joined_with_itself_is_multiplied_when_it_is_read() -> None:
    view = map_of("v", "Sum[a](R(a, b) * b * R(a, c) * c * 3)", "a")
    half = map_of("h", "Sum[a](R(a, b) * b)", "a")
    fills = {"v": "6 * h[a] + 9", "h": "3"}
    derived = derive(program([replace(m, payload=DOUBLE) for m in (view, half)], fills, "v"))
    assert names(derived) == ["h"]
    assert show(derived.queries[0].term) == "3 * h[a] * h[a]"
    # The product of two numbers in their range may have left it: that refuses a change.
    assert names(derive(program([view, half], fills, "v"))) == ["v", "h"]


def test_a_view_of_other_rows_is_kept() -> None:
    """To read it would mean to look at rows of one that have none in the other."""
    view = map_of("v", "Sum[b](R(a, b) * S(b, c))", "b")
    parts = [map_of("r", "Sum[b](R(a, b))", "b"), map_of("s", "Sum[b](S(b, c))", "b")]
    p = program([view, *parts], {"v": "s[b]", "r": "1"}, "v")
    assert names(derive(p)) == ["v", "r", "s"]
    fewer = [map_of("r", "Sum[a](R(a, b))", "a"), map_of("t", "Sum[a](R(a, b) * {b > 2})", "a")]
    view = map_of("v", "Sum[a](R(a, b) * R(a, c) * {c > 2})", "a")
    p = program([view, *fewer], {"v": "r[a]", "r": "1", "t": "{2 > 1}"}, "v")
    assert names(derive(p)) == ["v", "r", "t"]


def test_a_product_is_there_where_its_factors_are() -> None:
    view = map_of("v", "Sum[a](R(a, b) * R(a, c))", "a")
    count = map_of("n", "Sum[a](R(a, b))", "a")
    p = program([view, count], {"v": "2 * n[a] + 1", "n": "1"}, "v")
    asked = replace(p.queries[0], term=read("Exists(v[a])"))
    assert show(derive(replace(p, queries=(asked,))).queries[0].term) == "Exists(n[a])"


ROWS = map_of("n", "R(a, b)", "a", "b")


def test_groups_of_one_row_are_asked_of_the_rows() -> None:
    groups = map_of("g", "Exists(Sum[x](Exists(R(x, y))))", "x")
    view = map_of("v", "Sum[](S(b, c) * Exists(Sum[c](Exists(R(c, b)))))")
    p = program([view, groups, ROWS], {"v": "Sum[](g[a])", "n": "1", "g": "1"}, "v")
    assert names(derive(p)) == ["v", "g", "n"]  # a group may have many rows
    keyed = replace(p, relations=(replace(R, key=("a",)), S))
    derived = derive(keyed)
    assert names(derived) == ["v", "n"]
    [first, _] = derived.triggers[0].statements
    assert show(first.term) == "Sum[](Exists(Sum[a](Exists(n[a, y_of_g]))))"


FINE = map_of("f", "R(a, b)", "a", "b")
COARSE = map_of("c", "Sum[x](R(x, y))", "x")
TOTALS = [map_of("v", "Sum[](R(a, b) * S(b, c) * a)"), map_of("w", "Sum[](R(a, b) * S(b, c))")]


def counted(v: str, w: str, coarse: Map = COARSE, *others: Map) -> list[str]:
    """The maps that are left where v reads the finer one and w the coarser one."""
    query = Query("q", (), (), read("v[] * w[]"))
    fills = {"v": v, "w": w, "f": "1", "c": "1", **{m.name: "1" for m in others}}
    whole = program([*TOTALS, FINE, coarse, *others], fills, "v")
    return names(derive(replace(whole, queries=(query,))))


def test_a_count_is_asked_of_a_finer_one_that_is_walked_through_anyway() -> None:
    query = Query("q", (), (), read("v[] * w[]"))
    p = program(
        [*TOTALS, FINE, COARSE], {"v": "Sum[](f[x, y] * x)", "w": "Sum[](c[x])", "c": "1"}, "v"
    )
    derived = derive(replace(p, queries=(query,)))
    assert names(derived) == ["v", "w", "f"]
    terms = {s.target.name: show(s.term) for s in derived.triggers[0].statements}
    assert terms["w"] == "Sum[](f[x, b_of_c])"


def test_it_is_kept_where_the_finer_one_is_not_walked_through() -> None:
    walked = "Sum[](f[x, y] * x)"
    assert "c" not in counted(walked, "Sum[](c[x])")
    assert "c" in counted("Sum[](f[x, b] * x)", "Sum[](c[x])")  # another slice
    assert "c" in counted("Sum[](f[a, y])", "c[a]")  # one record, not a walk
    assert "c" in counted(walked, "Sum[](Exists(c[x]))")
    assert "c" in counted("1", "Sum[](c[x])")


def test_a_sum_and_a_record_of_several_maps_are_kept() -> None:
    walked = "Sum[](f[x, y] * x)"
    weighted = map_of("c", "Sum[x](R(x, y) * y)", "x")
    assert "c" in counted(walked, "Sum[](c[x])", weighted)
    beside = map_of("d", "Sum[x](R(x, y) * y)", "x")
    assert "c" in counted(walked, "Sum[](c[x] * d[x])", COARSE, beside)
