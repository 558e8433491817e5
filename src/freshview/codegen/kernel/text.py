"""C++ text under construction: lines, and what opens and closes a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from freshview.codegen.cpp.code import INDENT
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.loops.terms import Block

Lines = list[str]

PrintBlock = Callable[[Block, CppScope], Lines]
"""What prints the blocks inside a statement."""


@dataclass(frozen=True)
class Opened:
    """A scope in C++: the lines that open it, what is visible inside, the lines that close it."""

    before: tuple[str, ...]
    scope: CppScope
    after: tuple[str, ...] = ("}",)
    first: tuple[str, ...] = ()
    """Lines at the beginning of the inside."""
    last: tuple[str, ...] = ()
    """Lines at its end."""
    depth: int = 1
    """How deep the inside stands."""


def indented(lines: Iterable[str], depth: int = 1) -> Lines:
    """Lines that stand deeper."""
    return [INDENT * depth + line for line in lines]
