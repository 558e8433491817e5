"""Names and texts that mean something to C++, M3 or a file system are only names and texts."""

from __future__ import annotations

from pathlib import Path

import pytest

import freshview
from freshview.cli.output import write_view
from freshview.errors import SyntaxProblem
from freshview.program.text import read_program, show_program
from freshview.runtime.ingest.file_names import file_name
from tests.unit.databases import Connect

NAMES = [
    *("a\nb", 'x"y', "x\\", "*/ x", "/* x", "// x\\", "??/", "x\\\ny", "a b", "a_U20_b", "a_20_b"),
    *("é", "日本", "1st", "class", "int", "linux", "s", "e", "NULL", "x'y", "a;b", "#define x 1"),
    *("a]b", "__LINE__", "a,b", "a.b", "%s{0}", "{x}", "'", "--", "State", "\u2028", "x\r\ny"),
    *("a" * 300, 'R"(', "\U0001f600", "select", "../../x", "٣x", "_", "tab\there", "Exists", "Sum"),
    *("true", "DELTA", "x`y", "m_U_o0", "o0", "\x7f", "\x1b[31m", "${x}", "\\u0041", "\\n"),
]


def named(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def declared(number: int, name: str) -> str:
    """A stream and a view; every column, the constant and the view bear the name."""
    other = named(f"{name}2")
    stream = named(f"{name} {number}")
    pattern = "%" + name.replace("%", "\x01%").replace("_", "\x01_")
    return (
        f"CREATE STREAM {stream} ({named(name)} INT NOT NULL, {other} STRING);"
        f"CREATE VIEW {named(f'v{name}')} AS SELECT {other}, SUM({named(name)}) AS {named(name)},"
        f" MAX({named(name)}) AS {named(f'm{name}')} FROM {stream}"
        f" WHERE {other} <> {text(name)} AND {other} NOT LIKE {text(pattern)} ESCAPE '\x01'"
        f" GROUP BY {other};"
    )


def check(db: freshview.Database, number: int, name: str) -> None:
    db.insert(f"{name} {number}", [(1, name), (2, "x\0"), (3, f"{name}z"), (4, f"{name}z")])
    view = db.view(f"v{name}")
    assert sorted(view.rows()) == sorted([("x\0", 2, 2), (f"{name}z", 7, 4)])
    assert view.to_arrow().column_names == [f"{name}2", name, f"m{name}"]
    program = db.program(f"v{name}")
    assert read_program(show_program(program)).maps == program.maps
    assert read_program(show_program(program)).triggers == program.triggers


def test_hostile_names_of_streams_columns_and_views() -> None:
    for number, name in enumerate(NAMES):
        db = freshview.connect(engine="reference")
        db.execute(declared(number, name))
        check(db, number, name)


@pytest.mark.parametrize("name", ["x\\\ny", '??/"*/ x\r\n`é\\', "a" * 300])
def test_hostile_names_in_kernels(connect: Connect, name: str) -> None:
    """Those that hold all that ends a literal, a comment or a line."""
    db = connect(keep_rows=False)
    db.execute(declared(0, name))
    check(db, 0, name)


def test_all_hostile_names_in_one_kernel(connect: Connect) -> None:
    """Columns and constants of one view: each name is told from every other."""
    db = connect(keep_rows=False)
    columns = ", ".join(f"{named(name)} STRING" for name in NAMES)
    tests = " AND ".join(f"{named(name)} = {text(name)}" for name in NAMES)
    db.execute(f"CREATE STREAM t ({columns}); CREATE VIEW v AS SELECT * FROM t WHERE {tests}")
    db.insert("t", [tuple(NAMES), tuple(reversed(NAMES))])
    assert db.view("v").to_pylist() == [{name: name for name in NAMES}]
    assert db.view("v").to_arrow().column_names == NAMES


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE STREAM `a\0b` (x INT)",
        "CREATE STREAM t (`a\0` INT)",
        "CREATE STREAM t (x INT); CREATE VIEW `\0` AS SELECT x FROM t",
        "CREATE STREAM t (x INT); CREATE VIEW v AS SELECT x AS `x\0` FROM t",
        "CREATE STREAM `\ud800` (x INT)",
        "CREATE STREAM t (x STRING); SELECT x FROM t WHERE x = '\udc00'",
    ],
)
def test_a_name_that_nobody_can_hold_is_refused(sql: str) -> None:
    with pytest.raises(SyntaxProblem, match=r"<text>:1:\d+: .*(NUL|surrogate)"):
        freshview.connect(engine="reference").execute(sql)


def test_files_stay_in_their_folder(tmp_path: Path) -> None:
    assert len({file_name(name) for name in NAMES}) == len(NAMES)
    for number, name in enumerate(NAMES):
        db = freshview.connect(engine="reference")
        db.execute(declared(number, name))
        path = write_view(db.view(f"v{name}"), tmp_path / "out")
        assert path.parent == tmp_path / "out"
        assert path.resolve().parent == (tmp_path / "out").resolve()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_hostile_names_of_streams_that_are_read_by_key_in_a_batch(connect: Connect) -> None:
    """Once the table of a batch had the name of its stream: streams between nodes are `give 1.3 r`.

    Kernels of pipelines were refused by the compiler, and Python kept the maps.
    """
    db = connect(mode="batch", strategy="higher-order")
    stream = named("give 1.3 r")
    db.execute(
        f"CREATE STREAM {stream} (a INT NOT NULL, b INT NOT NULL);"
        "CREATE VIEW v AS SELECT x.a, COUNT(*) AS n"
        f" FROM {stream} x, {stream} y WHERE x.b = y.a GROUP BY x.a"
    )
    db.insert("give 1.3 r", [(1, 2), (2, 3), (2, 1)])
    assert sorted(db.view("v").rows()) == [(1, 2), (2, 1)]
