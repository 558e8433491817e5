"""Functions of the user's in kernels: called for a batch at once, with Arrow arrays too."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import freshview as fv
from freshview.errors import BadValue

SCRIPT = (
    "CREATE STREAM t (a INT, s STRING);"
    "CREATE VIEW v AS SELECT SUM(twice(a)) AS x FROM t WHERE twice(a) > 3;"
    "CREATE VIEW w AS SELECT label(s, a) AS l, COUNT(*) AS n FROM t GROUP BY label(s, a)"
)
ROWS = [*((i, "x") for i in range(500)), (None, "y"), (7, None)]

ENGINES = ["reference", pytest.param("native", marks=pytest.mark.native)]


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, *args: Any) -> Any:
        self.calls += 1
        return self.function(*args)


def database(engine: Any, *, vectorized: bool) -> tuple[fv.Database, Counted]:
    db = fv.connect(engine=engine)
    if vectorized:
        twice = Counted(lambda x: pc.multiply(x, 2))
        db.register_function("twice", lambda x: twice(x), "int", vectorized=True)
        db.register_function(
            "label",
            lambda s, n: pc.binary_join_element_wise(s, n.cast(pa.string()), "-"),
            "string?",
            vectorized=True,
        )
    else:
        twice = Counted(lambda x: 2 * x)
        db.register_function("twice", lambda x: twice(x), "int")
        db.register_function("label", lambda s, n: f"{s}-{n}", "string?")
    return db, twice


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("vectorized", [False, True])
def test_answers(engine: Any, vectorized: bool, native: None) -> None:
    db, twice = database(engine, vectorized=vectorized)
    db.execute(SCRIPT)
    db.insert("t", ROWS)
    db.delete("t", [(i, "x") for i in range(490)])
    assert db.view("v").rows() == [(sum(2 * i for i in range(490, 500)) + 14,)]
    labels = [(f"x-{i}", 1) for i in range(490, 500)]
    assert sorted(db.view("w").rows(), key=str) == sorted([*labels, (None, 2)], key=str)
    if engine == "native" and vectorized:
        assert twice.calls < 10
        assert "computed in Python, for all the rows of a batch at once" in db.view("w").explain()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: pc.divide(1, x), "inverse"),
        (lambda x: x.slice(1), "answered 0 values for 1 rows"),
        (lambda x: pa.array(["a"] * len(x)), r"inverse\(.*\) answered 'a'"),
    ],
)
def test_what_goes_wrong_refuses_the_change(
    engine: Any, function: Any, words: str, native: None
) -> None:
    db = fv.connect(engine=engine)
    db.register_function("inverse", function, "int", vectorized=True)
    db.execute("CREATE STREAM t (a INT); CREATE VIEW v AS SELECT SUM(inverse(a)) AS x FROM t")
    with pytest.raises(BadValue, match=words):
        db.insert("t", [(0,)])
    assert db.view("v").rows() == [(None,)]


def test_restored_with_its_functions(tmp_path: Any) -> None:
    db, _ = database("reference", vectorized=False)
    db.execute(SCRIPT)
    db.insert("t", ROWS)
    rows = sorted(db.view("w").rows(), key=str)
    db.snapshot(tmp_path / "s")
    functions = {"twice": (lambda x: 2 * x, "int"), "label": (lambda s, n: f"{s}-{n}", "string?")}
    again = fv.restore(tmp_path / "s", functions=functions)
    assert sorted(again.view("w").rows(), key=str) == rows
    again.insert("t", [(1, "z")])
    assert ("z-1", 1) in again.view("w").rows()
