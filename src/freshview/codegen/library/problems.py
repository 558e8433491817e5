"""The problems that a kernel meets, as errors: what is wrong, where, and what to do instead."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import localcontext
from typing import Any, NoReturn

from freshview.algebra import EXACT
from freshview.calculus.functions import call
from freshview.calculus.rows import Row, bad_value, checked, conform_to, expected, too_long
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import Value
from freshview.codegen.library.host import failure
from freshview.codegen.library.tables import Tables
from freshview.errors import (
    BadRow,
    FreshviewError,
    NoRoom,
    NotAdmitted,
    OutOfMemory,
    Overflow,
    Place,
    ProgramProblem,
    StateLost,
)
from freshview.program.signs import too_many

ARROW_NAMES = {
    "n": "null",
    "b": "bool",
    "c": "int8",
    "C": "uint8",
    "s": "int16",
    "S": "uint16",
    "i": "int32",
    "I": "uint32",
    "l": "int64",
    "L": "uint64",
    "e": "float16",
    "f": "float32",
    "g": "float64",
    "z": "binary",
    "Z": "large_binary",
    "u": "utf8",
    "U": "large_utf8",
    "vu": "utf8_view",
    "tdD": "date32",
    "tdm": "date64",
}


def handle_problem(
    tables: Tables, number: int, problem: str, row: int, column: int, value: Any
) -> object:
    """Raise the error that a kernel's problem deserves, in the words of `calculus.rows`.

    Only a row that may be a mapping, or have values of other types that stand for those of its
    columns, and counts that do not lie in memory as the kernel has them give an answer.
    """
    if problem == "odd counts":
        return _counts(value)
    if problem in ("query", "map"):
        table = (tables.queries if problem == "query" else tables.maps)[number]
        if value is not None:
            _no_answer(tables, value, Place(f"view '{table.name}'"))
        raise Overflow(f"a number of '{table.name}' leaves its range when it is read")
    if problem == "unread":
        raise OutOfMemory("not enough memory to read the rows", instead="read fewer of them")
    if problem == "copies":
        raise too_long(tables.queries[number].name, value)
    relation = tables.relations[number]
    name = relation.name
    place = Place(f"row {row + 1} of '{name}'" if row >= 0 else f"a dictionary of '{name}'")
    match problem:
        case "fault":
            _no_answer(tables, value, Place(f"a change of '{name}'"))
        case "row" | "odd":
            try:
                good = checked(relation, value, place)
            except OverflowError as e:
                raise bad_value(relation, relation.columns[column], value[column], place) from e
            if problem == "row" and _is_same(good, value):
                raise _no_room(relation, column, good[column], place)
            return good
        case "value":
            if _is_good(value, relation.columns[column]):
                raise _no_room(relation, column, value, place)
            raise bad_value(relation, relation.columns[column], value, place)
        case "refused":
            raise NotAdmitted(f"a row to delete is not in '{name}', or its key is taken")
        case "overflow" | "full" | "lost" | "many" | "static" | "closed" | "late":
            raise _refused_change(name, problem)
        case _:
            raise _bad_input(relation, problem, row, column, value)


def _is_same(row: Row, values: Sequence[object]) -> bool:
    """Whether a row is as it was, so that a kernel would refuse it again."""
    return all(type(a) is type(b) and a == b for a, b in zip(row, values, strict=True))


def _is_good(value: Value, column: Column) -> bool:
    """Whether a value is a decimal of the domain, though of more digits than the kernel has."""
    if column.type.kind != "decimal" or value is None:
        return False
    try:
        conform_to(value, column)
    except ValueError:
        return False
    return True


def _no_room(relation: Relation, column: int, value: object, place: Place) -> NoRoom:
    c = relation.columns[column]
    return NoRoom(
        f"{relation.name}.{c.name} cannot hold {value!r} in this kernel",
        instead="expected a decimal that fits in 64 bits, or a kernel that is written for more",
        at=place,
    )


def _no_answer(tables: Tables, fault: tuple[Any, ...], at: Place) -> NoReturn:
    """Raise what the function raises in Python that had no answer in the kernel.

    Where it has one, the kernel had no room for it.
    """
    fn, *args = fault
    raised = failure(fn)
    if raised is not None:
        raise raised.located(at) if isinstance(raised, FreshviewError) else raised
    try:
        with localcontext(EXACT):
            answer = call(tables.functions[fn], tuple(args))
    except FreshviewError as problem:
        raise problem.located(at) from None
    raise Overflow(
        f"{answer}, the answer of {fn}, leaves the range of its type", instead="use doubles", at=at
    )


def _counts(counts: Any) -> object:
    """Counts as the kernel takes them: a sequence of int, or 64-bit integers in one piece."""
    if hasattr(counts, "__arrow_c_array__") or hasattr(counts, "__arrow_c_stream__"):
        import pyarrow as pa

        counts = pa.chunked_array(counts) if hasattr(counts, "__arrow_c_stream__") else counts
        counts = pa.array(counts).to_numpy(zero_copy_only=False)
    if hasattr(counts, "__array_interface__"):
        import numpy as np

        if counts.dtype.kind in "iu":
            counts = np.ascontiguousarray(counts, dtype=np.int64)
    return counts


def _refused_change(name: str, problem: str) -> FreshviewError:
    """What kept a change of a relation from happening, whatever its rows are."""
    match problem:
        case "overflow":
            return Overflow(
                f"this change of '{name}' takes a number of a view out of its range",
                instead="nothing was changed; integers have 64 bits and decimals 38 digits, "
                "use DOUBLE for larger ones",
            )
        case "full":
            return OutOfMemory(
                "not enough memory for this change or its rows",
                instead="nothing was changed; give smaller batches, or raise the limit",
            )
        case "lost":
            return StateLost(
                "ran out of memory during a change, and what the kernel kept is lost",
                instead="restore a snapshot, or declare the view again",
            )
        case "many":
            return too_many(name)
        case "static":
            return Overflow(
                "the static tables take a number of a view out of its range",
                instead="nothing of them was kept; use decimals or doubles in the view",
            )
        case "closed":
            return ProgramProblem("the kernel is closed", instead="open another one")
        case _:
            return ProgramProblem(
                f"'{name}' is a static table, and a view was read or a change has come already",
                instead="load static tables before everything else, or keep the rows",
            )


def _bad_input(
    relation: Relation, problem: str, row: int, column: int, value: Any
) -> FreshviewError:
    """What is wrong with rows or with an Arrow table of a relation."""
    name = relation.name
    names = ", ".join(c.name for c in relation.columns)
    match problem:
        case "count":
            return BadRow(
                f"the count of row {row + 1} of '{name}' is {value!r}",
                instead="give an integer of 64 bits",
            )
        case "counts":
            return BadRow(
                f"{row} rows of '{name}' come with {value} counts", instead="give as many"
            )
        case "type":
            c = relation.columns[column]
            return BadRow(
                f"{name}.{c.name} cannot hold Arrow's {arrow_name(value)}",
                instead=f"expected {expected(c.type)}",
            )
        case "missing":
            return BadRow(
                f"the table has no column '{relation.columns[column].name}'",
                instead=f"'{name}' needs {names}",
            )
        case "extra":
            return BadRow(f"'{name}' has no column '{value}'", instead=f"its columns are {names}")
        case "table":
            return BadRow(
                f"rows of '{name}' cannot come as one Arrow column", instead=f"give {names}"
            )
        case "damaged":
            return BadRow(
                f"the Arrow column for {name}.{relation.columns[column].name} is damaged: {value}",
                instead="validate the table where it is made: validate(full=True) in pyarrow",
            )
        case "whole":
            return BadRow(f"row {row + 1} of '{name}' is NULL, not a row")
        case _:
            return BadRow(f"the stream of rows of '{name}' broke: {value}")


def arrow_name(format: str) -> str:
    """What people call the type that a format string of Arrow's C interface names.

    >>> arrow_name("l"), arrow_name("tsn:UTC"), arrow_name("d:10,2"), arrow_name("+l")
    ('int64', 'timestamp[ns, UTC]', 'decimal(10,2)', "'+l'")
    """
    if format.startswith("ts"):
        unit = {"s": "s", "m": "ms", "u": "us", "n": "ns"}.get(format[2:3], "?")
        return f"timestamp[{unit}, {format[4:]}]" if format[4:] else f"timestamp[{unit}]"
    if format.startswith("d:"):
        return f"decimal({format[2:]})"
    return ARROW_NAMES.get(format, repr(format))
