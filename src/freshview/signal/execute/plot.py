"""Events as plots: lines of values over time, and spectra over their numbers or over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from freshview.errors import FreshviewError
from freshview.signal.columns.directory import Directory
from freshview.signal.columns.rows import Array, Ints, Rows
from freshview.signal.terms import BadSignal

MOST_LINES = 10
"""How many groups are drawn."""


def plot(
    rows: Rows, directory: Directory | None, is_uniform: bool, column: str = "", axes: Any = None
) -> Any:
    """The values of a column over time, a line a group; of complex numbers, their size.

    Values hold from the start of an event to its end, where they are not samples. An array is a
    spectrum: of one group over time as colours, of several as lines, the mean size of each entry.
    """
    name = column or _first_numbers(rows)
    if name not in rows.columns or rows.columns[name].dtype.kind not in "ifcb":
        raise BadSignal(
            f"there are no numbers '{name}' to plot",
            instead=f"the columns are {', '.join(rows.columns)}",
        )
    values = rows.columns[name]
    size = np.abs(values) if values.dtype.kind == "c" else values.astype(np.float64)
    axes = axes if axes is not None else _axes()
    groups = np.unique(rows.group)
    if size.ndim == 2:
        _spectrum(rows, directory, groups, size, axes)
    else:
        for code in groups[:MOST_LINES].tolist():
            mine = np.flatnonzero(rows.group == code)
            _line(rows, mine, size, axes, is_uniform, _label(directory, code))
        axes.set_xlabel("time")
    axes.set_ylabel(f"|{name}|" if values.dtype.kind == "c" else name)
    if len(groups) > 1:
        axes.legend()
    if len(groups) > MOST_LINES:
        axes.set_title(f"{MOST_LINES} of {len(groups):,} groups")
    return axes


def _line(rows: Rows, mine: Ints, values: Array, axes: Any, is_uniform: bool, label: str) -> None:
    start, end = rows.start[mine], rows.end[mine]
    if is_uniform:
        axes.plot(start, values[mine], label=label)
        return
    # A line holds over the lifetime of its event, and breaks where there is none.
    time = np.stack([start, end, end], axis=1).ravel()
    height = np.stack([values[mine], values[mine], np.full(len(mine), np.nan)], axis=1).ravel()
    axes.plot(time, height, label=label)


def _spectrum(
    rows: Rows, directory: Directory | None, groups: Ints, size: Array, axes: Any
) -> None:
    if len(groups) == 1 and len(rows) > 1:
        axes.pcolormesh(rows.start, np.arange(size.shape[1]), size.T, shading="nearest")
        axes.set_xlabel("time")
        return
    for code in groups[:MOST_LINES].tolist():
        mean = size[rows.group == code].mean(axis=0)
        axes.plot(np.arange(size.shape[1]), mean, label=_label(directory, code))
    axes.set_xlabel("entry")


def _label(directory: Directory | None, code: int) -> str:
    return "" if directory is None else directory.show(code)


def _first_numbers(rows: Rows) -> str:
    numeric = (n for n, c in rows.columns.items() if c.dtype.kind in "ifc")
    return next(numeric, "")


def _axes() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as e:
        raise FreshviewError(
            "plots need matplotlib", instead="pip install 'freshview[plot]'"
        ) from e
    return pyplot.subplots()[1]
