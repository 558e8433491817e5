"""Functions that CREATE FUNCTION declares: an expression with parameters."""

from __future__ import annotations

from dataclasses import dataclass

from freshview.calculus.types import Type
from freshview.errors import Place
from freshview.sql.terms import NOWHERE, Scalar


@dataclass(frozen=True, slots=True)
class SqlType:
    """A type as CAST takes it."""

    type: Type
    digits: int = 0


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, and the constant that stands for it where a call ends before it."""

    name: str
    type: SqlType
    default: Scalar | None = None


@dataclass(frozen=True, slots=True)
class SqlFunction:
    """CREATE FUNCTION name(parameter, ...) RETURNS type RETURN body."""

    name: str
    parameters: tuple[Parameter, ...]
    result: SqlType | None
    body: Scalar
    at: Place = NOWHERE

    @property
    def fewest(self) -> int:
        """How many arguments it needs."""
        return sum(p.default is None for p in self.parameters)
