"""Functions that have no C++: columns of a batch, single calls, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import freshview
from freshview.codegen.library import host
from freshview.codegen.library.compiler import find_compiler
from freshview.errors import BadValue

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

STREAM = "CREATE STREAM t (id INT NOT NULL, a STRING, n INT NOT NULL);"


def connect(view: str) -> freshview.Database:
    db = freshview.connect(engine="native")
    db.execute(f"{STREAM} CREATE VIEW v AS {view}")
    return db


def table(rows: list[tuple[int, str | None, int]]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(("id", "a", "n"), map(list, columns), strict=True)))


def test_a_batch_is_asked_at_once_and_equal_rows_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    many = host.host_functions()[host.MANY]

    def counted(fn: str, rows: list[tuple[str]]) -> object:
        asked.append(len(rows))
        return many(fn, rows)

    monkeypatch.setattr(
        "freshview.codegen.library.load.host_of",
        lambda _: {**host.host_functions(), host.MANY: counted},
    )
    db = connect("SELECT md5(a) AS m, COUNT(*) AS n FROM t WHERE n > 4 GROUP BY md5(a)")
    db.insert("t", table([(i, "ab" if i % 2 else None, i % 10) for i in range(3000)]))
    assert asked == [n for n in asked if n <= 1024]
    assert sum(asked) == sum(i % 2 and i % 10 > 4 for i in range(3000))
    db.insert("t", [(1, "x", 5)])
    assert dict(db.view("v").rows())["9dd4e461268c8034f5c8564e155c67a6"] == 1


def test_a_row_without_an_answer_refuses_its_batch_and_no_other() -> None:
    db = connect("SELECT id, make_date(2024, 2, n) AS d FROM t WHERE n <> 31")
    good = [(i, "", i % 29 + 1) for i in range(50)]
    db.insert("t", table([*good, (99, "", 31)]))
    before = db.view("v").rows()
    with pytest.raises(BadValue, match="2024-2-30 is no date"):
        db.insert("t", table([*good, (50, "", 30)]))
    assert db.view("v").rows() == before
    db.delete("t", table(good))
    assert db.view("v").rows() == []


def test_columns_of_columns_and_texts_of_every_length() -> None:
    db = connect("SELECT id, reverse(repeat(a, n)) AS r, concat_ws('-', a, n) AS c FROM t")
    rows = [(i, "abcdefghij"[: i % 11], i % 4) for i in range(2000)]
    db.insert("t", table(rows))
    expected = {(i, (a * n)[::-1], f"{a}-{n}") for i, a, n in rows}
    assert set(db.view("v").rows()) == expected


def test_explain_says_how_functions_are_computed() -> None:
    db = freshview.connect(engine="native")
    db.execute(
        f"{STREAM} CREATE STREAM u (id INT NOT NULL, b STRING);"
        "CREATE VIEW v AS SELECT md5(a) AS m, levenshtein(a, b) AS l FROM t JOIN u ON t.id = u.id"
    )
    said = db.view("v").explain()
    assert (
        "computed in Python, for all the rows of a batch at once, before the trigger: md5" in said
    )
    assert "one by one, as the arguments are not columns of one batch: levenshtein" in said


def test_code_that_stands_alone_has_no_python(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from freshview.cli.app import app

    script = tmp_path / "views.sql"
    script.write_text(f"{STREAM} CREATE VIEW v AS SELECT md5(a) AS m FROM t;")
    said = CliRunner().invoke(app, ["compile", str(script), "-o", str(tmp_path / "out")])
    assert said.exit_code == 0
    assert "v cannot stand alone: md5 runs in Python only" in " ".join(said.output.split())
