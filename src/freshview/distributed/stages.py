"""The schedule of blocks: jobs of Spark, and turns of the driver before, between and after them.

A stage is what a worker runs without a break: it receives transfers, runs blocks, and sends. The
stages of a job are connected by shuffles; a gather ends it. Turn i of the driver is before job i:
so all that a turn scatters is available to every stage of the job.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from freshview.distributed.terms import Block, Compute, Everywhere, Transfer


@dataclass(frozen=True, slots=True)
class Stage:
    """What every worker runs without a break.

    `receives` are transfers of the stage before (repart) and of the driver (scatter); `blocks`
    are run in order, by number; `sends` go to the next stage, `gathers` to the driver.
    """

    receives: tuple[Transfer, ...] = ()
    blocks: tuple[int, ...] = ()
    sends: tuple[Transfer, ...] = ()
    gathers: tuple[Transfer, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """What the driver runs without a break: it receives gathered rows, and runs blocks.

    A block scatters before its statements run.
    """

    receives: tuple[Transfer, ...] = ()
    blocks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """Turns of the driver around jobs: one turn more than there are jobs."""

    blocks: tuple[Block, ...]
    turns: tuple[Turn, ...]
    jobs: tuple[tuple[Stage, ...], ...]

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of all the jobs."""
        return tuple(s for job in self.jobs for s in job)

    def first(self, job: int) -> int:
        """The number of a job's first stage among all of them."""
        return sum(len(j) for j in self.jobs[:job])

    def moves(self, block: int) -> tuple[Transfer, ...]:
        """The transfers that a block begins with."""
        return tuple(s for s in self.blocks[block].steps if isinstance(s, Transfer))


def schedule(blocks: Iterable[Block]) -> Schedule:
    """The jobs and turns of blocks in order."""
    walk = _Walk(tuple(blocks))
    for number, block in enumerate(walk.blocks):
        if block.mode == "distributed":
            walk.distributed(number, block)
        else:
            walk.local(number, block)
    return walk.done()


@dataclass
class _Open:
    """A stage or turn under construction."""

    receives: list[Transfer] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    sends: list[Transfer] = field(default_factory=list)
    gathers: list[Transfer] = field(default_factory=list)


@dataclass
class _Walk:
    """The state of the scheduler; `job` has the stages since the last gather."""

    blocks: tuple[Block, ...]
    jobs: list[list[_Open]] = field(default_factory=list)
    turns: list[_Open] = field(default_factory=lambda: [_Open()])
    job: list[_Open] = field(default_factory=list)
    coming: list[Transfer] = field(default_factory=list)
    """The transfers to workers that are not received yet."""

    def distributed(self, number: int, block: Block) -> None:
        """Add the block to the open stage, or to a new one after a shuffle."""
        self._receive()
        if not self.job:
            self.job.append(_Open())
        self.job[-1].blocks.append(number)
        if any(isinstance(s, Compute) and isinstance(s.at, Everywhere) for s in block.steps):
            self.turns[-1].blocks.append(number)

    def local(self, number: int, block: Block) -> None:
        """Schedule the transfers of the workers first; the rest is the driver's."""
        moves = [s for s in block.steps if isinstance(s, Transfer)]
        gathers = [t for t in moves if t.kind == "gather"]
        reparts = [t for t in moves if t.kind == "repart"]
        on_the_way = {t.target for t in self.coming}
        if any(t.source in on_the_way for t in (*gathers, *reparts)):
            self._receive()
        if gathers:
            self._gather(gathers)
        if reparts:
            if not self.job:
                self.job.append(_Open())
            self.job[-1].sends += reparts
            self.coming += reparts
        if len(moves) < len(block.steps) or any(t.kind == "scatter" for t in moves):
            self.turns[-1].blocks.append(number)
        self.coming += [t for t in moves if t.kind == "scatter"]

    def _receive(self) -> None:
        """Open a stage that receives all pending transfers."""
        if not self.job or self.job[-1].sends:
            self.job.append(_Open())
        self.job[-1].receives += self.coming
        self.coming.clear()

    def _gather(self, gathers: list[Transfer]) -> None:
        """End the job with gathers; transfers without a receiver are sent again in the next job."""
        if not self.job and self.jobs and not self.coming:
            self.jobs[-1][-1].gathers += gathers  # nothing was scheduled since it ended
            self.turns[-1].receives += gathers
            return
        if not self.job:
            self.job.append(_Open())
        last = self.job[-1]
        again, last.sends = last.sends, []
        last.gathers += gathers
        self.jobs.append(self.job)
        self.job = [_Open(sends=again)] if again else []
        self.turns.append(_Open(receives=list(gathers)))

    def done(self) -> Schedule:
        """The schedule."""
        if self.job:
            self.job[-1].sends.clear()  # nothing reads it
            self.jobs.append(self.job)
            self.turns.append(_Open())
        turns = tuple(Turn(tuple(t.receives), tuple(t.blocks)) for t in self.turns)
        return Schedule(self.blocks, turns, tuple(tuple(map(_closed, j)) for j in self.jobs))


def _closed(o: _Open) -> Stage:
    return Stage(tuple(o.receives), tuple(o.blocks), tuple(o.sends), tuple(o.gathers))
