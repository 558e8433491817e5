"""Views that are kept fresh, in the library beside this file; needs nothing but Python.

    views = connect()
    views.insert("sales", [("tool", 5)])
    views.rows("totals")

`freshview compile` copies this file into the package that it writes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

LIBRARY = Path(__file__).with_name("libviews.so")
EPOCH = datetime(1970, 1, 1)
KINDS = ("int", "decimal", "double", "date", "timestamp", "bool", "text")
_DIGITS = Context(prec=60)


class ViewsError(Exception):
    """A change or a read that was refused; nothing was changed."""


class Column(NamedTuple):
    """A column of a relation or a view; decimals have `scale` digits behind the point."""

    name: str
    kind: str
    scale: int
    nullable: bool


class _Column(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int),
        ("scale", ctypes.c_int),
        ("nullable", ctypes.c_int),
    )


class _Value(ctypes.Structure):
    _fields_ = (
        ("is_null", ctypes.c_int),
        ("number", ctypes.c_int64),
        ("high", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("text", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
    )


@cache
def _library() -> Any:
    library = ctypes.CDLL(str(LIBRARY))
    for name in ("open", "read"):
        getattr(library, f"freshview_{name}").restype = ctypes.c_void_p
    for name in ("relation_name", "view_name", "error"):
        getattr(library, f"freshview_{name}").restype = ctypes.c_char_p
    for name in ("rows_size", "rows_count", "bytes"):
        getattr(library, f"freshview_{name}").restype = ctypes.c_int64
    return library


def _tables(kind: str) -> dict[str, tuple[int, tuple[Column, ...]]]:
    """The relations or the views by name: their numbers and their columns."""
    library = _library()
    out = {}
    for number in range(getattr(library, f"freshview_{kind}s")()):
        columns = []
        column = _Column()
        for i in range(getattr(library, f"freshview_{kind}_width")(number)):
            getattr(library, f"freshview_{kind}_column")(number, i, ctypes.byref(column))
            shown = (column.name.decode(), KINDS[column.kind], column.scale, bool(column.nullable))
            columns.append(Column(*shown))
        name = getattr(library, f"freshview_{kind}_name")(number).decode()
        out[name.lower()] = (number, tuple(columns))
    return out


def _put(value: Any, column: Column, to: _Value, kept: list[bytes]) -> None:
    """A value of Python as one of C; `kept` holds the bytes of texts."""
    to.is_null = value is None
    if value is None:
        return
    match column.kind:
        case "double":
            to.real = value
        case "text":
            kept.append(value.encode())
            to.text = ctypes.cast(ctypes.c_char_p(kept[-1]), ctypes.c_void_p).value
            to.size = len(kept[-1])
        case _:
            whole = _whole(value, column)
            if not -(1 << 127) <= whole < 1 << 127 or (
                column.kind != "decimal" and not -(1 << 63) <= whole < 1 << 63
            ):
                raise ViewsError(f"{column.name} cannot hold {value!r}")
            to.number = ctypes.c_int64(whole & ((1 << 64) - 1)).value
            to.high = whole >> 64


def _whole(value: Any, column: Column) -> int:
    match column.kind:
        case "decimal":
            scaled = Decimal(value).scaleb(column.scale, _DIGITS)
            if scaled != scaled.to_integral_value():
                raise ViewsError(f"{column.name} cannot hold {value!r}: too many digits")
            return int(scaled)
        case "date":
            return int((value - EPOCH.date()).days)
        case "timestamp":
            return int((value - EPOCH) // timedelta(microseconds=1))
        case _:
            return int(value)


def _get(value: _Value, column: Column) -> object:
    if value.is_null:
        return None
    match column.kind:
        case "double":
            return float(value.real)
        case "text":
            return ctypes.string_at(value.text, value.size).decode() if value.size else ""
        case "decimal":
            whole = (value.high << 64) | (value.number & ((1 << 64) - 1))
            return Decimal(whole).scaleb(-column.scale, _DIGITS)
        case "date":
            return date.fromordinal(EPOCH.toordinal() + value.number)
        case "timestamp":
            return EPOCH + timedelta(microseconds=value.number)
        case "bool":
            return bool(value.number)
        case _:
            return int(value.number)


class Views:
    """Running views: rows in, views out, for one thread at a time; `close` frees the memory."""

    def __init__(self) -> None:
        self._library = _library()
        self._relations = _tables("relation")
        self._views = _tables("view")
        state = self._library.freshview_open()
        if not state:
            raise MemoryError("not enough memory for the views")
        self._state: ctypes.c_void_p | None = ctypes.c_void_p(state)

    @property
    def relations(self) -> dict[str, tuple[Column, ...]]:
        """The relations that take rows, with their columns."""
        return {name: columns for name, (_, columns) in self._relations.items()}

    @property
    def views(self) -> dict[str, tuple[Column, ...]]:
        """The views, with their columns."""
        return {name: columns for name, (_, columns) in self._views.items()}

    def insert(self, relation: str, rows: Iterable[Sequence[object]]) -> None:
        """Insert rows as one change."""
        self.apply(relation, rows)

    def delete(self, relation: str, rows: Iterable[Sequence[object]]) -> None:
        """Delete rows as one change."""
        self.apply(relation, rows, -1)

    def apply(
        self, relation: str, rows: Iterable[Sequence[object]], counts: int | Sequence[int] = 1
    ) -> None:
        """Apply rows as one change: each comes as often as its count says, or goes."""
        number, columns = self._entry(self._relations, relation)
        listed = list(rows)
        weights = [counts] * len(listed) if isinstance(counts, int) else list(counts)
        if len(weights) != len(listed):
            raise ViewsError(f"{len(listed)} rows come with {len(weights)} counts")
        values = (_Value * (len(listed) * len(columns)))()
        kept: list[bytes] = []
        for i, row in enumerate(listed):
            if len(row) != len(columns):
                raise ViewsError(f"a row of '{relation}' has {len(row)} values")
            for j, (value, column) in enumerate(zip(row, columns, strict=True)):
                _put(value, column, values[i * len(columns) + j], kept)
        c_counts = (ctypes.c_int64 * len(listed))(*weights)
        size = ctypes.c_int64(len(listed))
        self._check(
            self._library.freshview_apply_rows(self._handle, number, values, size, c_counts)
        )

    def rows(self, view: str) -> list[tuple[object, ...]]:
        """The rows of a view, each as often as it is there, by its ORDER BY."""
        return list(self._rows(*self._entry(self._views, view)))

    def _rows(self, number: int, columns: tuple[Column, ...]) -> Iterator[tuple[object, ...]]:
        address = self._library.freshview_read(self._handle, number)
        if not address:
            self._check(1)
        rows, value = ctypes.c_void_p(address), _Value()
        try:
            for i in range(self._library.freshview_rows_size(rows)):
                row = []
                at = ctypes.c_int64(i)
                for j, column in enumerate(columns):
                    self._library.freshview_rows_value(rows, at, j, ctypes.byref(value))
                    row.append(_get(value, column))
                for _ in range(self._library.freshview_rows_count(rows, at)):
                    yield tuple(row)
        finally:
            self._library.freshview_rows_free(rows)

    def close(self) -> None:
        """Give the memory back; nothing can be called afterwards."""
        if self._state is not None:
            self._library.freshview_close(self._state)
            self._state = None

    def __enter__(self) -> Views:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _handle(self) -> ctypes.c_void_p:
        if self._state is None:
            raise ViewsError("the views are closed")
        return self._state

    def _entry(
        self, tables: dict[str, tuple[int, tuple[Column, ...]]], name: str
    ) -> tuple[int, tuple[Column, ...]]:
        if name.lower() not in tables:
            raise ViewsError(f"there is no '{name}'; there are {', '.join(tables)}")
        return tables[name.lower()]

    def _check(self, code: int) -> None:
        if code:
            raise ViewsError(self._library.freshview_error(self._handle).decode())


def connect() -> Views:
    """Empty views."""
    return Views()
