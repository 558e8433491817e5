"""Updates as users tell them: rows, columns, cells or products, all made into u * v' of low rank.

Rows that come twice are merged, so that the rank is the number of distinct ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np

from freshview.linear.execute.intake import BadUpdate, cells_of, check_cells
from freshview.linear.kernels.semiring import Array, Index, Semiring


class Added(TypedDict, total=False):
    """How an input is added to: u * v', or v to rows, or u to columns, or cell by cell."""

    rows: object
    cols: object
    cells: Sequence[tuple[int, int, float]] | None
    u: object
    v: object


class Assigned(TypedDict, total=False):
    """What of an input is replaced: rows or columns, by `to`, or cells."""

    rows: object
    cols: object
    cells: Sequence[tuple[int, int, float]] | None
    to: object


def factors(
    name: str, shape: tuple[int, int], ring: Semiring, **by: Unpack[Added]
) -> tuple[Array, Array]:
    """The factors of an update: A += u * v', A[rows] += v, A[:, cols] += u, or cell by cell."""
    rows, cols, cells = _one_kind(name, by, Added)
    u, v = by.get("u"), by.get("v")
    if cells is not None:
        return _cells(name, shape, ring, cells)
    if rows is not None:
        _needs(name, "rows", "v", v)
        return _by_row(name, shape, ring, _places(name, rows, shape[0], "row"), v)
    if cols is not None:
        _needs(name, "cols", "u", u)
        turned = ring.host(cells_of(name, u, ring))
        turned = turned.T if turned.ndim == 2 else turned
        places = _places(name, cols, shape[1], "column")
        right, left = _by_row(name, shape[::-1], ring, places, turned)
        return left, right
    _needs(name, "u", "v", v)
    _needs(name, "v", "u", u)
    left, right = _columns(name, u, ring), _columns(name, v, ring)
    if left.ndim != 2 or right.ndim != 2:
        raise BadUpdate(
            f"u and v of {name} are not matrices", instead="give a column for each rank"
        )
    if left.shape[0] != shape[0] or right.shape[0] != shape[1] or left.shape[1] != right.shape[1]:
        raise BadUpdate(
            f"{name} is {shape[0]} x {shape[1]}, but u is {left.shape[0]} x {left.shape[1]} and "
            f"v is {right.shape[0]} x {right.shape[1]}",
            instead="u and v have a row for each row and column of it, and equally many columns",
        )
    check_cells(name, left, ring)
    check_cells(name, right, ring)
    return left, right


@dataclass(frozen=True)
class Replacement:
    """Cells of a matrix by an index of NumPy, their new values, and the update that adds some."""

    index: Index
    values: Array
    spread: Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Move:
    """A change of an input by left * right', or what it is replaced by where that takes away."""

    name: str
    left: Array
    right: Array
    lost: Replacement | None = None
    exact: Replacement | None = None
    """Cells that shall be these, where adding left * right' rounds."""

    @property
    def rank(self) -> int:
        """How many columns the factors have."""
        return int(self.left.shape[1])


def moves_of(
    update: Mapping[str, Added],
    assign: Mapping[str, Assigned],
    current: Callable[[str], Array],
    ring: Semiring,
) -> list[Move]:
    """The changes of inputs, without those that change nothing; `current` gives the matrices."""
    _check_changes(update)
    _check_changes(assign)
    moves = [
        Move(name, *factors(name, _shape(current(name)), ring, **by)) for name, by in update.items()
    ]
    moves += [_assigned(name, current(name), ring, **by) for name, by in assign.items()]
    for name in update.keys() & assign.keys():
        raise BadUpdate(f"{name} is updated and assigned at once")
    return [m for m in moves if m.rank]


def _shape(a: Array) -> tuple[int, int]:
    rows, cols = a.shape
    return rows, cols


def _assigned(name: str, old: Array, ring: Semiring, **by: Unpack[Assigned]) -> Move:
    """The change of an input of which something is replaced."""
    new = replacement(name, _shape(old), ring, **by)
    before = ring.at(old, new.index)
    if ring.is_ring:
        return Move(name, *new.spread(new.values - before), exact=new)
    lost = not np.array_equal(ring.plus(before, new.values), new.values)
    return Move(name, *new.spread(new.values), new if lost else None)


def moved(a: Array, m: Move, ring: Semiring) -> Array:
    """An input after a change."""
    if m.lost is None:
        return ring.accumulate(a, ring.put(m.left), ring.put(m.right))
    new = np.array(ring.host(a))
    new[m.lost.index] = m.lost.values
    return ring.put(new)


def write_exact_cells(a: Array, m: Move) -> None:
    """What was assigned is there as it was given: old + (new - old) may be another number."""
    if m.exact is not None and isinstance(a, np.ndarray):
        a[m.exact.index] = m.exact.values


def _check_changes(changes: object) -> None:
    """Changes come by the names of inputs, each with keywords."""
    if not isinstance(changes, Mapping) or not all(
        isinstance(by, Mapping) for by in changes.values()
    ):
        raise BadUpdate(
            f"a change cannot be {changes!r}",
            instead="give, by the names of inputs, the arguments of update or assign",
        )


