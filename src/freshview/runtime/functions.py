"""Python functions that SQL may call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
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
    many = _columnwise(fn, function, t) if vectorized else None
    one = (lambda *args: many([args])[0]) if many else _checked(fn, function, t)
    arity = _arity(function)
    return Function(fn, one, lambda *_: t.not_null(), arity, partial=t.nullable, many=many)


def _columnwise(
    name: str, function: Callable[..., Any], t: Type
) -> Callable[[list[tuple[Value, ...]]], list[Value]]:
    """A function of Arrow arrays as one of rows; its answers are checked, too."""

    def compute(rows: list[tuple[Value, ...]]) -> list[Value]:
        columns = [pa.array(column) for column in zip(*rows, strict=True)]
        try:
            answers = function(*columns)
            if isinstance(answers, pa.ChunkedArray):
                answers = answers.combine_chunks()
            values = pa.array(answers).to_pylist()
        except Exception as e:
            raise failed(name, rows[0], e) from e
        if len(values) != len(rows):
            raise BadValue(
                f"{name} answered {len(values)} values for {len(rows)} rows",
                instead="it must answer one for each",
            )
        return [_conformed(name, args, x, t) for args, x in zip(rows, values, strict=True)]

    return compute


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


def _checked(name: str, function: Callable[..., Any], t: Type) -> Callable[..., Value]:
    """The function, its answers as values of their type; what it raises becomes one sentence."""

    def compute(*args: Value) -> Value:
        try:
            answer = function(*args)
        except Exception as e:
            raise failed(name, args, e) from e
        return _conformed(name, args, answer, t)

    return compute


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
