"""Rows on their way through a plan: values of columns, and the times of their streams.

A row carries the time of each stream that it comes from, as a number, beside its columns: windows
ask for them long after the columns that they were read from are gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import DOUBLE, INT, Kind, Type
from freshview.dataflow.plan.scalars import labels
from freshview.dataflow.plan.terms import Field, Plan
from freshview.dataflow.plan.walk import fields, times

Change: TypeAlias = tuple[Row, int]
"""A row and how often it comes or, below zero, goes."""

TIMES = "#time"
"""The table of the columns with times."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of rows, and the streams whose times follow them."""

    fields: tuple[Field, ...]
    times: tuple[Field, ...]

    @classmethod
    def of(cls, p: Plan) -> Layout:
        """The rows that a plan gives."""
        return cls(fields(p), times(p))

    @property
    def width(self) -> int:
        """How many columns stand before the times."""
        return len(self.fields)

    @property
    def hidden(self) -> tuple[Field, ...]:
        """The columns with the times."""
        return tuple(Field(TIMES, t.table, time_type(t.type)) for t in self.times)

    @property
    def all(self) -> tuple[Field, ...]:
        """All the columns."""
        return self.fields + self.hidden

    def relation(self, name: str) -> Relation:
        """All the columns as a relation."""
        both = zip(labels(self.all), self.all, strict=True)
        return Relation(name, tuple(Column(label, f.type) for label, f in both))

    def latest(self, row: Row) -> int | float:
        """The time of a row: the latest of its streams."""
        return max(t for t in row[self.width :] if isinstance(t, int | float))


def time_type(t: Type) -> Type:
    """What a time is as a number: days of dates, microseconds of timestamps."""
    return DOUBLE if t.kind == "double" else INT


def time_kind(t: Type) -> Kind:
    """The kind of a time that numbers stand for."""
    return t.kind
