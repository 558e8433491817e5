"""One walker for all passes over loops: blocks inside, values, names, renaming."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from freshview.calculus.scope import free
from freshview.calculus.terms import Expr, TermNode
from freshview.calculus.walk import rename as rename_value
from freshview.codegen.loops.effects import Effect
from freshview.codegen.loops.parts import Search
from freshview.codegen.loops.terms import (
    Block,
    Definition,
    Range,
    RangeSum,
    Scope,
    Stmt,
    Walk,
)

if TYPE_CHECKING:
    from typing_extensions import TypeIs

T = TypeVar("T")

DEFINITIONS = get_args(Definition)
SCOPES = get_args(Scope)
MODULES = {kind.__module__ for kind in (Search, Range, *get_args(Effect))}
"""Where the nodes of loops are declared."""

REFERRING = {"name", "row", "sign", "at", "probe", "turns"}
"""Fields that hold names of locals."""


def is_definition(s: Stmt) -> TypeIs[Definition]:
    """Whether a statement names a local for the rest of its block."""
    return isinstance(s, DEFINITIONS)


def is_scope(s: Stmt) -> TypeIs[Scope]:
    """Whether a statement runs a block of its own for the rows that it finds."""
    return isinstance(s, SCOPES)


def blocks(s: Stmt) -> tuple[Block, ...]:
    """The blocks inside a statement."""
    if isinstance(s, RangeSum):
        return s.range.up, s.range.down
    if isinstance(s, Walk):
        return s.range.up, s.range.down, s.body
    return (s.body,) if hasattr(s, "body") else ()


def map_blocks(s: Stmt, f: Callable[[Block], Block]) -> Stmt:
    """A statement with other blocks inside."""
    if isinstance(s, RangeSum | Walk):
        s = replace(s, range=replace(s.range, up=f(s.range.up), down=f(s.range.down)))
    if hasattr(s, "body"):
        body = f(s.body)
        return s if body == s.body else with_body(s, body)
    return s


def with_body(s: Any, body: Block) -> Stmt:
    """A scope, or what computes a local, with another block inside."""
    changed: Stmt = replace(s, body=body)
    return changed


def statements(block: Iterable[Stmt]) -> Iterator[Stmt]:
    """All the statements of a block, those inside others after these."""
    open_blocks = [iter(block)]
    while open_blocks:
        for s in open_blocks[-1]:
            yield s
            inside = blocks(s)
            if inside:
                open_blocks += [iter(b) for b in reversed(inside)]
                break
        else:
            open_blocks.pop()


_FIELDS: dict[type, tuple[str, ...]] = {}


def field_names(x: object) -> tuple[str, ...]:
    """The names of the fields of a node."""
    kind: type[Any] = type(x)
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(f.name for f in fields(kind))
    return _FIELDS[kind]


def values(s: object) -> Iterator[TermNode]:
    """The values that a statement itself computes, those of its blocks left out."""
    for name in field_names(s):
        if name not in ("body", "up", "down"):
            yield from _values(getattr(s, name))


def _values(x: object) -> Iterator[TermNode]:
    if isinstance(x, TermNode):
        yield x
    elif isinstance(x, tuple):
        for item in x:
            yield from _values(item)
    elif is_part(x):
        yield from values(x)


def is_part(x: object) -> bool:
    """Whether something is a node of loops: a test, a range, a search, a statement."""
    return type(x).__module__ in MODULES


def names_read(s: object) -> frozenset[str]:
    """The names of locals and columns that a statement itself reads."""
    return frozenset[str]().union(*(free(e) for e in values(s)))


def all_names_read(block: Iterable[Stmt]) -> frozenset[str]:
    """The names of locals and columns that a block reads."""
    return frozenset[str]().union(*(names_read(s) for s in statements(block)))


def mentioned(x: object) -> Iterator[str]:
    """The names of locals and rows that a node has anywhere, those that it introduces included.

    >>> from freshview.calculus.terms import Var
    >>> from freshview.codegen.loops.effects import Tally
    >>> sorted(mentioned(Tally((Var("r1.k0"), Var("x")))))
    ['r1', 'x']
    """
    if isinstance(x, TermNode):
        yield from (name.partition(".")[0] for name in free(cast("Expr", x)))
    elif isinstance(x, tuple):
        for item in x:
            yield from mentioned(item)
    elif is_part(x):
        for name in field_names(x):
            old = getattr(x, name)
            if name == "turns":
                yield from old
            elif isinstance(old, str):
                yield from [old] if name in REFERRING else []
            else:
                yield from mentioned(old)


def renamed(x: T, names: Mapping[str, str]) -> T:
    """The same with other names of locals, inside its blocks, too.

    >>> from freshview.calculus.terms import Var
    >>> from freshview.codegen.loops.effects import Tally
    >>> renamed(Tally((Var("r1.k0"), Var("x"))), {"r1": "g"})
    Tally(weight=(Var(name='g.k0'), Var(name='x')))
    """
    new: T = _renamed(x, names) if names else x
    return new


def _renamed(x: Any, names: Mapping[str, str]) -> Any:
    if isinstance(x, TermNode):
        return _renamed_value(cast("Expr", x), names)
    if isinstance(x, tuple):
        return tuple(_renamed(item, names) for item in x)
    if not is_part(x):
        return x
    changes: dict[str, object] = {}
    for name in field_names(x):
        old = getattr(x, name)
        new: object
        if isinstance(old, str):
            new = names.get(old, old) if name in REFERRING else old
        elif name == "turns":
            new = tuple(names.get(t, t) for t in old)
        else:
            new = _renamed(old, names)
        if new is not old:
            changes[name] = new
    return replace(x, **changes) if changes else x


def _renamed_value(e: Expr, names: Mapping[str, str]) -> Expr:
    mapping = {}
    for v in free(e):
        head, dot, column = v.partition(".")
        if head in names:
            mapping[v] = names[head] + dot + column
    return rename_value(e, mapping) if mapping else e