def replacement(
    name: str, shape: tuple[int, int], ring: Semiring, **by: Unpack[Assigned]
) -> Replacement:
    """What is to be replaced; of a line or a cell that is there twice, the last counts."""
    rows, cols, cells = _one_kind(name, by, Assigned)
    to = by.get("to")
    if cells is not None:
        last = {(i, j): x for i, j, x in _triples(name, cells)}
        i = _places(name, [p[0] for p in last] or np.empty(0, int), shape[0], "row")
        j = _places(name, [p[1] for p in last] or np.empty(0, int), shape[1], "column")
        values = ring.host(cells_of(name, list(last.values()), ring))
        check_cells(name, values, ring)
        return Replacement((i, j), values, lambda d: _few(shape, ring, i, j, d))
    if rows is None and cols is None:
        raise BadUpdate(f"the update of {name} replaces nothing", instead="give rows and to")
    _needs(name, "rows" if cols is None else "cols", "to", to)
    turned = cols is not None
    sides = shape[::-1] if turned else shape
    places = _places(name, cols if turned else rows, sides[0], "column" if turned else "row")
    lines: Array = ring.host(cells_of(name, to, ring))
    lines = lines.T if turned and lines.ndim == 2 else np.atleast_2d(lines)
    _fits(name, places, lines, sides[1])
    check_cells(name, lines, ring)
    distinct, where = np.unique(places[::-1], return_index=True)
    values = lines[::-1][where]

    def spread(d: Array) -> tuple[Array, Array]:
        left, right = _by_row(name, sides, ring, distinct, d.T if turned else d)
        return (right, left) if turned else (left, right)

    if turned:
        return Replacement((slice(None), distinct), values.T, spread)
    return Replacement(distinct, values, spread)


def _one_kind(
    name: str, by: Added | Assigned, wanted: type
) -> tuple[object, object, Sequence[tuple[int, int, float]] | None]:
    """Rows, columns and cells, of which at most one may be there."""
    for word in by:
        if word not in wanted.__annotations__:
            known = ", ".join(wanted.__annotations__)
            raise BadUpdate(f"a change of {name} by {word!r} is not known", instead=f"use {known}")
    kinds = by.get("rows"), by.get("cols"), by.get("cells")
    if sum(x is not None for x in kinds) > 1:
        raise BadUpdate(f"an update of {name} takes rows, columns or cells, not several of them")
    return kinds


def _fits(name: str, places: Array, values: Array, width: int) -> None:
    if values.shape != (len(places), width):
        raise BadUpdate(
            f"{len(places)} lines of {name} change by {values.shape[0]} x {values.shape[1]} values",
            instead=f"give {width} values for each",
        )


def _needs(name: str, what: str, other: str, value: object) -> None:
    if value is None:
        raise BadUpdate(f"an update of {name} by {what} needs {other} as well")


def _columns(name: str, values: object, ring: Semiring) -> Array:
    columns: Array = ring.host(cells_of(name, values, ring))
    return columns.reshape(-1, 1) if columns.ndim == 1 else columns


def _places(name: str, places: object, size: int, what: str) -> Array:
    index: Array = np.atleast_1d(np.asarray(places))
    if index.dtype.kind not in "iu" or index.ndim != 1:
        raise BadUpdate(f"the {what}s of an update of {name} are whole numbers")
    for bad in index[(index < 0) | (index >= size)][:1]:
        raise BadUpdate(f"{name} has no {what} {bad}", instead=f"it has {size}, counted from 0")
    return index


def _by_row(
    name: str, shape: tuple[int, int], ring: Semiring, places: Array, values: object
) -> tuple[Array, Array]:
    """Changes of whole rows: u has a one where a row stands, v its values; doubles merged."""
    lines: Array = np.atleast_2d(ring.host(cells_of(name, values, ring)))
    _fits(name, places, lines, shape[1])
    check_cells(name, lines, ring)
    distinct, where = np.unique(places, return_inverse=True)
    merged = np.full((len(distinct), shape[1]), ring.zero, dtype=ring.dtype)
    ring.plus.at(merged, where, lines)
    left = np.full((shape[0], len(distinct)), ring.zero, dtype=ring.dtype)
    left[distinct, np.arange(len(distinct))] = ring.one
    return left, np.ascontiguousarray(merged.T)


def _cells(
    name: str, shape: tuple[int, int], ring: Semiring, cells: Sequence[tuple[int, int, float]]
) -> tuple[Array, Array]:
    """Changes of cells, by rows or by columns: whichever are fewer."""
    cells = _triples(name, cells)
    i = _places(name, [c[0] for c in cells] or np.empty(0, int), shape[0], "row")
    j = _places(name, [c[1] for c in cells] or np.empty(0, int), shape[1], "column")
    values = ring.host(cells_of(name, [c[2] for c in cells], ring))
    check_cells(name, values, ring)
    return _few(shape, ring, i, j, values)


def _triples(name: str, cells: object) -> list[tuple[int, int, float]]:
    """Cells as a list: a row, a column and a value each."""
    try:
        return [(i, j, x) for i, j, x in cells]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise BadUpdate(
            f"the cells of {name} cannot be {cells!r}", instead="give triples: row, column, value"
        ) from None


def _few(
    shape: tuple[int, int], ring: Semiring, i: Array, j: Array, values: Array
) -> tuple[Array, Array]:
    """By rows or by columns, whichever are fewer."""
    if len(np.unique(i)) <= len(np.unique(j)):
        return _spread(shape, ring, i, j, values)
    right, left = _spread(shape[::-1], ring, j, i, values)
    return left, right


def _spread(
    shape: tuple[int, int], ring: Semiring, i: Array, j: Array, values: Array
) -> tuple[Array, Array]:
    distinct, where = np.unique(i, return_inverse=True)
    left = np.full((shape[0], len(distinct)), ring.zero, dtype=ring.dtype)
    left[distinct, np.arange(len(distinct))] = ring.one
    right = np.full((shape[1], len(distinct)), ring.zero, dtype=ring.dtype)
    ring.plus.at(right, (j, where), values)
    return left, right
