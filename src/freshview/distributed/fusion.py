"""Block fusion: as few blocks as possible (Nikolic 2016, 5.3.2, Fig. 5.4).

Nikolic 2016 lets two statements change places if neither reads what the other writes. That is not
enough: `M := r` and `M += s` do not commute either, so here writers of one map keep their order
unless both add to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from freshview.distributed.common_subexpressions import sources, target
from freshview.distributed.terms import Block, Compute, Step, Transfer


@dataclass(frozen=True)
class _Part:
    """A block with what it reads and writes."""

    block: Block
    reads: frozenset[str]
    adds: frozenset[str]
    sets: frozenset[str]

    @classmethod
    def of(cls, step: Step) -> _Part:
        name = frozenset((target(step),))
        adds = isinstance(step, Compute) and step.statement.op == "+="
        none: frozenset[str] = frozenset()
        block = Block(step.mode, (step,))
        return cls(block, sources(step), name if adds else none, none if adds else name)

    def and_(self, other: _Part) -> _Part:
        block = Block(self.block.mode, self.block.steps + other.block.steps)
        return _Part(
            block, self.reads | other.reads, self.adds | other.adds, self.sets | other.sets
        )


def commute(a: _Part, b: _Part) -> bool:
    """Whether two blocks may change places: no read meets a write, and no write meets another."""
    return (
        a.reads.isdisjoint(b.adds | b.sets)
        and b.reads.isdisjoint(a.adds | a.sets)
        and a.sets.isdisjoint(b.adds | b.sets)
        and a.adds.isdisjoint(b.sets)
    )


def blocks(steps: list[Step]) -> tuple[Block, ...]:
    """One block a step."""
    return tuple(Block(s.mode, (s,)) for s in steps)


def fuse_blocks(steps: list[Step]) -> tuple[Block, ...]:
    """The steps in few blocks; gathers and what the driver computes from them come last."""
    first, last = _split_last(_fused([_Part.of(s) for s in steps]))
    parts = _fused(first)
    for part in last:
        if parts and parts[-1].block.mode == "local":
            parts[-1] = parts[-1].and_(part)
        else:
            parts.append(part)
    return tuple(p.block for p in parts)


def _fused(parts: list[_Part]) -> list[_Part]:
    """Fuse into the first block all that commutes, then into the first of the rest."""
    done: list[_Part] = []
    while parts:
        head = parts[0]
        rest: list[_Part] = []
        for part in parts[1:]:
            if part.block.mode == head.block.mode and all(commute(r, part) for r in rest):
                head = head.and_(part)
            else:
                rest.append(part)
        done.append(head)
        parts = rest
    return done


def _split_last(parts: list[_Part]) -> tuple[list[_Part], list[_Part]]:
    """The steps, and those that can be last: gathers, and what the driver computes from them.

    A job ends before the driver sees a result: the fewer blocks follow, the fewer jobs.
    """
    last: list[_Part] = []
    kept: list[_Part] = []
    for part in reversed(parts):
        steps = [part] if part.block.mode == "distributed" else _single(part)
        for step in reversed(steps):
            sinks = step.block.mode == "local" and not _leaves(step)
            if sinks and all(commute(step, other) for other in kept):
                last.append(step)
            else:
                kept.append(step)
    return kept[::-1], last[::-1]


def _single(part: _Part) -> list[_Part]:
    return [_Part.of(s) for s in part.block.steps]


def _leaves(part: _Part) -> bool:
    """Whether a step sends something to the workers."""
    return any(isinstance(s, Transfer) and s.kind != "gather" for s in part.block.steps)
