"""Sharing: statements with a common beginning go through it together.

A scope or a definition is known by what it does. A second one that does the same goes on inside the
first, and what it names is called as there: common subexpressions, loops and look-ups included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from freshview.codegen.loops.terms import (
    Block,
    Collect,
    Group,
    Range,
    Scope,
    Stmt,
    Turn,
    Walk,
)
from freshview.codegen.loops.walk import (
    is_definition,
    is_scope,
    map_blocks,
    renamed,
    with_body,
)

Renaming = dict[str, str]


@dataclass
class _Item:
    """A statement, what it does whatever it names, and the statements inside."""

    statement: Stmt
    key: Any
    inside: list[_Item] = field(default_factory=list)


def share(block: Block) -> Block:
    """The same block, in which nothing that could be shared is done twice."""
    items: list[_Item] = []
    _insert(items, block, {})
    return _frozen(items)


def _insert(items: list[_Item], block: Iterable[Stmt], names: Renaming) -> None:
    names = dict(names)
    after = 0
    for s in block:
        if is_definition(s):
            after = max(after, _define(items, s, names))
        elif is_scope(s):
            _enter(items, s, names, after)
        else:
            items.append(_Item(renamed(s, names), None))


def _define(items: list[_Item], s: Stmt, names: Renaming) -> int:
    """Where the local of a definition is defined: maybe it is already."""
    s = map_blocks(renamed(s, names), share)
    key = None if isinstance(s, Collect | Turn) else _anonymous(s, ["name"])
    if key is not None:
        for i, item in enumerate(items):
            if item.key == key:
                names[s.name] = item.statement.name  # type: ignore[union-attr]
                return i
    items.append(_Item(s, key))
    return len(items) - 1


def _enter(items: list[_Item], s: Scope, names: Renaming, after: int) -> None:
    """Go on inside a scope: the one that is there, or a new one."""
    head = renamed(with_body(s, ()), names)
    if isinstance(head, Walk):
        head = replace(head, range=_shared_range(head.range))
    named = _introduced(head)
    key = None if isinstance(s, Group) else _anonymous(head, named)
    if key is not None:
        for item in items[after:]:
            if item.key == key:
                for f in named:
                    names = {**names, getattr(head, f): getattr(item.statement, f)}
                _insert(item.inside, s.body, names)
                return
    item = _Item(head, key)
    items.append(item)
    _insert(item.inside, s.body, names)


def _anonymous(s: Any, named: Iterable[str]) -> Any:
    """What a statement does, whatever it calls what it finds."""
    return replace(s, **dict.fromkeys(named, ""))


def _shared_range(r: Range) -> Range:
    return replace(r, up=share(r.up), down=share(r.down))


def _introduced(s: Stmt) -> list[str]:
    """The fields by which a scope names what it finds."""
    introducing = {"Times": ("sign",), "Find": ("name",)}.get(type(s).__name__, ("row",))
    return [f for f in introducing if hasattr(s, f)]


def _frozen(items: Iterable[_Item]) -> Block:
    return tuple(
        with_body(i.statement, _frozen(i.inside)) if is_scope(i.statement) else i.statement
        for i in items
    )
