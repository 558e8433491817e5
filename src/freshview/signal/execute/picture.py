"""Events in notebooks: how many there are, and the first groups as sparklines."""

from __future__ import annotations

from html import escape

import numpy as np

from freshview.signal.arrays import Array
from freshview.signal.columns.directory import Directory
from freshview.signal.columns.rows import Rows

WIDE, HIGH = 240, 32
"""The size of a sparkline."""

MOST_POINTS, MOST_GROUPS = 240, 10
"""How much of the events is drawn."""


def html(what: str, rows: Rows, directory: Directory | None, names: list[str]) -> str:
    """How many events of how many groups, and the first groups as sparklines."""
    groups = np.unique(rows.group)
    of = f" of {len(groups):,} groups" if directory else ""
    parts = [f"<p>{len(rows):,} {what}{of}: {escape(', '.join(names))}</p>"]
    name = next((n for n, c in rows.columns.items() if c.ndim == 1 and c.dtype.kind in "ifc"), None)
    if name is None or not len(rows):
        return parts[0]
    parts.append("<table>")
    for code in groups[:MOST_GROUPS].tolist():
        mine = rows.group == code
        label = directory.show(code) if directory else name
        line = sparkline(rows.start[mine], rows.columns[name][mine].real)
        parts.append(f"<tr><td>{escape(label)}</td><td>{line}</td></tr>")
    return "".join([*parts, "</table>"])


def sparkline(time: Array, values: Array) -> str:
    """A polyline as SVG.

    >>> sparkline(np.array([0, 1, 2]), np.array([0.0, 1.0, 0.0]))[:38]
    '<svg width="240" height="32"><polyline'
    """
    finite = np.isfinite(values)
    time, values = time[finite], values[finite].astype(np.float64)
    step = -(-len(time) // MOST_POINTS) or 1
    x, y = (time - time[:1])[::step] / 1.0, values[::step]
    x = x / (x.max() or 1) * WIDE if len(x) else x
    y = y - y.min() if len(y) else y
    y = HIGH - 2 - y / (y.max() or 1) * (HIGH - 4) if len(y) else y
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    return (
        f'<svg width="{WIDE}" height="{HIGH}"><polyline points="{line}" fill="none" '
        f'stroke="currentColor"/></svg>'
    )
