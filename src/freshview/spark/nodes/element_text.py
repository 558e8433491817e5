"""Elements of rings as text: JSON in which every value has its type.

A checkpoint is read as data and nothing else: values of a closed list of types, and elements of
ring classes that this process has imported. No text can name code to run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from freshview.algebra import Category, Element, Real
from freshview.errors import FreshviewError


class Unreadable(FreshviewError):
    """A value without a text form, or a text that is not a value."""


def encode(value: object) -> bytes:
    """A value as text.

    >>> encode((1, Decimal("0.10")))
    b'["tuple",1,["decimal","0.10"]]'
    """
    return json.dumps(_plain(value), separators=(",", ":")).encode()


def decode(data: bytes) -> object:
    """The inverse of `encode`; `Unreadable` if it is no such text.

    >>> from freshview.algebra import Pair
    >>> decode(encode(Pair(2, 0.5)))
    Pair(count=2, sum=0.5)
    """
    try:
        return _value(json.loads(data))
    except (ValueError, TypeError, LookupError, ArithmeticError) as e:
        raise Unreadable(f"an element of a ring cannot be read: {e}") from e


def _plain(x: object) -> object:
    match x:
        case None | bool() | int() | float() | str():
            return x
        case Decimal():
            return ["decimal", str(x)]
        case Real():
            return ["real", x.text()]
        case datetime():
            return ["timestamp", x.isoformat()]
        case date():
            return ["date", x.isoformat()]
        case Category():
            return ["category", _plain(x.name), _plain(x.value)]
        case Element():
            fields = [[name, _plain(getattr(x, name))] for name in _fields(x)]
            return ["element", _name(type(x)), *fields]
        case tuple():
            return ["tuple", *map(_plain, x)]
        case list():
            return ["list", *map(_plain, x)]
        case dict():
            return ["map", *([_plain(k), _plain(v)] for k, v in x.items())]
        case _ if hasattr(x, "item"):  # a number of NumPy's
            return _plain(x.item())
    raise Unreadable(
        f"{x!r}, a part of an element of a ring, has no form as text",
        instead="keep numbers, texts, dates, tuples, lists or dictionaries in it",
    )


def _value(data: Any) -> object:
    match data:
        case None | bool() | int() | float() | str():
            return data
        case ["decimal", str(text)]:
            return Decimal(text)
        case ["real", str(text)]:
            return Real.read(text)
        case ["timestamp", str(text)]:
            return datetime.fromisoformat(text)
        case ["date", str(text)]:
            return date.fromisoformat(text)
        case ["category", str(name), value]:
            return Category(name, _value(value))
        case ["element", str(name), *fields]:
            return _element(name, fields)
        case ["tuple", *parts]:
            return tuple(map(_value, parts))
        case ["list", *parts]:
            return list(map(_value, parts))
        case ["map", *pairs]:
            return {_value(k): _value(v) for k, v in pairs}
    raise ValueError(f"{data!r} is not a value")


def _element(name: str, fields: Iterable[tuple[str, object]]) -> object:
    kinds = [c for c in _classes(Element) if _name(c) == name]
    if not kinds:
        raise Unreadable(
            f"there is no ring class '{name}' in this process",
            instead="import it before the pipeline is restarted",
        )
    # A dataclass with slots replaces the class that it was written as: the last one counts.
    element = object.__new__(kinds[-1])
    for field, value in fields:
        object.__setattr__(element, field, _value(value))
    return element


def _fields(x: Element) -> list[str]:
    """The names of an element's fields, in slots or not."""
    slots = [s for c in type(x).__mro__ for s in _slots(c) if hasattr(x, s)]
    return [*slots, *getattr(x, "__dict__", {})]


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _classes(kind: type[object]) -> Iterator[type[object]]:
    for each in kind.__subclasses__():
        yield each
        yield from _classes(each)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
