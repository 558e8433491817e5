"""Rows from delimited text files.

An empty field is NULL where the column admits it, and the empty text in a column of texts that
does not. Fields may be quoted with `"`. The last field may be followed by one more delimiter, as
in the `.tbl` files of TPC-H.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path

from freshview.calculus.rows import Row, bad_value, conform, conform_to, wrong_arity
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import Kind, Value
from freshview.errors import BadRow, Place

TRUTH = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def _number(text: str) -> str:
    # Python reads 1_000 as a number; no database does.
    if "_" in text:
        raise ValueError(text)
    return text


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(_number(text).strip())
    except InvalidOperation as e:
        raise ValueError(text) from e


def _bool(text: str) -> bool:
    word = text.strip().lower()
    if word not in TRUTH:
        raise ValueError(text)
    return TRUTH[word]


READERS: Mapping[Kind, Callable[[str], Value]] = {
    "int": lambda text: int(_number(text)),
    "decimal": _decimal,
    "double": lambda text: float(_number(text)),
    "date": lambda text: date.fromisoformat(text.strip()),
    "timestamp": lambda text: datetime.fromisoformat(text.strip()),
    "bool": _bool,
    "string": str,
}


def read(path: Path, relation: Relation, delimiter: str = ",") -> Iterator[Row]:
    """The rows of a file, one by one; a BadRow tells the file, line and column of what is wrong."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:  # a byte order mark is not text
            yield from parse(file, str(path), relation, delimiter)
    except OSError as e:
        raise BadRow(
            f"cannot read '{path}' for '{relation.name}': {e.strerror}",
            instead="check the path in its FROM clause",
        ) from e
    except UnicodeDecodeError as e:
        raise BadRow(
            f"'{path}' for '{relation.name}' is not UTF-8 text",
            instead="convert it to UTF-8",
            at=None,
        ) from e


def parse(
    file: Iterator[str],
    name: str,
    relation: Relation,
    delimiter: str = ",",
    longest: int | None = None,
) -> Iterator[Row]:
    """The rows of lines, which errors call by a name; `longest` bounds their characters."""
    lines = _Lines(file, relation.name, longest)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.start()
        fields = _next(reader, relation, name)
        if fields is None:
            return
        if fields:
            yield _row(relation, fields, name, lines, delimiter)


class _Lines:
    """The lines of a file, remembering those of the current record for errors."""

    def __init__(self, file: Iterator[str], name: str, longest: int | None) -> None:
        self.file = file
        self.name = name
        self.longest = longest
        self.number = 0
        self.first = 1
        self._lines: list[str] = []
        self._size = 0

    @property
    def record(self) -> str:
        return "".join(self._lines)

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self.file)
        self.number += 1
        self._lines.append(line)
        self._size += len(line)
        if self.longest is not None and self._size > self.longest:
            raise too_long(self.name, self.longest)  # a quote that nobody closes
        return line

    def start(self) -> None:
        self._lines.clear()
        self._size = 0
        self.first = self.number + 1


def too_long(name: str, longest: int) -> BadRow:
    """What to say of a row without an end."""
    return BadRow(
        f"a row of '{name}' has more than {longest:,} characters",
        instead="end rows with a line break, and close quotes",
    )


def _next(reader: Iterator[list[str]], relation: Relation, name: str) -> list[str] | None:
    try:
        return next(reader, None)
    except csv.Error as e:
        line = getattr(reader, "line_num", 0)
        raise BadRow(
            f"a row of '{relation.name}' is malformed: {e}",
            instead='expected fields that are plain, or quoted as "..." with "" for a quote',
            at=Place(name, line, 1),
        ) from e


def _row(relation: Relation, fields: list[str], name: str, lines: _Lines, delimiter: str) -> Row:
    if len(fields) == len(relation.columns) + 1 and fields[-1] == "":
        fields = fields[:-1]
    if len(fields) != len(relation.columns):
        raise wrong_arity(relation, len(fields), Place(name, lines.first, 1))
    values: list[Value] = []
    for column, text in zip(relation.columns, fields, strict=True):
        try:
            values.append(_value(column, text))
        except ValueError as e:
            missing = text == "" and column.type.kind != "string"
            place = _place(name, lines, len(values), delimiter)
            raise bad_value(relation, column, None if missing else text, place) from e
    return tuple(values)


def _value(column: Column, text: str) -> Value:
    t = column.type
    if text == "" and (t.nullable or t.kind != "string"):
        return conform(None, t)
    return conform_to(READERS[t.kind](text), column)


def _place(name: str, lines: _Lines, index: int, delimiter: str) -> Place:
    """Where the field of an index starts in the current record, which may span lines."""
    before = lines.record[: _start_of(index, lines.record, delimiter)]
    return Place(
        name,
        lines.first + before.count("\n"),
        len(before) - (before.rfind("\n") + 1) + 1,
    )


def _start_of(index: int, record: str, delimiter: str) -> int:
    """The offset of a field in its record.

    >>> _start_of(2, 'a,"b,c",d', ",")
    8
    """
    quoted, field = False, 0
    for i, c in enumerate(record):
        if field == index:
            return i
        if c == '"':
            quoted = not quoted
        elif c == delimiter and not quoted:
            field += 1
    return len(record.rstrip("\r\n"))
