"""What can go wrong, said in one sentence with its place and its remedy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where a complaint points: a file (or "<text>"), and a line and column counted from 1."""

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


class FreshetError(Exception):
    """The base of every error that Freshet raises on purpose.

    `what` says what is wrong, `instead` what to do about it, `at` where it stands.
    """

    def __init__(self, what: str, *, instead: str = "", at: Place | None = None) -> None:
        self.what = what
        self.instead = instead
        self.at = at
        super().__init__(what)

    def located(self, at: Place) -> FreshetError:
        """Give the error a place, unless it already has one."""
        if self.at is None:
            self.at = at
        return self

    def __str__(self) -> str:
        """One line: place, complaint, remedy."""
        place = f"{self.at}: " if self.at else ""
        remedy = f"; {self.instead}" if self.instead else ""
        return f"{place}{self.what}{remedy}"


class FreshetWarning(UserWarning):
    """Something that works, but not as well as it could on this machine."""


class SyntaxProblem(FreshetError):
    """The text cannot be read: SQL, calculus or M3."""


class UnsupportedSql(FreshetError):
    """The SQL is read, but Freshet does not maintain this construct."""


class TooDeep(FreshetError):
    """A query that nests further, or grows larger in translation, than Freshet takes."""


class UnknownName(FreshetError):
    """A table, column, view or function that nobody declared."""


class AmbiguousName(FreshetError):
    """A column name that more than one table in scope has."""


class TypeProblem(FreshetError):
    """Values of types that do not go together."""


class UnboundVariable(FreshetError):
    """A term reads a variable that nothing to its left, and no context, binds."""


class BadRow(FreshetError):
    """A row of input that does not fit its relation."""


class ProgramProblem(FreshetError):
    """A trigger program that is not well formed."""


class StrictRefusal(FreshetError):
    """A view marked `strict` would need recomputation; the message names the node."""


class NotNative(FreshetError):
    """A program that the native engine does not run; the reference engine does."""


class BuildProblem(FreshetError):
    """A kernel cannot be compiled or loaded on this machine."""


class Overflow(FreshetError):
    """A change would take some integer or decimal of a view out of its range."""


class NoRoom(Overflow, BadRow):
    """A kernel that is written for few digits meets a decimal that has more."""


class BadValue(FreshetError):
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


class OutOfMemory(FreshetError):
    """There is no memory for a change or a result; nothing was changed."""


class StateLost(OutOfMemory):
    """Memory ended in the middle of a change, and with it the state of a kernel."""


class SnapshotProblem(FreshetError):
    """A snapshot cannot be written, is damaged, or belongs to another program."""
