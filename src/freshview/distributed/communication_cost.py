"""The cost of transformers: rounds of communication, and bytes.

Nikolic 2016 counts transformers; of equally many it moves batches rather than maps, and gathers
little (5.3.1). Counting alone would ship a whole map to save the second trip of a batch, so the
usual measure is time: a round is worth as much as `BYTES_A_ROUND` bytes, transformers that do not
wait for each other share a round, and what is moved twice to one place is moved once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from freshview.calculus.scope import outs, reads_delta
from freshview.calculus.terms import Delta, Expr, Lift, Rel, Var, View
from freshview.calculus.walk import rename, subterms
from freshview.distributed.options import DistributionOptions, sized
from freshview.distributed.terms import Kind, Location, MapPlacement, Replicated, Slice, rekeyed
from freshview.program.cost import Model, Size
from freshview.program.terms import Program

BYTES_A_ROUND = 10e6
BYTES_A_COLUMN = 8.0
ROUNDS_A_MAP = 3
"""What it costs to move a map on top of its estimated bytes: they grow with the data, and the cost
of a batch should not. A map without keys is one number, and free of it."""

Total = tuple[float, ...]


def copies_at(at: Location, workers: int) -> int:
    """How many workers have each row of what is at a location."""
    if isinstance(at, Slice):
        return at.copies
    return workers if isinstance(at, Replicated) else 1


class Item(NamedTuple):
    """A transformer in a cost: what it moves where, and its size."""

    moved: tuple[Expr, Location]
    size: float
    is_view: bool
    is_gather: bool


@dataclass(frozen=True, slots=True)
class CommunicationCost:
    """The transformers of a plan, each once, and the number of rounds."""

    rounds: int = 0
    items: frozenset[Item] = frozenset()

    def and_(self, other: CommunicationCost) -> CommunicationCost:
        """The cost of two plans in parallel."""
        if not other.items:
            return self
        if not self.items:
            return other
        return CommunicationCost(max(self.rounds, other.rounds), self.items | other.items)


FREE = CommunicationCost()


class CommunicationCostModel:
    """The cost model of one program's transformers; `shared` ones are free.

    Temporary maps that statements name have as many rows as a batch.
    """

    def __init__(
        self,
        program: Program,
        options: DistributionOptions,
        temporaries: Iterable[MapPlacement] = (),
    ) -> None:
        self.model = Model(program, sized(program, options.statistics))
        rows = max(1.0, options.statistics.batch)
        for t in temporaries:
            self.model.maps[t.name] = Size(rows if t.keys else 1.0, (rows,) * len(t.keys))
        self.options = options
        self.shared: set[tuple[Expr, Location]] = set()
        self._sizes: dict[Expr, float] = {}

    def size(self, e: Expr) -> float:
        """The estimated bytes of a closed term's value."""
        if e not in self._sizes:
            rows = max(1.0, self.model.estimate(e, {}).rows)
            self._sizes[e] = rows * (len(outs(e)) + 1) * BYTES_A_COLUMN
        return self._sizes[e]

    def move(
        self, before: CommunicationCost, kind: Kind, plain: Expr, to: Location
    ) -> CommunicationCost:
        """The cost with one more transformer, in a new round."""
        if kind == "keep":
            return before
        copies = copies_at(to, self.options.workers)
        is_view = not reads_delta(plain)
        size = self.size(plain) * copies
        item = Item(canonical(plain, to), size, is_view, kind == "gather")
        return CommunicationCost(before.rounds + 1, before.items | {item})

    def cost(self, plan: CommunicationCost, /) -> Total:
        """The cost of a plan that needs these transformers."""
        items = plan.items
        size = 0.0
        for item in items:
            if item.moved not in self.shared:
                size += item.size
        views = sum(i.is_view and bool(outs(i.moved[0])) for i in items)
        if self.options.measure == "time":
            time = plan.rounds + size / BYTES_A_ROUND + ROUNDS_A_MAP * views
            return (time, float(len(items)))
        gathers = sum(i.is_gather for i in items)
        return (float(len(items)), float(views), float(gathers), size)

    def share(self, transfers: CommunicationCost) -> None:
        """Make transformers free for later statements: terms over a batch alone do not change."""
        self.shared |= {
            i.moved for i in transfers.items if not i.is_view and _only_batch(i.moved[0])
        }


def _only_batch(e: Expr) -> bool:
    return not any(isinstance(t, View) for t in subterms(e))


def canonical(e: Expr, to: Location) -> tuple[Expr, Location]:
    """A term and its destination with canonical names."""
    term, names = _canonical(e)
    return term, rekeyed(to, names)


@lru_cache(maxsize=1 << 14)
def _canonical(e: Expr) -> tuple[Expr, dict[str, str]]:
    names: dict[str, str] = {}
    for t in subterms(e):
        match t:
            case Rel(_, vars_) | Delta(_, vars_) | View(_, vars_):
                bound = vars_
            case Var(name) | Lift(name, _):
                bound = (name,)
            case _:
                continue
        for name in bound:
            names.setdefault(name, f"v{len(names)}")
    return rename(e, names), names
