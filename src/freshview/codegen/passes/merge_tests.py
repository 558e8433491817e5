"""Tests one inside the other become one: `if a { if b { .. } }` is `if a and b { .. }`."""

from __future__ import annotations

from dataclasses import replace

from freshview.codegen.loops.terms import Block, If, Stmt
from freshview.codegen.loops.walk import map_blocks


def merge_tests(block: Block) -> Block:
    """A block in which no test has nothing but another test inside.

    >>> from freshview.calculus.text import read
    >>> from freshview.codegen.loops.parts import Holds
    >>> from freshview.codegen.loops.effects import Answer
    >>> inner = If((Holds(read("{b > 1}")),), (Answer(),))
    >>> [merged] = merge_tests((If((Holds(read("{a > 0}")),), (inner,)),))
    >>> len(merged.tests), merged.body
    (2, (Answer(),))
    """
    return tuple(_merged(map_blocks(s, merge_tests)) for s in block)


def _merged(s: Stmt) -> Stmt:
    match s:
        case If(outer, (If(inner, body, seldom),), also):
            return replace(s, tests=(*outer, *inner), body=body, seldom=seldom or also)
    return s
