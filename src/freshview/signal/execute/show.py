"""Plans as text."""

from __future__ import annotations

from dataclasses import fields

from freshview.signal.execute.build import inputs_of
from freshview.signal.policies import Policy
from freshview.signal.steps import Aggregate, DigitalFilter, Step
from freshview.signal.terms import Field, Grid, Term


def show(term: Term, depth: int = 0) -> str:
    """A term a line, inputs below what reads them; functions by their names.

    >>> from freshview.signal.terms import Shift, Source
    >>> print(show(Shift(Source("readings", (Field("value"),)), 5)))
    shift by=5
      source name='readings' fields=(value double) time='time' end=None delay=None
    """
    inputs = inputs_of(term)
    words = [type(term).__name__.lower()]
    for field in fields(term):
        value = getattr(term, field.name)
        if not any(value is t for t in inputs):
            words.append(f"{field.name}={_shown(value)}")
    lines = ["  " * depth + " ".join(words)]
    return "\n".join([*lines, *(show(t, depth + 1) for t in inputs)])


def _shown(value: object) -> str:
    match value:
        case Grid(period, offset):
            return f"every {period} from {offset}"
        case Field(name, kind, size):
            return f"{name} {kind}" + (f"[{size}]" if size else "")
        case Policy() | Step() | Aggregate():
            return str(value)
        case DigitalFilter():
            return f"{value.name}({value.forward}, {value.backward})"
        case tuple() if len(value) > 8:
            return f"({', '.join(map(_shown, value[:8]))}, ... {len(value)} in all)"
        case tuple():
            return f"({', '.join(map(_shown, value))})"
        case _ if callable(value):
            return str(getattr(value, "__qualname__", type(value).__name__))
        case _:
            return repr(value)
