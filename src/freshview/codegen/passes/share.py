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
    Definition,
    Group,
    Range,
    RangeSum,
    Scope,
    Stmt,
    Turn,
    Walk,
)
from freshview.codegen.loops.walk import (
    is_definition,
    is_scope,
    map_blocks,
    mentioned,
    renamed,
    statements,
    with_body,
)

Renaming = dict[str, str]

COLLECTED = "collected"
"""In the place of the names of tables that a block has filled."""


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
    defined: dict[str, int] = {}
    for s in block:
        if is_definition(s):
            _define(items, s, names, defined)
        elif is_scope(s):
            _enter(items, s, names, _behind(s, names, defined))
        else:
            items.append(_Item(renamed(s, names), None))


def _define(items: list[_Item], s: Definition, names: Renaming, defined: dict[str, int]) -> None:
    """Define a local, if it is not defined already, and note where."""
    new = map_blocks(renamed(s, names), share)
    key = _known_by(new)
    at = next((i for i, item in enumerate(items) if key and item.key == key), len(items))
    if at == len(items):
        items.append(_Item(new, key))
    else:
        names.update(zip(_names(s), _names(items[at].statement), strict=True))
    if isinstance(s, Collect):
        defined[COLLECTED] = at
    elif not isinstance(s, Turn):  # they come first
        defined[names.get(s.name, s.name)] = at


def _known_by(s: Stmt) -> Any:
    """What a definition does, whatever it and the turns that are its own are called."""
    if isinstance(s, Collect | Turn):
        return None
    if isinstance(s, RangeSum):
        s = replace(s, range=replace(s.range, turns=("",) * len(s.range.turns)))
    return _anonymous(s, ["name"])


def _names(s: Any) -> tuple[str, ...]:
    """A definition's name, and those of its own turns."""
    return (s.name, *s.range.turns) if isinstance(s, RangeSum) else (s.name,)


def _behind(s: Scope, names: Renaming, defined: dict[str, int]) -> int:
    """The last definition that a scope may need; collected tables go by names of their own."""
    needed = (defined.get(names.get(name, name), 0) for name in mentioned(s))
    return max(needed, default=0) if COLLECTED not in defined else max(defined.values())


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
    """The block, turns first."""
    inside = [
        with_body(i.statement, _frozen(i.inside)) if is_scope(i.statement) else i.statement
        for i in items
    ]
    used = {turn for s in statements(inside) for turn in _turns(s)}
    turns = (s for s in inside if isinstance(s, Turn) and s.name in used)
    return (*turns, *(s for s in inside if not isinstance(s, Turn)))


def _turns(s: Stmt) -> tuple[str, ...]:
    return s.range.turns if isinstance(s, RangeSum | Walk) else ()
