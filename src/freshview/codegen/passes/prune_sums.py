"""Prune sums: a sum over a range adds up only the payloads that are read."""

from __future__ import annotations

from dataclasses import replace

from freshview.codegen.loops.terms import Block, RangeSum, Stmt
from freshview.codegen.loops.walk import all_names_read, map_blocks


def prune_sums(block: Block) -> Block:
    """A block whose sums over ranges leave out the payloads that no later statement reads.

    >>> from freshview.codegen.loops.read import read
    >>> loops = read('''ready ready {
    ...   sum s of e in m sorted k0 {
    ...   }
    ...   let x = s.p1
    ... }
    ... ''')
    >>> prune_sums(loops.functions[0].body)[0].only
    (1,)
    """
    inside = tuple(map_blocks(s, prune_sums) for s in block)
    return tuple(_pruned(s, inside[i + 1 :]) for i, s in enumerate(inside))


def _pruned(s: Stmt, rest: Block) -> Stmt:
    if not isinstance(s, RangeSum):
        return s
    columns = (name.partition(".") for name in all_names_read(rest))
    return replace(s, only=tuple(sorted(int(p[1:]) for row, _, p in columns if row == s.name)))
