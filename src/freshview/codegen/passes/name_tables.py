"""Names of transient tables: numbered through a kernel, since each has a type of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from freshview.calculus.terms import TermNode
from freshview.codegen.loops.terms import (
    Block,
    Collect,
    Function,
    Loops,
    Stmt,
)
from freshview.codegen.loops.walk import field_names, is_part

REFERRING = ("table", "others")
"""Fields that hold names of tables."""


def name_tables(loops: Loops) -> Loops:
    """The same loops, in which no two transient tables have one name."""
    numbers = count()
    return Loops(tuple(replace(f, body=_block(f.body, {}, numbers)) for f in loops.functions))


def _block(block: Block, names: Mapping[str, str], numbers: Iterator[int]) -> Block:
    out: list[Stmt] = []
    for s in block:
        if isinstance(s, Collect):
            name = f"tmp{next(numbers)}" if s.name.startswith("tmp") else s.name
            names = {**names, s.name: name}
            table = replace(s.table, name=name)
            s = Collect(name, table, _block(s.body, names, numbers))
        else:
            s = _named(s, names, numbers)
        out.append(s)
    return tuple(out)


def _named(x: Any, names: Mapping[str, str], numbers: Iterator[int]) -> Any:
    changes: dict[str, Any] = {}
    for f in field_names(x):
        old = getattr(x, f)
        if f in ("body", "up", "down"):
            new: Any = _block(old, names, numbers)
        elif f in REFERRING and isinstance(old, str):
            new = names.get(old, old)
        elif isinstance(old, tuple) and old and is_part(old[0]):
            new = tuple(_named(item, names, numbers) for item in old)
        elif is_part(old) and not isinstance(old, TermNode | Function):
            new = _named(old, names, numbers)
        else:
            continue
        if new is not old and new != old:
            changes[f] = new
    return replace(x, **changes) if changes else x
