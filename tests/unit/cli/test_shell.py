"""The shell: what each line answers, with statements over several lines and commands."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from rich.console import Console

from freshview.cli import main
from freshview.cli.shell import Completer, Session, is_complete
from freshview.errors import FreshviewError
from freshview.runtime.database.database import Database
from freshview.runtime.settings import DatabaseSettings

SCRIPT = """
CREATE STREAM orders (id INT NOT NULL, customer STRING NOT NULL, price DECIMAL(8, 2) NOT NULL);
CREATE VIEW revenue AS SELECT customer, SUM(price) AS total FROM orders GROUP BY customer;
"""


class Typed:
    """A session whose answers are texts."""

    def __init__(self, folder: Path) -> None:
        self.out = io.StringIO()
        db = Database(DatabaseSettings(engine="reference"))
        db.execute(SCRIPT)
        self.session = Session(db, Console(file=self.out, width=200), folder)

    def __call__(self, *lines: str) -> str:
        before = len(self.out.getvalue())
        assert all(self.session.take(line) for line in lines)
        return self.out.getvalue()[before:].strip()


@pytest.fixture
def typed(tmp_path: Path) -> Typed:
    return Typed(tmp_path)


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("SELECT 1;", True),
        ("SELECT 1; -- ;", True),
        ("SELECT 1; /* ; */ ", True),
        ("SELECT 1 -- ;", False),
        ("SELECT 'it''s ;", False),
        ("SELECT ';'", False),
        ("SELECT ';';", True),
        ('SELECT ";" ;', True),
        ("SELECT 1; SELECT", False),
        ("/* ;", False),
        ("", False),
    ],
)
def test_where_a_statement_ends(text: str, complete: bool) -> None:
    assert is_complete(text) == complete


def test_statements_change_and_ask(typed: Typed) -> None:
    assert "1" in typed("INSERT INTO orders VALUES (1, 'Acme', 45.83);")
    assert typed(
        "SELECT total", "FROM revenue", "WHERE customer = 'Acme;' OR total > 1;"
    ).split() == [
        "total",
        "-----",
        "45.83",
    ]
    assert typed("CREATE VIEW n AS SELECT COUNT(*) AS n FROM orders;") == "view n is kept"
    assert typed("SELECT n FROM n;").split()[-1] == "1"
    assert typed("DROP VIEW n;") == "done"
    assert typed("", "  ") == ""


def test_files_are_copied(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,customer,price\n1,Acme,4.50\n2,Zest,1\n")
    (tmp_path / "b.jsonl").write_text('{"id": 3, "customer": "Acme", "price": 0.25}\n')
    rows = {"id": [4], "customer": ["Acme"], "price": [10.0]}
    parquet.write_table(pa.table(rows), tmp_path / "c d.parquet")
    assert typed("COPY orders FROM 'a.csv';") == "2 rows into orders"
    assert typed("copy orders from 'b.jsonl';") == "1 rows into orders"
    assert typed("COPY orders", "FROM 'c d.parquet';") == "1 rows into orders"
    assert typed("SELECT total FROM revenue ORDER BY total;").split()[2:] == ["1.00", "14.75"]
    for words, problem in {
        "COPY orders FROM 'none.csv';": "cannot read .*none.csv",
        "COPY orders FROM 'a.xls';": "COPY does not read files like",
        "COPY nothing FROM 'a.csv';": "nothing",
    }.items():
        with pytest.raises(FreshviewError, match=problem):
            typed(words)
        typed.session.typed = ""
    (tmp_path / "bad.csv").write_text("id,customer,price\n5,Acme,1.00\n6,Acme,1.001\n")
    with pytest.raises(FreshviewError, match=r"row 2 of 'orders': orders.price cannot hold 1.001"):
        typed("COPY orders FROM 'bad.csv';")
    assert typed("SELECT total FROM revenue ORDER BY total;").split()[2:] == ["1.00", "14.75"]


def test_commands(typed: Typed, tmp_path: Path) -> None:
    assert typed("\\d").splitlines() == [
        "stream  orders (id int, customer string, price decimal(2))",
        "view    revenue (customer string, total decimal(2))",
    ]
    assert "customer" in typed("\\d orders")
    assert "strategy:" in typed("\\explain revenue;")
    assert "\\watch" in typed("\\help")
    (tmp_path / "more.sql").write_text("CREATE VIEW n AS SELECT COUNT(*) AS n FROM orders;")
    typed("\\i more.sql")
    assert typed("\\timing") == "timing is on"
    assert typed("SELECT n FROM n;").splitlines()[-1].endswith(" ms")
    assert not typed.session.take("\\q")
    for words in ("\\nothing", "\\watch", "\\watch none", "\\watch n 0", "\\explain none"):
        with pytest.raises(FreshviewError):
            typed(words)


def test_watching_shows_a_view_when_it_has_changed(typed: Typed) -> None:
    pauses: list[float] = []

    def change(pause: float) -> None:
        pauses.append(pause)
        if len(pauses) == 2:
            typed.session.db.insert("orders", (1, "Acme", 2))
        if len(pauses) == 4:
            raise KeyboardInterrupt

    typed.session.sleep = change
    shown = typed("\\watch revenue 0.5")
    assert pauses == [0.5] * 4
    assert shown.count("revenue at version") == 2
    assert "2.00" in shown


def test_names_are_completed(typed: Typed) -> None:
    complete = Completer(typed.session)
    assert [complete("re", i) for i in range(2)] == ["revenue", None]
    assert [complete("SEL", i) for i in range(2)] == ["SELECT", None]
    assert complete("\\ex", 0) == "\\explain"


def run(monkeypatch: pytest.MonkeyPatch, text: str, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["freshview", *map(str, words)])
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_a_script_and_lines_from_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script = tmp_path / "orders.sql"
    script.write_text(SCRIPT.replace(";", " FROM FILE 'orders.csv' LINE DELIMITED CSV;", 1))
    (tmp_path / "orders.csv").write_text("1,Acme,3.00\n")
    assert run(monkeypatch, "SELECT total FROM revenue;\n", "shell", script) == 0
    assert "3.00" in capsys.readouterr().out
    assert run(monkeypatch, "SELECT nothing FROM revenue;\nSELECT 1;\n", "shell", script) == 2
    assert "no column 'nothing'" in capsys.readouterr().err
    assert run(monkeypatch, "SELECT 1", "shell") == 2
    assert "ends inside a statement" in capsys.readouterr().err
