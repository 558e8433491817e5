"""Switches of the compiler as a command line gives them: name=value."""

from __future__ import annotations

from collections.abc import Sequence

from freshview.errors import FreshviewError
from freshview.plan.switches import Switches, read_switches

YES_OR_NO = {"yes": True, "no": False}


def switches_of(texts: Sequence[str] | None) -> Switches:
    """The switches of options `--switch name=value`.

    >>> switches_of(["depth=1", "always_update=yes", "increment=dear:items"]).words()
    ('switches: depth=1 always_update=yes increment=dear:items',)
    """
    values: dict[str, object] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise FreshviewError(
                f"the switch '{text}' has no value", instead="write it as depth=1 or decompose=no"
            )
        values[name.strip().replace("-", "_")] = _value(name.strip(), value.strip())
    return read_switches(values)


def _value(name: str, text: str) -> object:
    """What a text stands for: a number, yes or no, names, or pairs of names."""
    if text.isdigit():
        return int(text)
    if text in YES_OR_NO:
        return YES_OR_NO[text]
    parts = [part.strip() for part in text.split(",")]
    return [tuple(p.split(":")) for p in parts] if ":" in text else parts
