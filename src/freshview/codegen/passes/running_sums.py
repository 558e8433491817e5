"""Running sums: a range that ends by a sum of what lies beyond it is sought once, down the tree.

The end of a range is searched for, and a sum inside of its condition would be computed at every
step of the search. Where that sum is one over the entries on one side of the entry at hand, the
search can carry it along.
"""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.terms import Cmp, Op, Var
from freshview.codegen.loops.effects import Answer
from freshview.codegen.loops.parts import Holds, Running, Side
from freshview.codegen.loops.terms import Block, If, Range, RangeSum, Stmt, Walk
from freshview.codegen.loops.walk import all_names_read, map_blocks, renamed, statements

BEYOND: dict[Op, Side] = {">": "after", ">=": "from"}
BELOW: dict[Op, Side] = {"<": "before", "<=": "to"}
TURNED: dict[Op, Op] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def running_sums(block: Block) -> Block:
    """Ranges whose ends ask for the sums on one side of an entry, and for nothing else of it.

    >>> from freshview.codegen.loops.read import read
    >>> from freshview.codegen.loops.text import show
    >>> [f] = read('''ready ready {
    ...   sum s of e in m sorted k0 {
    ...     from {
    ...       sum t of a in m sorted k0 { from { if {a.k0 > e.k0} { answer } } }
    ...       if {t.p0 < 7} { answer }
    ...     }
    ...   }
    ... }''').functions
    >>> [s] = running_sums(f.body)
    >>> s.range.running[0], len(s.range.up)
    (Running(name='t', side='after'), 1)
    """
    return tuple(_with_running(map_blocks(s, running_sums)) for s in block)


def _with_running(s: Stmt) -> Stmt:
    if not isinstance(s, RangeSum | Walk):
        return s
    r = s.range
    if r.turns or r.search.known or len(r.search.sorts) > 1 or r.running != (None, None):
        return s
    [sort] = r.search.sorts
    if sort.falling or sort.by_text:
        return s
    (first, up), (last, down) = _end(r, r.up), _end(r, r.down)
    return replace(s, range=replace(r, up=up, down=down, running=(first, last)))


def _end(r: Range, block: Block) -> tuple[Running | None, Block]:
    """What an end asks for, and its condition without the sums; None if it asks for more."""
    sums = {x: side for x in statements(block) if isinstance(x, RangeSum) and (side := _side(x, r))}
    names = {x.name for x in sums}
    if len(set(sums.values())) != 1 or any(
        isinstance(x, RangeSum) and x.name in names and x not in sums for x in statements(block)
    ):
        return None, block
    [side], name = set(sums.values()), next(iter(sums)).name
    rest = renamed(_without(block, frozenset(sums)), dict.fromkeys(names, name))
    if any(x.partition(".")[0] == r.at for x in all_names_read(rest)):
        return None, block
    return Running(name, side), rest


def _without(block: Block, sums: frozenset[RangeSum]) -> Block:
    return tuple(map_blocks(s, lambda b: _without(b, sums)) for s in block if s not in sums)


def _side(s: RangeSum, r: Range) -> Side | None:
    """On which side of the entry of another range a sum's entries lie."""
    if s.range.search != r.search or s.range.turns:
        return None
    match s.range.up, s.range.down:
        case (If((Holds(Cmp(op, left, right)),), (Answer(),)),), ():
            sides = BEYOND
        case (), (If((Holds(Cmp(op, left, right)),), (Answer(),)),):
            sides = BELOW
        case _:
            return None
    [sort] = r.search.sorts
    entry, own = Var(f"{s.range.at}.k{sort.column}"), Var(f"{r.at}.k{sort.column}")
    if (left, right) == (own, entry):
        op = TURNED.get(op, op)
    elif (left, right) != (entry, own):
        return None
    return sides.get(op)
