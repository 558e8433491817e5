"""An entry of the table of functions: names, what it takes, what it gives, what it computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from freshview.calculus.types import (
    BOOL,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Kind,
    Type,
    Value,
    common,
)
from freshview.errors import BadValue

Compute: TypeAlias = Callable[..., Value]
MANY = 1 << 30

_TAKES: dict[str, tuple[Kind, ...]] = {
    "any": (),
    "string": ("string",),
    "int": ("int",),
    "long": ("int",),
    "double": ("double",),
    "number": ("double", "int", "decimal"),
    "exact": ("int", "decimal"),
    "bool": ("bool",),
    "date": ("date",),
    "timestamp": ("timestamp",),
    "time": ("timestamp", "date"),
}
"""What a word of a signature admits; the first kind is that to which others are cast.

`int` is an integer of 32 bits in Spark and `long` one of 64: the answer of a function may tell.
"""

_GIVES = {str(t): t for t in (INT, DOUBLE, DATE, TIMESTAMP, BOOL, STRING)}


@dataclass(frozen=True, slots=True)
class Entry:
    """A function of the table; its first name is the one that terms of the calculus use."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    """What it takes, as the signature says it; the last word holds for all that follow."""
    fewest: int
    most: int
    compute: Compute
    result: Callable[..., Type]
    partial: bool
    """Whether it may answer NULL though no argument is."""
    strict: bool = True
    refuses: bool = False
    """Whether some values have no answer, which refuses the change that brings them."""

    def word(self, number: int) -> str:
        """What it takes as the argument of a number, from 0."""
        return self.words[min(number, len(self.words) - 1)]

    @property
    def takes(self) -> tuple[tuple[Kind, ...], ...]:
        """The kinds that each argument may be of; none where all may."""
        return tuple(_TAKES[word] for word in self.words)


def entry(
    names: str,
    signature: str,
    compute: Compute,
    *,
    result: Callable[..., Type] | None = None,
    strict: bool = True,
) -> Entry:
    """An entry from its signature: `string, [int] -> string?` or `string... -> string!`.

    With ? it may answer NULL where no argument is NULL, with ! it may have no answer.

    >>> e = entry("lpad", "string, int, [string] -> string", str.rjust)
    >>> e.fewest, e.most, str(e.result(STRING, INT)), e.partial
    (2, 3, 'string', False)
    """
    arguments, _, gives = signature.partition("->")
    words = [word.strip() for word in arguments.split(",") if word.strip()]
    optional = sum(word.startswith("[") for word in words)
    repeated = any(word.endswith("...") for word in words)
    kind = gives.strip().rstrip("?!")
    return Entry(
        tuple(names.split()),
        tuple(word.strip("[].") for word in words),
        len(words) - optional - (repeated and len(words) > 1),
        MANY if repeated else len(words),
        compute,
        result or _RESULTS.get(kind) or _fixed(_GIVES[kind]),
        "?" in gives,
        strict,
        "!" in gives,
    )


def _fixed(t: Type) -> Callable[..., Type]:
    return lambda *_: t


def _same(first: Type, *_: Type) -> Type:
    return first.not_null()


def _widest(*types: Type) -> Type:
    return reduce(common, types).not_null()


_RESULTS: dict[str, Callable[..., Type]] = {"same": _same, "widest": _widest}


def bad(fn: str, why: str, *values: Value) -> BadValue:
    """The error of a function that has no answer."""
    return BadValue(
        f"{fn.upper()}: {why}",
        instead="correct the value, or test it with CASE first",
        values=values,
    )
