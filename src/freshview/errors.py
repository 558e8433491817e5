"""What can go wrong, said in one sentence with its place and its remedy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where an error points: a file (or "<text>"), and a line and column counted from 1."""

    file: str = "<text>"
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """`file:line:column`, leaving out what is not known.

        >>> str(Place("views.sql", 3, 8)), str(Place("views.sql"))
        ('views.sql:3:8', 'views.sql')
        """
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}"


class FreshviewError(Exception):
    """The base of every error that Freshview raises on purpose.

    `what` says what is wrong, `instead` what to do about it, `at` where it stands.
    """

    def __init__(self, what: str, *, instead: str = "", at: Place | None = None) -> None:
        self.what = what
        self.instead = instead
        self.at = at
        super().__init__(what)

    def located(self, at: Place) -> FreshviewError:
        """Give the error a place, unless it already has one with a line."""
        if self.at is None or not self.at.line:
            self.at = at
        return self

    def __str__(self) -> str:
        """One line: place, problem, remedy."""
        place = f"{self.at}: " if self.at else ""
        remedy = f"; {self.instead}" if self.instead else ""
        return f"{place}{self.what}{remedy}"


class FreshviewWarning(UserWarning):
    """Something that works, but not as well as it could on this machine."""


class SyntaxProblem(FreshviewError):
    """The text cannot be read: SQL, calculus or M3."""


class UnsupportedSql(FreshviewError):
    """The SQL is read, but Freshview does not maintain this construct."""


class TooDeep(FreshviewError):
    """A query that nests further, or grows larger in translation, than Freshview takes."""


class UnknownName(FreshviewError):
    """A table, column, view or function that nobody declared."""


class UnknownFunction(UnknownName):
    """A function that there is not, built-in or registered."""


class AmbiguousName(FreshviewError):
    """A column name that more than one table in scope has."""


class TypeProblem(FreshviewError):
    """Values of types that do not go together."""


class UnboundVariable(FreshviewError):
    """A term reads a variable that nothing to its left, and no context, binds."""


class BadRow(FreshviewError):
    """A row of input that does not fit its relation."""


class NotAdmitted(BadRow):
    """A change deletes rows that are not there, or repeats a key; its net change may still fit."""


class ProgramProblem(FreshviewError):
    """A trigger program that is not well formed."""


class StrictRefusal(FreshviewError):
    """A view marked `strict` would need recomputation; the message names the node."""


class NotNative(FreshviewError):
    """A program that the native engine does not run; the reference engine does."""


class BuildProblem(FreshviewError):
    """A kernel cannot be compiled or loaded on this machine."""


class Overflow(FreshviewError):
    """A change would take some integer or decimal of a view out of its range."""


class NoRoom(Overflow, BadRow):
    """A kernel that is written for few digits meets a decimal that has more."""


class BadValue(FreshviewError):
    """A function or a cast that has no answer for the values it is given.

    A change that brings such values is refused whole; `values` are the arguments.
    """

    def __init__(
        self,
        what: str,
        *,
        instead: str = "",
        at: Place | None = None,
        values: tuple[object, ...] = (),
    ) -> None:
        super().__init__(what, instead=instead, at=at)
        self.values = values


class OutOfMemory(FreshviewError):
    """There is no memory for a change or a result; nothing was changed."""


class StateLost(OutOfMemory):
    """A kernel lost its state: no memory for a change, or one that cannot be taken back exactly."""


class SnapshotProblem(FreshviewError):
    """A snapshot cannot be written, is damaged, or belongs to another program."""
