"""A walk over the statements of a distributed program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from freshview.calculus.terms import Expr
from freshview.distributed.terms import Block, Compute, Distributed, Step
from freshview.program.terms import Statement


def statements(distributed: Distributed) -> Iterator[Statement]:
    """The statements of all the routines."""
    for routine in distributed.routines:
        for block in routine.blocks:
            yield from (s.statement for s in block.steps if isinstance(s, Compute))


def with_terms(distributed: Distributed, change: Callable[[Expr], Expr]) -> Distributed:
    """The program with every term of its routines rewritten."""

    def step(s: Step) -> Step:
        if not isinstance(s, Compute):
            return s
        return replace(s, statement=replace(s.statement, term=change(s.statement.term)))

    def block(b: Block) -> Block:
        return replace(b, steps=tuple(step(s) for s in b.steps))

    changed = (replace(r, blocks=tuple(block(b) for b in r.blocks)) for r in distributed.routines)
    return replace(distributed, routines=tuple(changed))
