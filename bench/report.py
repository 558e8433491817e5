"""What a benchmark shows: a table for people, a JSON file for machines, views that must agree."""

from __future__ import annotations

import json
import math
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from bench.data import BUILD

_WIDTH = 110


def show(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], note: str = ""
) -> None:
    """Print a table; the first column is text, the others stand to the right."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for n, name in enumerate(columns):
        table.add_column(name, justify="right" if n else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(c if isinstance(c, str) else cell(c) for c in row))
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
    console.print(table)
    if note:
        console.print(note, style="dim")


def cell(value: object) -> str:
    """A value as a cell shows it; None is a dash.

    >>> cell(None), cell(9_812_000.0), cell(0.25)
    ('-', '9.81 M', '0.25')
    """
    if value is None:
        return "-"
    if not isinstance(value, int | float):
        return str(value)
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"


def times(ratio: float | None) -> str:
    """A ratio.

    >>> times(12.34), times(0.5), times(None)
    ('12.3x', '0.50x', '-')
    """
    if ratio is None:
        return "-"
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.1f}x" if ratio < 100 else f"{ratio:,.0f}x"


def write(name: str, results: object) -> None:
    """Keep the numbers of a run."""
    BUILD.mkdir(parents=True, exist_ok=True)
    record = {
        "at": datetime.now().isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "results": results,
    }
    (BUILD / f"{name}.json").write_text(json.dumps(record, indent=1, default=str) + "\n")


def markdown(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The same table as Markdown.

    >>> print(markdown(("query", "rate"), [["q01", 2e6], ["q02", None]]))
    | query | rate |
    |---|---:|
    | q01 | 2 M |
    | q02 | - |
    """
    rule = "|".join(["---", *["---:"] * (len(columns) - 1)])
    lines = [f"| {' | '.join(columns)} |", f"|{rule}|"]
    for row in rows:
        lines.append(f"| {' | '.join(c if isinstance(c, str) else cell(c) for c in row)} |")
    return "\n".join(lines)


def write_text(name: str, text: str) -> str:
    """Write a file to the folder of results; tells where it is."""
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / name).write_text(text, encoding="utf-8")
    return str(BUILD / name)


def best(times_of: int, measure: Callable[[], float], limit: float = math.inf) -> float:
    """The least of several measurements; no further one starts after `limit` seconds."""
    began = time.monotonic()
    least = measure()
    for _ in range(times_of - 1):
        if time.monotonic() - began > limit:
            break
        least = min(least, measure())
    return least


def geometric_mean(values: Iterable[float]) -> float:
    """The mean of ratios.

    >>> geometric_mean([1, 100])
    10.0
    """
    logs = [math.log(v) for v in values]
    return round(math.exp(sum(logs) / len(logs)), 9) if logs else math.nan


def rows_of(table: Any) -> Counter[tuple[object, ...]]:
    """The rows of an Arrow table as a multiset; exact numbers compare by value."""
    return as_rows(zip(*(c.to_pylist() for c in table.columns), strict=True))


def as_rows(rows: Iterable[Sequence[object]]) -> Counter[tuple[object, ...]]:
    """Rows as a multiset."""
    return Counter(tuple(map(_plain, row)) for row in rows)


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return value.normalize()
    if isinstance(value, float) and value == 0:
        return 0.0
    return value


def same(a: Counter[tuple[object, ...]], b: Counter[tuple[object, ...]]) -> bool:
    """Equal as multisets, doubles up to 1e-9 relatively."""
    if a == b:
        return True
    left, right = sorted((a - b).elements(), key=_rank), sorted((b - a).elements(), key=_rank)
    return len(left) == len(right) and all(map(_close, left, right))


def _rank(row: tuple[object, ...]) -> list[str]:
    """An order in which rows that differ by rounding only stand at the same place."""
    exact = [str(v) for v in row if not isinstance(v, float | Decimal)]
    return exact + [f"{float(v):+.6e}" for v in row if isinstance(v, float | Decimal)]


def _close(x: tuple[object, ...], y: tuple[object, ...]) -> bool:
    def alike(p: Any, q: Any) -> bool:
        if isinstance(p, float) or isinstance(q, float):
            both = isinstance(p, int | float | Decimal) and isinstance(q, int | float | Decimal)
            return both and math.isclose(p, q, rel_tol=1e-9, abs_tol=1e-6)
        return bool(p == q)

    return len(x) == len(y) and all(map(alike, x, y))
