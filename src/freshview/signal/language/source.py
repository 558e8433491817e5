"""Sources of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freshview.signal.language.check import integer
from freshview.signal.language.signals import Stream
from freshview.signal.terms import BadSignal, Field, Source


def stream(
    name: str,
    columns: Mapping[str, str] | Sequence[str] = ("value",),
    *,
    key: str | Sequence[str] = (),
    time: str = "time",
    end: str | None = None,
    delay: int | None = None,
) -> Stream:
    """A source of events: rows with a time, an end if one is named, keys and payload columns.

    Types are double, complex, int, bool, string and, for vectors, double[8]; columns without a type
    are doubles, and so are keys integers. Events that start more than `delay` before the latest
    start that was seen come too late; without a delay none does, and nothing is forgotten.
    """
    keys = (key,) if isinstance(key, str) else tuple(key)
    types = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns, "double")
    declared = {**{k: types.get(k, "int") for k in keys}, **types}
    fields = tuple(_field(name, column, kind) for column, kind in declared.items())
    if delay is not None and integer("a delay", delay) < 0:
        raise BadSignal(f"'{name}' has a delay of {delay}", instead="give zero or more")
    source = Stream(Source(name, fields, time, end, delay))
    return source.map(key=keys) if keys else source


def _field(source: str, name: str, kind: str) -> Field:
    word, _, size = kind.removesuffix("]").partition("[")
    if word not in ("double", "complex", "int", "bool", "string") or (size and not size.isdigit()):
        raise BadSignal(
            f"'{source}.{name}' has the type {kind!r}",
            instead="declare double, complex, int, bool, string, or a vector such as double[8]",
        )
    return Field(name, word, int(size or 0))  # type: ignore[arg-type]
