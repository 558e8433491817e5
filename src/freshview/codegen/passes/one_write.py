"""One write a record: sums that are added to one record, each where it is there, go together.

    if there s { at r in m[k] { gain r.p0 += s } }
    if there t { at r in m[k] { gain r.p1 += t } }

looks up the record twice. Such sums are seldom empty, so it is looked up whatever the tests say:

    at r in m[k] { if there s { gain r.p0 += s }  if there t { gain r.p1 += t } }
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from freshview.codegen.loops.effects import Gain
from freshview.codegen.loops.parts import There
from freshview.codegen.loops.terms import At, Block, Group, If, Stmt
from freshview.codegen.loops.walk import map_blocks, renamed


def one_write(block: Block) -> Block:
    """A block in whose groups of statements no record is written twice under tests of sums.

    No statement of a group reads what another one writes, so that writes may wait for each other.
    """
    return tuple(
        replace(s, body=_joined(s.body)) if isinstance(s, Group) else map_blocks(s, one_write)
        for s in block
    )


def _joined(block: Block) -> Block:
    """The block with the writes of a record where its last one stood."""
    counts = Counter(_record(at) for s in block for at in _writes(s))
    apart = tuple(x for s in block for x in _apart(s, counts))
    places: dict[object, list[int]] = {}
    for i, s in enumerate(apart):
        for at in _writes(s)[:1]:
            if counts[_record(at)] > 1:
                places.setdefault(_record(at), []).append(i)
    last = {where[-1]: where for where in places.values()}
    gone = {i for where in places.values() for i in where[:-1]}
    return tuple(
        _together(tuple(apart[j] for j in last[i])) if i in last else map_blocks(s, _joined)
        for i, s in enumerate(apart)
        if i not in gone
    )


def _record(at: At) -> tuple[object, ...]:
    return at.table, at.keys


def _writes(s: Stmt) -> tuple[At, ...]:
    """What a statement adds to records, if it does nothing else, and tests nothing but sums."""
    inside: Block = (s,)
    if isinstance(s, If) and all(isinstance(t, There) for t in s.tests):
        inside = s.body
    writes = tuple(x for x in inside if isinstance(x, At))
    plain = all(isinstance(x, Gain) for at in writes for x in at.body)
    return writes if plain and len(writes) == len(inside) else ()


def _apart(s: Stmt, counts: Mapping[tuple[object, ...], int]) -> Block:
    """A test for each record, where one of them is written elsewhere, too."""
    writes = _writes(s)
    if not isinstance(s, If) or all(counts[_record(at)] == 1 for at in writes):
        return (s,)
    return tuple(replace(s, body=(at,)) for at in writes)


def _together(block: Block) -> At:
    """Writes of one record as one."""
    [first] = _writes(block[0])
    body: list[Stmt] = []
    for s in block:
        [at] = _writes(s)
        gains = renamed(at.body, {at.row: first.row})
        body += [If(s.tests, gains)] if isinstance(s, If) else gains
    return replace(first, body=tuple(body))
