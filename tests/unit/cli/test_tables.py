"""Tables: framed on a terminal, plain elsewhere."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from freshview.calculus.schema import Column
from freshview.calculus.types import INT, STRING
from freshview.cli.tables import show

COLUMNS = (Column("name", STRING), Column("n", INT))
ROWS = [("a" * 120, 1), (None, 1000)]


def shown(terminal: bool) -> str:
    out = StringIO()
    show(Console(file=out, force_terminal=terminal, width=60), "title", COLUMNS, ROWS)
    return out.getvalue()


def test_plain_tables_are_aligned_and_never_cut() -> None:
    assert shown(terminal=False).splitlines() == [
        "title",
        "name" + " " * 116 + "     n",
        "-" * 120 + "  ----",
        "a" * 120 + "     1",
        "NULL" + " " * 116 + "  1000",
    ]


def test_a_terminal_gets_a_frame() -> None:
    assert "┃" in shown(terminal=True)
