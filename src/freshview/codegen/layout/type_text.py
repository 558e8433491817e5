"""The text of types as kernels know them: read_type(show_type(t)) == t.

    int   decimal(2)?   wide decimal(4)          as everywhere, and whether a decimal has 128 bits
    cofactor(x, y; shop)                         continuous variables; categorical ones
    header Stats(n int, total double) scaled     a ring of a C++ header: its numbers

Elements of a ring have the type of their variables, where a program has one for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.text import show_name, show_names
from freshview.calculus.tokens import Tokens
from freshview.calculus.types import Type
from freshview.calculus.types import read_type as read_plain
from freshview.codegen.cpp.ring_types import CofactorType, HeaderType, cofactor_type


def show_type(t: Type) -> str:
    """A type as text.

    >>> show_type(cofactor_type(["y", "x"], ["shop"])), show_type(Type("decimal", 2, wide=True))
    ('cofactor(x, y; shop)', 'wide decimal(2)')
    """
    match t:
        case CofactorType():
            marks = f"; {show_names(sorted(t.categories))}" if t.categories else ""
            return f"cofactor({show_names(sorted(t.slots))}{marks})"
        case HeaderType():
            members = ", ".join(f"{show_name(name)} {show_type(of)}" for name, of in t.members)
            return f"header {show_name(t.ring)}({members})" + " scaled" * t.scaled
        case _:
            return "wide " * t.wide + str(t)


def show_types(types: Iterable[Type]) -> str:
    """Types between brackets."""
    return f"[{', '.join(map(show_type, types))}]"


def read_type(tokens: Tokens) -> Type:
    """Take a type."""
    if tokens.accept("cofactor"):
        return _cofactor(tokens)
    if tokens.accept("header"):
        return _header(tokens)
    wide = tokens.accept("wide")
    text = tokens.name()
    if tokens.accept("("):
        text += f"({tokens.next().text})"
        tokens.expect(")")
    plain = read_plain(text + "?" * tokens.accept("?"))
    return Type(plain.kind, plain.scale, plain.nullable, plain.ring, wide)


def read_types(tokens: Tokens) -> tuple[Type, ...]:
    """Take types between brackets."""
    tokens.expect("[")
    types: list[Type] = []
    while not tokens.accept("]"):
        if types:
            tokens.expect(",")
        types.append(read_type(tokens))
    return tuple(types)


def _cofactor(tokens: Tokens) -> CofactorType:
    tokens.expect("(")
    sets: tuple[list[str], list[str]] = ([], [])
    at = 0
    while not tokens.accept(")"):
        if tokens.accept(";"):
            at = 1
        elif sets[at]:
            tokens.expect(",")
        sets[at].append(tokens.name())
    return cofactor_type(*sets)


def _header(tokens: Tokens) -> HeaderType:
    name = tokens.name()
    tokens.expect("(")
    members: list[tuple[str, Type]] = []
    while not tokens.accept(")"):
        if members:
            tokens.expect(",")
        members.append((tokens.name(), read_type(tokens)))
    return HeaderType("ring", ring=name, members=tuple(members), scaled=tokens.accept("scaled"))
