"""Rows as tables: drawn by rich on a terminal, plain lines everywhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column
from freshview.calculus.types import Value


def word(value: Value) -> str:
    """A value as a reader expects it.

    >>> word(None), word(True), word(1.5)
    ('NULL', 'true', '1.5')
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def drawn(columns: Sequence[Column], rows: Iterable[Row]) -> Table:
    """A table for a terminal; numbers are flush right."""
    table = Table()
    for column in columns:
        table.add_column(column.name, justify="right" if column.type.is_numeric else "left")
    for row in rows:
        table.add_row(*map(word, row))
    return table


def plain(columns: Sequence[Column], rows: Iterable[Row]) -> str:
    """A table for a file or a pipe: aligned, without frames, never cut."""
    head = [c.name for c in columns]
    body = [[word(v) for v in row] for row in rows]
    widths = [max(map(len, cells)) for cells in zip(head, *body, strict=True)]
    right = [c.type.is_numeric for c in columns]
    lines = [
        "  ".join(
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(cells, widths, right, strict=True)
        ).rstrip()
        for cells in [head, ["-" * width for width in widths], *body]
    ]
    return "\n".join(lines)


def show(console: Console, title: str, columns: Sequence[Column], rows: Iterable[Row]) -> None:
    """Print a table in the form that suits the console."""
    console.out(title, highlight=False)
    if console.is_terminal:
        console.print(drawn(columns, rows))
    else:
        console.out(plain(columns, rows), highlight=False)
