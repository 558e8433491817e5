"""Blocks in the order of a runtime: transfers first, then statements.

The steps of a block run one after the other. A runtime sends everything at once, then runs the
statements; so a block is cut where a step moves the result of an earlier step in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from freshview.distributed.common_subexpressions import sources, target
from freshview.distributed.terms import Block, Compute, Distributed, Step, Transfer


def schedule_blocks(distributed: Distributed) -> Distributed:
    """The same program in blocks whose transfers are first and depend on no step in them."""
    return replace(
        distributed,
        ready=replace(distributed.ready, blocks=cut_blocks(distributed.ready.blocks)),
        routines=tuple(replace(r, blocks=cut_blocks(r.blocks)) for r in distributed.routines),
        readouts=tuple(replace(r, blocks=cut_blocks(r.blocks)) for r in distributed.readouts),
    )


def cut_blocks(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Cut every block into as few such blocks as possible."""
    return tuple(part for block in blocks for part in _cut(block))


def _cut(block: Block) -> list[Block]:
    parts: list[Block] = []
    moved: list[Transfer] = []
    run: list[Compute] = []
    for step in block.steps:
        if isinstance(step, Compute):
            run.append(step)
            continue
        if _waits(step, moved, run):
            parts.append(Block(block.mode, (*moved, *run)))
            moved, run = [], []
        moved.append(step)
    return [*parts, Block(block.mode, (*moved, *run))]


def _waits(step: Transfer, moved: list[Transfer], run: list[Compute]) -> bool:
    """Whether a transfer must come after one of these steps."""
    before: list[Step] = [*moved, *run]
    written = {target(s) for s in before}
    read = {name for s in run for name in sources(s)}
    return step.source in written or step.target in written or step.target in read
