"""One run of the protocol under a random schedule, and what went wrong in it, if anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from random import Random
from typing import cast

import numpy as np

from freshview.theta.controller import Policy, checkpoint, choose, is_due, start
from freshview.theta.grid import can_merge, mappings, merge, reshape, split
from freshview.theta.keys import mix
from freshview.theta.placement import bucket_of, hosts_of
from freshview.theta.protocol import (
    Ack,
    Joiner,
    Message,
    Output,
    Predicate,
    Send,
    Tuple,
    targets,
)
from freshview.theta.simulate.actors import Acked, Change, Order, Post, Relay, Reshuffler
from freshview.theta.simulate.network import Network
from freshview.theta.terms import Groups, HashPlacement, Hybrid, Placement, Sizes


@dataclass(frozen=True, slots=True)
class World:
    """What a run is like: sizes, chances of events, and the predicate.

    With a `policy` the controller decides by what it counted itself; otherwise at random.
    """

    joiners: int = 4
    reshufflers: int = 3
    tuples: int = 40
    migrations: int = 4
    failovers: int = 1
    loss: float = 0.1
    values: int = 8
    equality: bool = False
    blocking: bool = False
    most_hosts: int = 32
    policy: Policy | None = None
    make_joiner: Callable[..., Joiner] = Joiner


@dataclass
class Report:
    """The pairs that came out, against those that should have."""

    missing: list[tuple[int, int]]
    duplicate: list[tuple[int, int]]
    misplaced: list[int]
    migrations: int
    failovers: int
    pairs: int
    stalls: int

    @property
    def is_right(self) -> bool:
        """Every pair once, every tuple where the last placement puts it."""
        return not (self.missing or self.duplicate or self.misplaced)


@dataclass
class Run:
    """The actors, the network and the schedule of one seed."""

    world: World
    random: Random
    network: Network[object] = field(init=False)
    joiners: dict[int, Joiner] = field(default_factory=dict)
    reshufflers: list[Reshuffler] = field(default_factory=list)
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)
    tuples: list[Tuple] = field(default_factory=list)
    migrations: int = 0
    failovers: int = 0
    stalls: int = 0
    next_host: int = 0

    def __post_init__(self) -> None:
        world = self.world
        self.network = Network(self.random, world.loss)
        placement = self._first_placement()
        self.next_host = max(hosts_of(placement)) + 1
        for k in range(world.reshufflers):
            post = self._post_from(("reshuffler", k))
            self.reshufflers.append(
                Reshuffler(k, placement, world.reshufflers, post, world.blocking)
            )
        self.reshufflers[0].controls = True
        self._start_joiners(placement, placement, epoch=0)
        for number in range(world.tuples):
            value = min(self.random.randrange(world.values), self.random.randrange(world.values))
            side = self.random.choice("RS")
            key = self.random.getrandbits(64)
            self.tuples.append(Tuple("R" if side == "R" else "S", number, key, value))
            self.random.choice(self.reshufflers).inputs.append(self.tuples[-1])

    def finish(self) -> Report:
        """Run until nothing is left to do."""
        while self._step():
            pass
        wanted = {
            (r.number, s.number)
            for r in self.tuples
            for s in self.tuples
            if r.side == "R" and s.side == "S" and self.predicate(r, s)
        }
        return Report(
            missing=sorted(wanted - set(self.pairs)),
            duplicate=sorted(p for p, n in self.pairs.items() if n > 1 or p not in wanted),
            misplaced=self._misplaced(),
            migrations=self.migrations,
            failovers=self.failovers,
            pairs=len(wanted),
            stalls=self.stalls,
        )

    @property
    def predicate(self) -> Predicate:
        """Equality, or a band with a hole in it: neither hashing nor sorting would do."""
        if self.world.equality:
            return lambda r, s: r.value == s.value
        return lambda r, s: abs(r.value - s.value) <= 3 and r.value != s.value

    def _step(self) -> bool:
        feeding = [r for r in self.reshufflers if r.inputs and not r.stalled]
        deciding = [r for r in self.reshufflers if r.may_decide()]
        choice = self.random.random()
        if choice < 0.08 and self.migrations < self.world.migrations and deciding:
            self._decide(deciding[0])
        elif choice < 0.09 and self.failovers < self.world.failovers:
            self._fail_over()
        elif choice < 0.35 and feeding:
            self.random.choice(feeding).route_next()
        elif not self.network.is_quiet:
            arrived = self.network.step()
            if arrived is not None:
                self._deliver(*arrived)
        elif feeding:
            self.random.choice(feeding).route_next()
        elif any(r.controls for r in self.reshufflers):
            return False
        else:
            self._fail_over()
        self.stalls += any(r.stalled for r in self.reshufflers)
        return True

    def _deliver(self, sender: Hashable, receiver: Hashable, body: object) -> None:
        match receiver, body:
            case ("reshuffler", int(k)), order:
                self.reshufflers[k].handle(_order(order))
            case ("head", _), Relay(deliveries):
                for host, message in deliveries:
                    self.network.send(receiver, ("joiner", host), message)
            case ("joiner", int(host)), message:
                self._at_joiner(host, _message(message))

    def _at_joiner(self, host: int, message: Message) -> None:
        for effect in self.joiners[host].handle(message):
            match effect:
                case Send(to, body):
                    self.network.send(("joiner", host), ("joiner", to), body)
                case Output(r, s):
                    self.pairs[r.number, s.number] += 1
                case Ack(epoch):
                    for k in range(self.world.reshufflers):
                        acked = Acked(epoch, host)
                        self.network.send(("joiner", host), ("reshuffler", k), acked)

    def _decide(self, controller: Reshuffler) -> None:
        if self.world.policy is None:
            placement = self._next_placement(controller.placement)
        else:
            placement = self._by_policy(controller, self.world.policy)
        if placement == controller.placement:
            return
        self.migrations += 1
        self._start_joiners(controller.placement, placement, controller.epoch)
        change = Change(controller.term, controller.epoch + 1, placement)
        if self.failovers < self.world.failovers and self.random.random() < 0.3:
            informed = {k for k in range(self.world.reshufflers) if self.random.random() < 0.5}
            controller.broadcast(change, informed)  # it dies before it has informed all
            self._fail_over()
        else:
            controller.broadcast(change)

    def _by_policy(self, controller: Reshuffler, policy: Policy) -> Placement:
        current, counts = controller.placement, controller.counts
        assert isinstance(current, Groups)
        if not is_due(policy, counts, current.joiners):
            return current
        controller.counts = checkpoint(counts)
        return choose(counts.now, current)

    def _fail_over(self) -> None:
        self.failovers += 1
        term = 1 + max(r.term for r in self.reshufflers) + self.failovers
        for reshuffler in self.reshufflers:
            reshuffler.controls = False
        self.random.choice(self.reshufflers).take_over(term)

    def _start_joiners(self, old: Placement, new: Placement, epoch: int) -> None:
        """Joiners for hosts that have none yet: they begin with nothing, in the old epoch."""
        for host in (*hosts_of(old), *hosts_of(new)):
            self.next_host = max(self.next_host, host + 1)
            if host not in self.joiners:
                world = self.world
                self.joiners[host] = world.make_joiner(
                    host, old, world.reshufflers, self.predicate, epoch
                )

    def _first_placement(self) -> Placement:
        if self.world.equality:
            hosts = tuple(range(self.world.joiners))
            return HashPlacement(hosts) if self.random.random() < 0.5 else Hybrid(hosts)
        return choose(self._random_sizes(), start(self.world.joiners))

    def _next_placement(self, current: Placement) -> Placement:
        if not isinstance(current, Groups):
            values = np.array(self.random.sample(range(self.world.values), 2), np.uint64)
            heavy = sorted(bucket_of(mix(values)).tolist())
            return Hybrid(current.hosts, tuple((v, self._heavy_grid(current.hosts)) for v in heavy))
        if self.random.random() < 0.25:
            scaled = self._rescaled(current)
            if scaled is not None:
                return scaled
        if len(current.grids) > 1:
            return choose(self._random_sizes(), current)
        [grid] = current.grids
        return Groups((reshape(grid, self.random.choice(mappings(grid.mapping.joiners))),))

    def _heavy_grid(self, hosts: tuple[int, ...]) -> Groups:
        """Without heads, which are for groups, a heavy value has one grid."""
        [grid, *_] = choose(self._random_sizes(), start(len(hosts))).grids
        return Groups((grid,))

    def _rescaled(self, current: Groups) -> Groups | None:
        if all(map(can_merge, current.grids)) and self.random.random() < 0.5:
            return Groups(tuple(merge(g) for g in current.grids))
        if 4 * len(current.hosts) > self.world.most_hosts:
            return None
        grids, fresh = [], self.next_host
        for grid in current.grids:
            more = 3 * grid.mapping.joiners
            grids.append(split(grid, tuple(range(fresh, fresh + more))))
            fresh += more
        return Groups(tuple(grids))

    def _random_sizes(self) -> Sizes:
        return Sizes(2.0 ** self.random.uniform(-5, 5), 1)

    def _misplaced(self) -> list[int]:
        last = max(self.reshufflers, key=lambda r: r.epoch).placement
        wrong = set()
        for t in self.tuples:
            here = {h for h, j in self.joiners.items() if t in j.stored()}
            if here != set(targets(last, t)[0]):
                wrong.add(t.number)
        return sorted(wrong)

    def _post_from(self, sender: Hashable) -> Post:
        return lambda receiver, body: self.network.send(sender, receiver, body)


def simulate(seed: int, world: World) -> Report:
    """One run; the same seed gives the same schedule.

    >>> simulate(1, World()).is_right
    True
    """
    return Run(world, Random(seed)).finish()


def random_world(seed: int) -> World:
    """A world for a seed: any number of joiners, lossy or not, equalities too."""
    random = Random(seed ^ 0x5EED)
    return World(
        joiners=random.choice([1, 2, 3, 4, 5, 6, 7, 8]),
        reshufflers=random.choice([1, 2, 3, 4]),
        tuples=random.choice([10, 25, 40]),
        migrations=random.choice([1, 3, 6]),
        failovers=random.choice([0, 0, 1, 2]),
        loss=random.choice([0.0, 0.1, 0.3]),
        equality=random.random() < 0.25,
        blocking=random.random() < 0.15,
    )


def _order(body: object) -> Order:
    return cast("Order", body)


def _message(body: object) -> Message:
    return cast("Message", body)
