"""The placement of maps: by the rule of Nikolic 2016, by cost, or as given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from freshview.calculus.scope import relations, stored
from freshview.calculus.terms import Delta, View
from freshview.calculus.walk import subterms
from freshview.distributed.communication_cost import (
    BYTES_A_COLUMN,
    BYTES_A_ROUND,
    CommunicationCostModel,
    copies_at,
)
from freshview.distributed.locations import AtomLocations
from freshview.distributed.options import DistributionOptions, sized
from freshview.distributed.partitioning.grids import Grid, Sides, sides, streams_by_map
from freshview.distributed.partitioning.primary_keys import Keys
from freshview.distributed.search import Search
from freshview.distributed.terms import (
    Dist,
    Everywhere,
    Local,
    Location,
    Placement,
    Random,
    Replicated,
    Slice,
)
from freshview.program.terms import Map, Program, Statement, Trigger

MOST_ROUNDS = 2
"""The most rounds over all the maps."""

MOST_TERMS = 20_000
"""The most subterms visited while the placement is improved."""

LEAST_SAVING = 0.05
"""The least saving, in rounds for a batch of each relation, for which a map is moved."""

SHARED_ROUND = 0.3
"""The cost of a round that a statement shares with a longer one."""

MOST_DELIVERIES = 20_000
"""The most subterms visited while destinations of batches are searched."""

COPIED_BYTES_A_ROUND = 1e9
"""Bytes of copies on all the workers together that cost as much as a round."""


def by_key(program: Program, options: DistributionOptions) -> Placement:
    """The rule of Nikolic 2016, 5.5: a map is spread by a base table's primary key in its schema.

    Of several keys the one with the most values is taken; a map with none stays on the driver.
    Maps over static tables alone are computed everywhere.
    """
    keys = Keys(program, options)
    maps: dict[str, Location] = {}
    words = []
    for m in program.maps:
        maps[m.name], why = _by_key(m, keys, static_maps(program))
        words.append(f"{m.name}: {why}")
    return Placement(maps, words=tuple(words))


def _by_key(m: Map, keys: Keys, fixed: frozenset[str]) -> tuple[Location, str]:
    if m.name in fixed:
        return Everywhere(), "everywhere, only static tables decide it"
    ranked = keys.of(m)
    if not ranked:
        return Local(), "on the driver, it has no primary key of a base table"
    name, relation = ranked[0]
    return Dist((name,)), f"by {name}, the key of {relation}"


def choose_placement(
    program: Program, options: DistributionOptions, pinned: Mapping[str, Location] | None = None
) -> Placement:
    """The cheapest placement found: the rule of thumb, and then one map after the other.

    A map may be partitioned by another key, or be replicated where that saves statements a
    transfer. Maps that only views read stay where the rule of thumb puts them, and `pinned` ones at
    their location. If batches are delivered (`options.deliver`), each arrives where its statements
    read it, so that most need no transfer at all.
    """
    choice = _PlacementSearch(program, options, pinned or {})
    for _ in range(MOST_ROUNDS):
        moved = [choice.improve(m) for m in program.maps]
        if options.deliver:
            moved += [choice.deliver(t) for t in program.triggers if t.event == "batch"]
        if not any(moved):
            break
    if options.grids and options.workers > 1:
        for joined in sides(program):
            choice.spread(joined)
    return choice.placement()


class _PlacementSearch:
    """A local search for a placement: the location of each map, and the cost of statements."""

    def __init__(
        self, program: Program, options: DistributionOptions, pinned: Mapping[str, Location]
    ) -> None:
        self.program = program
        self.pinned = pinned
        self.cost_model = CommunicationCostModel(program, options)
        self.workers = options.workers
        self.keys = Keys(program, options)
        self.read = read_by_triggers(program)
        self.fixed = static_maps(program)
        self.batches = [t.statements for t in program.triggers if t.event == "batch"]
        self.names = {
            s: tuple(sorted({s.target.name, *stored(s.term)})) for b in self.batches for s in b
        }
        self.changes = {
            s: t.relation for t in program.triggers if t.event == "batch" for s in t.statements
        }
        self.arrivals: dict[str, Location] = {}
        self.deliveries = MOST_DELIVERIES
        self.maps = dict(by_key(program, options).maps)
        for m in program.maps:
            if isinstance(self.maps[m.name], Local):
                self.maps[m.name] = self._without_key(m)
        self.maps.update(pinned)
        self.left = MOST_TERMS
        self.words: list[str] = []
        self._memo: dict[tuple[Statement, Location, tuple[Location, ...]], tuple[float, float]] = {}

    def _without_key(self, m: Map) -> Location:
        """The location of a map without a key: few groups are assumed, as in Nikolic 2016."""
        return Replicated() if m.name in self.read else Local()

    def improve(self, m: Map) -> bool:
        """Move a map to its cheapest location; whether it moved."""
        is_fixed = m.name in self.fixed or m.name in self.pinned
        if is_fixed or m.name not in self.read or self.left <= 0:
            return False
        old = self.maps[m.name]
        costs: dict[Location, float] = {}
        for at in self._candidates(m):
            self.maps[m.name] = at
            costs[at] = self._cost(m, at)
        best = min(costs, key=lambda at: costs[at])
        self.maps[m.name] = best if costs[best] + LEAST_SAVING < costs[old] else old
        return self.maps[m.name] != old

    def deliver(self, t: Trigger) -> bool:
        """Choose the cheapest destination of a relation's batches; whether it changed."""
        if self.deliveries <= 0:
            return False
        old, before = self.arrivals.get(t.relation, Random()), self.left
        costs: dict[Location, float] = {}
        for at in dict.fromkeys([old, *self._destinations(t), Replicated()]):
            self.arrivals[t.relation] = at
            costs[at] = self._total(AtomLocations.of(self.program, self._now()))
            if isinstance(at, Replicated):
                columns = len(self.keys.relations[t.relation].columns)
                rows = self.cost_model.options.statistics.batch
                costs[at] += rows * columns * BYTES_A_COLUMN * self.workers / BYTES_A_ROUND
        self.deliveries -= before - self.left
        self.left = before
        best = min(costs, key=lambda at: costs[at])
        self.arrivals[t.relation] = best if costs[best] + LEAST_SAVING < costs[old] else old
        return self.arrivals[t.relation] != old

    def spread(self, joined: Sides) -> bool:
        """Put both sides of a join on a grid; whether that is done.

        It is where a worker receives and keeps less for the join, and batches take no longer.
        """
        maps = {m.name: m for m in self.program.maps}
        named = (*joined.rows, *joined.columns)
        if any(n in self.pinned or n in self.fixed or not maps[n].keys for n in named):
            return False
        rows, columns = (
            sum(self._most_bytes(maps[n]) for n in side) for side in (joined.rows, joined.columns)
        )
        grid = Grid.of(joined, rows, columns, self.workers)
        old_maps, old_arrivals = dict(self.maps), dict(self.arrivals)
        time, load = self._time(), self._load(named)
        new_maps, new_arrivals = grid.placement(self.program)
        self.maps.update(new_maps)
        self.arrivals.update(new_arrivals)
        self.left = max(self.left, MOST_TERMS)
        share = self._load(named) / load
        pays = grid.is_square_enough and share < 1 and self._time() <= time
        if not pays:
            self.maps, self.arrivals = old_maps, old_arrivals
        self.words.append(grid.words(share) if pays else grid.words_without)
        return pays

    def _time(self) -> float:
        """The cost of a batch of each relation, from its arrival on."""
        total = self._total(AtomLocations.of(self.program, self._now()))
        rows = self.cost_model.options.statistics.batch
        for t in self.program.triggers:
            if t.event == "batch":
                sent = self._row_bytes(t.relation) * rows * self._copies(t.relation)
                total += sent / BYTES_A_ROUND
        return total

    def _load(self, names: tuple[str, ...]) -> float:
        """What a worker has of some maps, and receives of their streams, in bytes."""
        streams = streams_by_map(self.program)
        sizes = sized(self.program, self.cost_model.options.statistics).rows
        stored = [
            self._most_bytes(m) * copies_at(self.maps[m.name], self.workers)
            for m in self.program.maps
            if m.name in names
        ]
        received = [
            self._row_bytes(r) * sizes[r] * self._copies(r)
            for r in sorted(frozenset[str]().union(*(streams[n] for n in names)))
        ]
        return (sum(stored) + sum(received)) / self.workers

    def _copies(self, stream: str) -> int:
        return copies_at(self.arrivals.get(stream, Random()), self.workers)

    def _row_bytes(self, stream: str) -> float:
        return len(self.keys.relations[stream].columns) * BYTES_A_COLUMN

    def _most_bytes(self, m: Map) -> float:
        """The bytes of a map that may have a row for each row of its streams.

        Unless the statistics tell how many values columns have, since times and prices have many.
        """
        statistics = self.cost_model.options.statistics
        if statistics.values:
            return self._bytes(m)
        sizes = sized(self.program, statistics).rows
        rows = max(sizes.get(r, 0.0) for r in relations(m.definition))
        return max(self._bytes(m), rows * (len(m.keys) + 1) * BYTES_A_COLUMN)

    def _destinations(self, t: Trigger) -> list[Location]:
        """The locations of the maps that a batch is joined with, in the columns of its relation."""
        places = AtomLocations.of(self.program, self._now())
        columns = [c.name for c in self.keys.relations[t.relation].columns]
        locations: list[Location] = []
        for s in t.statements:
            atoms = [e for e in subterms(s.term) if isinstance(e, View | Delta)]
            spots = [places.atom(e) for e in (s.target, *atoms) if isinstance(e, View)]
            for delta in (e for e in atoms if isinstance(e, Delta) and e.name == t.relation):
                for at in spots:
                    if isinstance(at, Dist) and set(at.keys) <= set(delta.vars):
                        locations.append(Dist(tuple(columns[delta.vars.index(k)] for k in at.keys)))
        return list(dict.fromkeys(locations))

    def _now(self) -> Placement:
        return Placement(self.maps, self.arrivals)

    def _candidates(self, m: Map) -> list[Location]:
        keys = [name for name, _ in self.keys.of(m)] or [c.name for c in m.keys]
        locations: list[Location] = [self.maps[m.name], *(Dist((k,)) for k in keys), Replicated()]
        return list(dict.fromkeys(locations))

    def _cost(self, m: Map, at: Location) -> float:
        """The cost of a batch of each relation, and of the memory for the copies of a map.

        The statements of a batch share its rounds, so mostly the longest counts; but one of them
        may wait for another.
        """
        total = self._total(AtomLocations.of(self.program, self._now()))
        if isinstance(at, Replicated):
            total += self._bytes(m) * self.workers / COPIED_BYTES_A_ROUND
        return total

    def _total(self, places: AtomLocations) -> float:
        total = 0.0
        for statements in self.batches:
            costs = [self._statement(s, places) for s in statements]
            total += max(rounds for rounds, _ in costs)
            total += sum(SHARED_ROUND * rounds + rest for rounds, rest in costs)
        return total

    def _bytes(self, m: Map) -> float:
        """The estimated bytes of a map: a key may have as many values as its table has rows."""
        rows = max([self.keys.rows.get(owner, 0.0) for _, owner in self.keys.of(m)], default=0.0)
        return max(self.cost_model.size(m.definition), rows * (len(m.keys) + 1) * BYTES_A_COLUMN)

    def _statement(self, s: Statement, places: AtomLocations) -> tuple[float, float]:
        """The rounds of a statement, and its cost beside them."""
        names = self.names[s]
        arrival = self.arrivals.get(self.changes[s], Random())
        key = (s, arrival, tuple([self.maps[n] for n in names]))
        if key not in self._memo:
            self.left -= sum(1 for _ in subterms(s.term))
            search = Search(places, self.cost_model, lookahead=True)
            plan = search.best(s.term, s.target, places.atom(s.target))
            rounds = float(plan.transfers.rounds) if plan else float("inf")
            rest = self.cost_model.cost(plan.transfers)[0] - rounds if plan else 0.0
            self._memo[key] = rounds, rest
        return self._memo[key]

    def placement(self) -> Placement:
        """The placement, with a sentence for each map."""
        words = []
        for m in self.program.maps:
            words.append(f"{m.name}: {self._why(m)}")
        arrivals = {n: at for n, at in self.arrivals.items() if at != Random()}
        words += [f"batches of {n}: {_how(at)}" for n, at in arrivals.items()]
        return Placement(dict(self.maps), arrivals, (*words, *self.words))

    def _why(self, m: Map) -> str:
        at = self.maps[m.name]
        if m.name in self.pinned:
            return "as given"
        ranked = dict(self.keys.of(m))
        match at:
            case Everywhere():
                return "everywhere, only static tables decide it"
            case Local():
                return "on the driver, no batch reads it and it has no primary key"
            case Replicated():
                return "a copy on every worker, which spares the batches that read it a trip"
            case Dist((key,)) if key in ranked:
                return f"by {key}, the key of {ranked[key]}"
            case Dist(keys):
                return f"by {', '.join(keys)}"
            case Slice(keys, axis, (n, k)):
                return f"in the {axis} of a grid of {n} x {k} workers, by {', '.join(keys)}"
            case Random():
                return "anyhow"
            case _:
                assert_never(at)


def _how(at: Location) -> str:
    """How a batch arrives that is delivered."""
    match at:
        case Dist(keys):
            return f"by {', '.join(keys)}"
        case Slice(keys, axis, (n, k)):
            return f"to the {axis} of the grid of {n} x {k} workers, by {', '.join(keys)}"
        case _:
            return "to every worker"


def static_maps(program: Program) -> frozenset[str]:
    """The maps that no batch changes."""
    changed = {s.target.name for t in program.triggers if t.event != "ready" for s in t.statements}
    return frozenset(m.name for m in program.maps if m.name not in changed)


def read_by_triggers(program: Program) -> frozenset[str]:
    """The maps that triggers read, not only views."""
    names: set[str] = set()
    for t in program.triggers:
        for s in t.statements:
            names |= stored(s.term)
    return frozenset(names)
