"""The facade: declarations, atomic batches, late views, functions, and refusals."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import freshview
from freshview.calculus.rows import Row
from freshview.errors import BadRow, BadValue, FreshviewError, TypeProblem, UnknownName
from freshview.runtime.database.database import Database
from tests.unit.databases import Connect

SALES = """
CREATE STREAM sales (item STRING NOT NULL, amount INT NOT NULL, price DECIMAL(8, 2));
CREATE TABLE items (item STRING PRIMARY KEY, kind STRING NOT NULL);
"""
TOTALS = "CREATE VIEW totals AS SELECT item, SUM(amount) AS amount FROM sales GROUP BY item;"
KINDS = """
CREATE VIEW kinds AS SELECT i.kind, COUNT(*) AS n, SUM(s.price * s.amount) AS worth
FROM sales s, items i WHERE s.item = i.item GROUP BY i.kind;
"""
PEN, INK = ("pen", 3, Decimal("1.50")), ("ink", 1, Decimal("4.25"))


@pytest.fixture
def db(connect: Connect) -> Database:
    db = connect()
    db.execute(SALES + TOTALS + KINDS)
    db.load("items", [("pen", "tool"), ("ink", "fluid")])
    return db


def rows(db: Database, view: str) -> Counter[Row]:
    return Counter(db.view(view).rows())


def test_views_follow_inserts_and_deletes(db: Database) -> None:
    db.insert("sales", [PEN, INK, PEN])
    assert rows(db, "totals") == Counter([("pen", 6), ("ink", 1)])
    db.delete("sales", [PEN])
    assert rows(db, "totals") == Counter([("pen", 3), ("ink", 1)])
    assert rows(db, "kinds") == Counter(
        [("tool", 1, Decimal("4.50")), ("fluid", 1, Decimal("4.25"))]
    )


def test_a_batch_may_span_relations(connect: Connect) -> None:
    db = connect()
    db.execute(
        "CREATE STREAM r (a INT NOT NULL); CREATE STREAM s (a INT NOT NULL);"
        "CREATE VIEW v AS SELECT r.a, COUNT(*) AS n FROM r, s WHERE r.a = s.a GROUP BY r.a"
    )
    db.apply({"r": [((1,), 2), ((2,), 1)], "s": [((1,), 3), ((2,), 1), ((2,), -1)]})
    assert db.view("v").rows() == [(1, 6)]


def test_names_do_not_tell_case_apart(db: Database) -> None:
    db.insert("SALES", [PEN])
    assert db.view("Totals").rows() == [("pen", 3)]


def test_rows_may_be_mappings(db: Database) -> None:
    db.insert("sales", [{"item": "pen", "amount": 2}])
    assert db.view("totals").to_pylist() == [{"item": "pen", "amount": 2}]


def test_a_handle_tells_its_columns(db: Database) -> None:
    view = db.view("kinds")
    assert view.columns == ("kind", "n", "worth")
    assert [str(c.type) for c in view.schema] == ["string", "int", "decimal(2)?"]
    assert repr(view) == "<view kinds(kind, n, worth)>"
    assert [v.name for v in db.views] == ["totals", "kinds"]


def test_a_later_view_starts_with_the_data_so_far(connect: Connect) -> None:
    db = connect()
    db.execute(SALES)
    db.load("items", [("pen", "tool")])
    db.insert("sales", [PEN, PEN])
    (late,) = db.execute(KINDS)
    assert late.rows() == [("tool", 2, Decimal("9.00"))]
    db.delete("sales", [PEN])
    assert late.rows() == [("tool", 1, Decimal("4.50"))]


BAD_BATCHES = [
    {"sales": [(("pen", 1, None), 1), (("pen", "x", None), 1)]},
    {"sales": [(("pen", 1, None), 1), (("pen", 1), 1)]},
    {"sales": [(("pen", 1, None), 1), ((None, 1, None), 1)]},
    {"sales": [(("pen", 1, None), 1), (INK, -1)]},
    {"sales": [(("pen", 1, None), 1)], "nothing": []},
    {"sales": [(("pen", 1, None), 1)], "items": [(("nib", "tool"), 1)]},
    {"sales": [(("pen", 1, None), 0.5)]},
]


@pytest.mark.parametrize("batch", BAD_BATCHES)
def test_a_refused_batch_leaves_everything_as_it_was(db: Database, batch: object) -> None:
    db.insert("sales", [PEN])
    before = [v.rows() for v in db.views]
    with pytest.raises(FreshviewError):
        db.apply(batch)  # type: ignore[arg-type]
    assert [v.rows() for v in db.views] == before
    db.delete("sales", [PEN])
    assert db.view("totals").rows() == []


def test_a_failure_in_the_middle_leaves_every_view_as_it_was() -> None:
    """The second view fails on a row after the first has taken it; both go back."""

    def picky(x: int) -> int:
        if x == 13:
            raise RuntimeError("thirteen")
        return x

    db = freshview.connect()
    db.register_function("picky", picky, "int")
    db.execute(
        "CREATE STREAM r (a INT NOT NULL); CREATE STREAM s (a INT NOT NULL);"
        "CREATE VIEW plain AS SELECT SUM(a) AS t FROM r;"
        "CREATE VIEW other AS SELECT SUM(picky(s.a) * r.a) AS t FROM r, s;"
    )
    db.apply({"r": [((5,), 1)], "s": [((2,), 1)]})
    said = r"row 1 of 's': picky\(13\) raised RuntimeError: thirteen; let the function"
    with pytest.raises(BadValue, match=said):
        db.apply({"r": [((6,), 1)], "s": [((13,), 1)]})
    assert (db.view("plain").rows(), db.view("other").rows()) == ([(5,)], [(10,)])
    db.insert("s", [(3,)])
    assert (db.view("plain").rows(), db.view("other").rows()) == ([(5,)], [(25,)])


def test_a_script_is_declared_in_full_or_not_at_all() -> None:
    db = freshview.connect()
    with pytest.raises(FreshviewError, match=r"script\.sql:2"):
        db.execute(
            "CREATE STREAM r (a INT);\nCREATE VIEW v AS SELECT nosuch FROM r", file="script.sql"
        )
    db.execute("CREATE STREAM r (a INT); CREATE VIEW v AS SELECT a FROM r")
    with pytest.raises(FreshviewError, match="already declared"):
        db.execute("CREATE STREAM s (a INT); CREATE VIEW v AS SELECT a FROM s")
    with pytest.raises(UnknownName, match="there is no table or stream 's'"):
        db.insert("s", [(1,)])


def test_unknown_names_are_complaints(db: Database) -> None:
    with pytest.raises(UnknownName, match="no view 'x'; the views are: totals, kinds"):
        db.view("x")
    with pytest.raises(UnknownName, match="no table or stream 'x'"):
        db.insert("x", [])


def test_static_tables_are_loaded_before_the_first_change(db: Database) -> None:
    with pytest.raises(BadRow, match="'sales' is a stream; use insert"):
        db.load("sales", [PEN])
    with pytest.raises(BadRow, match="two rows with the key"):
        db.load("items", [("nib", "tool"), ("nib", "part")])
    assert db.load("items", [("nib", "tool")]) == 1
    db.insert("sales", [PEN])
    with pytest.raises(BadRow, match="changes have arrived"):
        db.load("items", [("cap", "part")])


def test_functions_are_called_from_sql() -> None:
    db = freshview.connect()
    db.register_function("half", lambda x: x / 2, "double")
    db.register_function("positive", lambda x, y=1: x if x > 0 else None, "int?")
    db.execute(
        "CREATE STREAM r (a INT NOT NULL);"
        "CREATE VIEW v AS SELECT half(a) AS h, positive(a) AS p, COUNT(*) AS n FROM r"
        " GROUP BY half(a), positive(a)"
    )
    db.insert("r", [(4,), (-1,), (4,)])
    assert rows(db, "v") == Counter([(2.0, 4, 2), (-0.5, None, 1)])


def test_a_function_of_a_wrong_type_name_is_a_complaint() -> None:
    with pytest.raises(FreshviewError, match="'number' is not a type"):
        freshview.connect().register_function("f", abs, "number")


@pytest.mark.parametrize(
    ("name", "value"), [("strategy", "fastest"), ("mode", "slow"), ("engine", "steam")]
)
def test_options_are_checked(name: str, value: str) -> None:
    with pytest.raises(FreshviewError, match=f"there is no {name} '{value}'"):
        freshview.connect(**{name: value})  # type: ignore[arg-type]


def test_explain_shows_every_stage(db: Database, engine: str) -> None:
    text = db.view("kinds").explain(verbose=True)
    for part in ("== view kinds", "== calculus", "== simplified", "== choice", "== program"):
        assert part in text
    trigger = "ON BATCH UPDATE OF sales" if engine == "reference" else "ON + sales("
    assert trigger in text


def test_the_program_is_there_to_be_read(db: Database) -> None:
    program = db.program("totals")
    assert [r.name for r in program.relations] == ["sales"]


changes = st.lists(
    st.lists(
        st.tuples(
            st.tuples(st.sampled_from(["pen", "ink", "nib"]), st.integers(-3, 3), st.none()),
            st.sampled_from([1, 1, -1]),
        ),
        max_size=5,
    ),
    max_size=6,
)


@pytest.mark.parametrize("mode", ["batch", "tuple"])
@pytest.mark.parametrize("strategy", ["auto", "reeval", "first-order", "higher-order"])
@settings(max_examples=20, deadline=None)
@given(batches=changes)
def test_every_strategy_agrees_with_plain_counting(
    strategy: str, mode: str, batches: list[list[tuple[Row, int]]]
) -> None:
    db = freshview.connect(strategy, mode, engine="reference")  # type: ignore[arg-type]
    db.execute(SALES + TOTALS)
    model: Counter[Row] = Counter()
    for batch in batches:
        wanted = Counter(model)
        for row, m in batch:
            wanted[row] += m
        if any(m < 0 for m in wanted.values()):
            with pytest.raises(BadRow):
                db.apply({"sales": batch})
        else:
            db.apply({"sales": batch})
            model = wanted
        totals: dict[object, int] = {}
        for (item, amount, _), m in model.items():
            if m:
                totals[item] = totals.get(item, 0) + int(str(amount)) * m
        assert rows(db, "totals") == Counter(list(totals.items()))


@pytest.mark.parametrize(
    ("misuse", "words"),
    [
        (lambda db: db.execute(None), "SQL is a text, not None"),
        (lambda db: db.execute(b"SELECT 1"), "decode it first"),
        (lambda db: db.view(None), "there is no view 'None'"),
        (lambda db: db.insert(None, [(1,)]), "there is no table or stream 'None'"),
        (lambda db: db.apply(None), "a batch cannot be None; give a mapping"),
        (lambda db: db.apply({"r": 5}), "a change of 'r' cannot be 5; give pairs"),
        (lambda db: db.apply({"r": None}), "a change of 'r' cannot be None; give pairs"),
        (lambda db: db.on_event("r", None), "the hook is None, which cannot be called"),
        (lambda db: db.view("v").subscribe(5), "the callback is 5, which cannot be called"),
        (lambda db: db.view("v").track(versions=0), "kept for 0 versions; give an integer"),
        (lambda db: db.view("v").track(versions="x"), "kept for 'x' versions; give an integer"),
        (lambda db: db.register_function("f", 5, "int"), "the function 'f' is 5, which cannot be"),
        (lambda db: db.register_function("f", abs, None), "the type of 'f' cannot be None"),
        (lambda db: db.register_function(5, abs, "int"), "a function cannot be called 5"),
        (lambda db: db.register_function("div", max, "int"), "'div' is the function of an"),
        (lambda db: db.snapshot(None), "a snapshot is kept in a folder, not in None"),
        (lambda db: db.snapshot("a\0b"), "a snapshot is kept in a folder, not in 'a"),
        (lambda db: freshview.restore(5), "a snapshot is kept in a folder, not in 5"),
        (pickle.dumps, r"cannot be copied or pickled; save it with snapshot\(path\)"),
        (copy.copy, "cannot be copied or pickled"),
        (lambda db: freshview.connect(statistics={"r": 5}), "statistics cannot be {'r': 5}"),
        (lambda db: freshview.connect(products={"r": 5}), "products cannot be {'r': 5}; give the"),
    ],
)
def test_misuse_is_told_in_one_sentence(
    connect: Connect, misuse: Callable[[Any], Any], words: str
) -> None:
    db = connect()
    db.execute("CREATE STREAM r (k INT); CREATE VIEW v AS SELECT k FROM r")
    with pytest.raises(FreshviewError, match=words):
        misuse(db)
    db.insert("r", [(1,)])
    assert db.view("v").rows() == [(1,)]


def test_a_version_is_an_integer(connect: Connect) -> None:
    db = connect()
    db.execute("CREATE STREAM r (k INT); CREATE VIEW v AS SELECT k FROM r")
    db.view("v").track()
    for since in (None, "x", 0.5):
        with pytest.raises(
            FreshviewError, match="are not known; they are kept from version 0 to 0"
        ):
            db.view("v").changes(since=since)  # type: ignore[arg-type]


def test_a_hook_sees_rows_only(connect: Connect) -> None:
    db = connect()
    db.execute("CREATE STREAM r (k INT); CREATE VIEW v AS SELECT k FROM r")
    db.on_event("r", lambda row, count: row)
    for bad in (5, None, "ab"):
        with pytest.raises(BadRow, match="a row of 'r' cannot be"):
            db.insert("r", [bad])
    assert db.view("v").rows() == []


def test_names_and_digits_of_a_view_are_looked_at(connect: Connect) -> None:
    db = connect()
    with pytest.raises(FreshviewError, match=r"1:28: two queries of this WITH are called 'A'"):
        db.execute("WITH a AS (SELECT 1 AS x), A AS (SELECT 2 AS x) SELECT * FROM a")
    with pytest.raises(
        FreshviewError, match=r"the column 'x' has 41 digits after the point; decim"
    ):
        db.execute(f"SELECT 0.{'0' * 40}1 AS x")
    with pytest.raises(FreshviewError, match=r"the column 'y' has 60 digits after the point"):
        db.execute("CREATE STREAM r (p DECIMAL(38, 30)); SELECT p * p AS y FROM r")
    assert db.views == ()


@pytest.mark.parametrize(
    ("name", "result"), [("", "int"), ("f", "int??"), ("f", "decimal(-1)"), ("f", "null")]
)
def test_a_function_has_a_name_and_a_type(name: str, result: str) -> None:
    with pytest.raises(TypeProblem):
        freshview.connect().register_function(name, abs, result)
