"""Python functions that SQL may call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from freshview.calculus.casts import CASTS
from freshview.calculus.functions import Function, failed
from freshview.calculus.rows import conform, expected
from freshview.calculus.types import Type, Value, read_type
from freshview.errors import BadValue, FreshviewError, TypeProblem

if TYPE_CHECKING:
    import pyarrow as pa
else:
    from freshview.runtime.ingest.lazy_imports import pa

T = TypeVar("T")

OPERATORS = frozenset(
    (
        *("and", "or", "not", "in", "like", "when", "div", "mod", "concat", "coalesce"),
        *(
            "add_days",
            "add_months",
            "add_seconds",
            "add_micros",
            "days_between",
            "add_units",
            "units_between",
        ),
        *("bit_and_of", "bit_or_of", "bit_xor_of", "bit_not", "int_div", "seconds_of"),
    )
)
"""Functions that stand for what is written otherwise: / and AVG, a || b, d + INTERVAL '1' DAY."""


def check_callable(what: str, value: object) -> None:
    """Refuse what cannot be called, now and not with the first row."""
    if not callable(value):
        raise FreshviewError(
            f"{what} is {value!r}, which cannot be called", instead="give a function"
        )


def from_python(
    name: str, function: Callable[..., object], result: Type | str, *, vectorized: bool = False
) -> Function:
    """A Python function by a name, with the type of its answers, which are checked.

    One that is `vectorized` takes and gives Arrow arrays.
    """
    check_callable(f"the function '{name}'", function)
    t = read_type(result) if isinstance(result, str) else result
    if not isinstance(t, Type):
        raise TypeProblem(
            f"the type of '{name}' cannot be {result!r}", instead="write it as text, like 'double'"
        )
    if t.kind == "null":
        raise TypeProblem(f"the type of '{name}' cannot be null", instead="write one like 'int?'")
    if not isinstance(name, str) or not name:
        raise TypeProblem(f"a function cannot be called {name!r}", instead="give a text")
    fn = name.lower()
    if fn in OPERATORS:
        raise TypeProblem(
            f"'{fn}' is the function of an operator of SQL", instead="choose another name"
        )
    if fn.removeprefix("try_").removeprefix("cast_") in CASTS:
        raise TypeProblem(f"'{fn}' is the name of a CAST", instead="choose another name")
    arity = _arity(function)
    many = _OfColumns(fn, function, t) if vectorized else None
    one = _OfValues(fn, function, t) if many is None else _OfOneRow(many)
    return Function(fn, one, lambda *_: t.not_null(), arity, partial=t.nullable, many=many)


@dataclass(frozen=True)
class _OfValues:
    """A function of values; what it raises becomes one sentence. Workers get it pickled."""

    name: str
    function: Callable[..., Any]
    type: Type

    def __call__(self, *args: Value) -> Value:
        try:
            answer = self.function(*args)
        except Exception as e:
            raise failed(self.name, args, e) from e
        return _conformed(self.name, args, answer, self.type)


@dataclass(frozen=True)
class _OfColumns:
    """A function of Arrow arrays as one of rows; its answers are checked, too."""

    name: str
    function: Callable[..., Any]
    type: Type

    def __call__(self, rows: list[tuple[Value, ...]]) -> list[Value]:
        columns = [pa.array(column) for column in zip(*rows, strict=True)]
        try:
            answers = self.function(*columns)
            if isinstance(answers, pa.ChunkedArray):
                answers = answers.combine_chunks()
            values = pa.array(answers).to_pylist()
        except Exception as e:
            raise failed(self.name, rows[0], e) from e
        if len(values) != len(rows):
            raise BadValue(
                f"{self.name} answered {len(values)} values for {len(rows)} rows",
                instead="it must answer one for each",
            )
        pairs = zip(rows, values, strict=True)
        return [_conformed(self.name, args, answer, self.type) for args, answer in pairs]


@dataclass(frozen=True)
class _OfOneRow:
    """A function of Arrow arrays, asked for one row."""

    columns: _OfColumns

    def __call__(self, *args: Value) -> Value:
        return self.columns([args])[0]


def _conformed(name: str, args: tuple[Value, ...], answer: Any, t: Type) -> Value:
    try:
        return conform(answer.item() if hasattr(answer, "item") else answer, t)
    except (ValueError, TypeError, OverflowError):
        shown = ", ".join(map(repr, args))
        raise BadValue(
            f"{name}({shown}) answered {answer!r}",
            instead=f"it must answer {expected(t)}",
            values=args,
        ) from None


def _arity(function: Callable[..., object]) -> tuple[int, int]:
    """The fewest and the most arguments that a function takes by position."""
    try:
        kinds = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions do not tell
        return 0, 1 << 30
    takes = [p for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    most = 1 << 30 if any(p.kind == p.VAR_POSITIONAL for p in kinds) else len(takes)
    return sum(p.default is p.empty for p in takes), most


def without(functions: Iterable[T], function: T) -> list[T]:
    """A list without the first of its members that is this one, if there is one."""
    left = list(functions)
    if function in left:
        left.remove(function)
    return left
