"""Every pair exactly once under random schedules; and every part of the protocol is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from freshview.errors import FreshviewError
from freshview.theta.controller import Policy, choose, start
from freshview.theta.migration import exchanges
from freshview.theta.placement import hosts_of
from freshview.theta.protocol import Effect, Joiner, Tuple, targets
from freshview.theta.simulate import actors
from freshview.theta.simulate.actors import Change, Reshuffler, blocks
from freshview.theta.simulate.network import Link, Network
from freshview.theta.simulate.run import World, random_world, simulate
from freshview.theta.terms import Hybrid, Placement, Sizes

FAILED: list[int] = []
"""Seeds that once failed."""


def wrong(seeds: range | list[int], change: Callable[[World], World] = lambda w: w) -> list[int]:
    return [s for s in seeds if not simulate(s, change(random_world(s))).is_right]


def test_every_pair_comes_once() -> None:
    assert wrong(FAILED) == []
    assert wrong(range(400)) == []


@pytest.mark.full
@pytest.mark.parametrize("block", range(10))
def test_every_pair_comes_once_ten_thousand_times(block: int) -> None:
    assert wrong(range(1000 * block, 1000 * (block + 1))) == []


def test_schedules_differ_and_do_something() -> None:
    reports = [simulate(s, random_world(s)) for s in range(60)]
    assert sum(r.migrations for r in reports) > 100
    assert sum(r.failovers for r in reports) > 20
    assert sum(r.pairs for r in reports) > 3000
    assert simulate(5, random_world(5)) == simulate(5, random_world(5))


def test_a_controller_decides_by_its_own_sample() -> None:
    """Algorithm 1: each reshuffler counts what it routes, so any can take over."""
    policy = Policy(warm_up=20)
    migrations = 0
    for seed in range(40):
        world = World(joiners=8, tuples=60, migrations=9, failovers=2, policy=policy)
        report = simulate(seed, world)
        assert report.is_right
        migrations += report.migrations
    assert migrations > 20


def test_only_blocking_migrations_stall_the_input() -> None:
    world = World(joiners=8, tuples=60, migrations=5, failovers=0)
    assert simulate(3, world).stalls == 0
    blocking = simulate(3, replace(world, blocking=True))
    assert blocking.is_right
    assert blocking.stalls > 0


def test_a_pair_meets_in_one_block_in_every_group() -> None:

    random = Random(2)
    for joiners in (3, 7, 11, 13):
        groups = choose(Sizes(random.random(), random.random()), start(joiners))
        for _ in range(20):
            r = Tuple("R", 0, random.getrandbits(64))
            s = Tuple("S", 1, random.getrandbits(64))
            hosts = [{h for part in targets(groups, t) for h in part} for t in (r, s)]
            meeting = hosts[0] & hosts[1]
            assert len(meeting) == len(groups.grids)
            assert sum(bool(meeting & block) for block in blocks(groups).values()) == 1


# --- what happens without a part of the protocol -----------------------------------------------


class NoFreshForMigrated(Joiner):
    def _join(self, t: Tuple, *sets: list[Tuple]) -> list[Effect]:
        arriving = self.mu and t is self.mu[-1]
        return [] if arriving else super()._join(t, *sets)


class NoMigratedForFresh(Joiner):
    def _join_fresh(self, t: Tuple) -> list[Effect]:
        kept = [o for o in (*self.tau, *self.delta) if self._keeps(o)]
        return self._join(t, self.fresh, kept)


class NoKeptForFresh(Joiner):
    def _join_fresh(self, t: Tuple) -> list[Effect]:
        return self._join(t, self.mu, self.fresh)


class DiscardedForFresh(Joiner):
    def _join_fresh(self, t: Tuple) -> list[Effect]:
        return self._join(t, self.mu, self.fresh, self.tau, self.delta)


class NoFreshForKeptDelta(Joiner):
    def _old(self, t: Tuple) -> list[Effect]:
        effects = self._join(t, self.tau, self.delta)
        (self.tau if self.coming is None else self.delta).append(t)
        return effects if self.coming is None else [*effects, *self._migrate(t)]


class DeltaStaysHere(Joiner):
    def _old(self, t: Tuple) -> list[Effect]:
        effects = self._join(t, self.tau, self.delta)
        if self.coming is None:
            self.tau.append(t)
            return effects
        self.delta.append(t)
        return effects + (self._join(t, self.fresh, self.visitors) if self._keeps(t) else [])


class EndsWithoutPartners(Joiner):
    def _is_over(self) -> bool:
        return self.coming is not None and len(self.signals) == self.reshufflers


class EndsAtTheFirstSignal(Joiner):
    def _is_over(self) -> bool:
        if self.coming is None:
            return False
        return self.ends >= exchanges(self.placement, self.coming)[self.host]


class ForgetsVisitors(Joiner):
    def _fresh_visitor(self, t: Tuple) -> list[Effect]:
        return self._join_fresh(t)


@pytest.mark.parametrize(
    "mutant",
    [
        NoFreshForMigrated,
        NoMigratedForFresh,
        NoKeptForFresh,
        DiscardedForFresh,
        NoFreshForKeptDelta,
        DeltaStaysHere,
        EndsWithoutPartners,
        EndsAtTheFirstSignal,
        ForgetsVisitors,
    ],
)
def test_no_step_of_a_joiner_can_be_left_out(mutant: type[Joiner]) -> None:
    assert _fails(lambda w: replace(w, make_joiner=mutant))


def test_sequence_numbers_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    def receive(
        self: Link[object], number: int, body: object, random: Random, loss: float
    ) -> object:
        self.expected = max(self.expected, number + 1)
        while self.waiting and self.waiting[0][0] < self.expected:
            self.waiting.popleft()
        return body

    monkeypatch.setattr(Link, "_receive", receive)
    assert _fails(lambda w: w)


def test_heads_of_blocks_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    def directly(self: Reshuffler, placement: Placement, messages: dict[int, object]) -> None:
        for host, message in messages.items():
            self.post(("joiner", host), message)

    monkeypatch.setattr(Reshuffler, "_deliver", directly)
    assert wrong(range(60), lambda w: replace(w, joiners=7, equality=False))
    assert not wrong(range(60), lambda w: replace(w, joiners=4, equality=False))


def test_terms_fence_a_dead_controller(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = Reshuffler.handle

    def obedient(self: Reshuffler, order: actors.Order) -> None:
        handle(self, replace(order, term=self.term) if isinstance(order, Change) else order)

    monkeypatch.setattr(Reshuffler, "handle", obedient)
    assert any(not _ends_well(s) for s in range(300))


def test_a_lossy_link_is_a_fifo_channel() -> None:
    random = Random(4)
    network: Network[int] = Network(random, loss=0.4)
    for k in range(200):
        network.send("a", "b", k)
    arrived = []
    while not network.is_quiet:
        event = network.step()
        if event is not None:
            arrived.append(event[2])
    assert arrived == list(range(200))
    assert network.links["a", "b"].received > 250


def test_hosts_of_a_placement_are_listed_once() -> None:

    groups = start(5)
    assert hosts_of(Hybrid((0, 1, 2, 3, 4), ((7, groups),))) == (0, 1, 2, 3, 4)


def _fails(change: Callable[[World], World]) -> bool:
    """Whether some schedule notices; it may also never end."""
    return any(not _ends_well(s, change) for s in range(300))


def _ends_well(seed: int, change: Callable[[World], World] = lambda w: w) -> bool:
    try:
        return simulate(seed, change(random_world(seed))).is_right
    except (FreshviewError, AssertionError, KeyError, IndexError):
        return False  # a message that nobody expects
