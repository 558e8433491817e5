"""Where tuples go: each has an address, and an address has hosts that keep it or only join it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import numpy as np

from freshview.theta.grid import partition
from freshview.theta.terms import (
    Grid,
    Groups,
    Hashes,
    HashPlacement,
    Hybrid,
    Keys,
    Mapping,
    Mask,
    Numbers,
    Placement,
    RangePlacement,
    Side,
)


@dataclass(frozen=True, slots=True)
class Routes:
    """Copies of tuples on their way: which row of the batch, to which host, to be kept or not."""

    row: Numbers
    host: Numbers
    stored: Mask


BUCKET_BITS = 16
BUCKETS = 1 << BUCKET_BITS
"""Into how many buckets the values of a join key fall."""


def bucket_of(hashes: Hashes) -> Numbers:
    """The bucket of each hash, by its first bits.

    >>> bucket_of(np.array([0, 3 << 48, (1 << 64) - 1], np.uint64)).tolist()
    [0, 3, 65535]
    """
    return (hashes >> np.uint64(64 - BUCKET_BITS)).astype(np.int64)


def hosts_of(placement: Placement) -> tuple[int, ...]:
    """All the hosts, each once."""
    return tuple(dict.fromkeys(placement.hosts))


def form_groups(mappings: tuple[Mapping, ...], first_host: int = 0) -> Groups:
    """Grids of these mappings on consecutive hosts.

    >>> form_groups((Mapping(1, 2), Mapping(1, 1))).hosts
    (0, 1, 2)
    """
    grids = []
    for mapping in mappings:
        grids.append(Grid(mapping, tuple(range(first_host, first_host + mapping.joiners))))
        first_host += mapping.joiners
    return Groups(tuple(grids))


def group_of(groups: Groups, keys: Keys) -> Numbers:
    """The group that stores each tuple: chosen by the lower bits of its key, by size."""
    if len(groups.grids) == 1:
        return np.zeros(len(keys), np.int64)
    sizes = np.array([g.mapping.joiners for g in groups.grids], np.uint64)
    ends = (np.cumsum(sizes) << np.uint64(32)) // np.sum(sizes)
    low = keys & np.uint64(0xFFFFFFFF)
    return np.searchsorted(ends, low, side="right").astype(np.int64)


def addresses(placement: Placement, side: Side, keys: Keys, hashes: Hashes) -> Numbers:
    """A number for each tuple such that equal numbers have equal hosts.

    `hashes` are read only by placements that look at the join key.
    """
    match placement:
        case Groups():
            parts = finest(placement, side)
            return group_of(placement, keys) * parts + partition(keys, parts)
        case HashPlacement(hosts):
            return bucket_of(hashes) % len(hosts)
        case RangePlacement():
            return hashes.astype(np.int64)
        case Hybrid(hosts, heavy):
            buckets = bucket_of(hashes)
            numbers = buckets % len(hosts)
            start = len(hosts)
            present = set(np.unique(buckets).tolist()) if heavy else set()
            for bucket, groups in heavy:
                if bucket in present:
                    at = np.flatnonzero(buckets == bucket)
                    numbers[at] = start + addresses(groups, side, keys[at], hashes[at])
                start += address_count(groups, side)
            return numbers
        case _:
            assert_never(placement)


def kinds_of(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """The numbers that occur, in order, and for each number its place among them; there is one.

    >>> kinds, places = kinds_of(np.array([7, 2, 7]))
    >>> kinds.tolist(), places.tolist()
    ([2, 7], [1, 0, 1])
    """
    most = int(numbers.max()) + 1
    if most > len(numbers):
        kinds = np.unique(numbers)
        return kinds, np.searchsorted(kinds, numbers)
    places = np.zeros(most, np.int64)
    places[numbers] = 1
    kinds = np.flatnonzero(places)
    places[kinds] = np.arange(len(kinds))
    return kinds, places[numbers]


def stored_at(placement: Placement, side: Side, address: int) -> tuple[int, ...]:
    """The hosts that keep the tuples of an address, in the order of the other side's parts."""
    match placement:
        case Groups(grids):
            group, part = divmod(address, finest(placement, side))
            return _replicas(grids[group], side, part, finest(placement, side))
        case HashPlacement(hosts):
            return (hosts[address],)
        case RangePlacement(hosts):
            first, last = divmod(address, len(hosts)) if side == "R" else (address, address)
            return hosts[first : last + 1]
        case Hybrid():
            groups, inner = _heavy_part(placement, side, address)
            return (placement.hosts[inner],) if groups is None else stored_at(groups, side, inner)
        case _:
            assert_never(placement)


def visited_at(placement: Placement, side: Side, address: int) -> tuple[int, ...]:
    """The hosts that join the tuples of an address with what they have, and keep none of them."""
    match placement:
        case Groups(grids):
            parts = finest(placement, side)
            group, part = divmod(address, parts)
            others = (g for k, g in enumerate(grids) if k != group)
            return tuple(h for g in others for h in _replicas(g, side, part, parts))
        case HashPlacement() | RangePlacement():
            return ()
        case Hybrid():
            groups, inner = _heavy_part(placement, side, address)
            return () if groups is None else visited_at(groups, side, inner)
        case _:
            assert_never(placement)


def old_part(placement: Placement, side: Side, address: int) -> int:
    """A number that spreads the parts of a side over their replicas: that of the part."""
    match placement:
        case Groups(grids):
            parts = finest(placement, side)
            group, part = divmod(address, parts)
            return part // (parts // grids[group].parts(side))
        case HashPlacement() | RangePlacement():
            return address
        case Hybrid():
            groups, inner = _heavy_part(placement, side, address)
            return inner if groups is None else old_part(groups, side, inner)
        case _:
            assert_never(placement)


class Layout:
    """A placement that remembers the hosts of the addresses it was asked for."""

    def __init__(self, placement: Placement) -> None:
        self.placement = placement
        self._hosts: dict[tuple[Side, int], tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def hosts(self, side: Side, address: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The hosts that keep the tuples of an address, and those that only join them."""
        known = self._hosts.get((side, address))
        if known is None:
            stored = stored_at(self.placement, side, address)
            known = stored, visited_at(self.placement, side, address)
            self._hosts[side, address] = known
        return known

    def route(self, side: Side, keys: Keys, hashes: Hashes) -> Routes:
        """The copies of tuples, and where they go; those for a host keep the order of the batch.

        >>> keys = np.array([0, 1 << 63], np.uint64)
        >>> routes = Layout(form_groups((Mapping(2, 2),))).route("R", keys, keys)
        >>> routes.row.tolist(), routes.host.tolist()
        ([0, 0, 1, 1], [0, 1, 2, 3])
        """
        at = addresses(self.placement, side, keys, hashes)
        if not len(at):
            return Routes(at, at, np.zeros(0, np.bool_))
        kinds, inverse = kinds_of(at)
        known = [self.hosts(side, a) for a in kinds.tolist()]
        hosts = np.array([h for stored, visited in known for h in (*stored, *visited)], np.int64)
        counts = np.array([len(stored) + len(visited) for stored, visited in known])
        kept = np.array([len(stored) for stored, _ in known])
        lengths = counts[inverse]
        rows = np.repeat(np.arange(len(at)), lengths)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        starts = np.cumsum(counts) - counts
        return Routes(rows, hosts[starts[inverse][rows] + within], within < kept[inverse][rows])


def route(placement: Placement, side: Side, keys: Keys, hashes: Hashes) -> Routes:
    """The copies of tuples under a placement."""
    return Layout(placement).route(side, keys, hashes)


def finest(groups: Groups, side: Side) -> int:
    """Into how many parts the largest of the groups cuts a side."""
    return max(g.parts(side) for g in groups.grids)


def _replicas(grid: Grid, side: Side, part: int, finest: int) -> tuple[int, ...]:
    return grid.replicas(side, part // (finest // grid.parts(side)))


def address_count(placement: Placement, side: Side) -> int:
    """How many addresses the tuples of a side have."""
    match placement:
        case Groups(grids):
            return len(grids) * finest(placement, side)
        case HashPlacement(hosts):
            return len(hosts)
        case RangePlacement(hosts):
            return len(hosts) ** (2 if side == "R" else 1)
        case Hybrid(hosts, heavy):
            return len(hosts) + sum(address_count(groups, side) for _, groups in heavy)
        case _:
            assert_never(placement)


def _heavy_part(placement: Hybrid, side: Side, address: int) -> tuple[Groups | None, int]:
    """The grids that an address belongs to, if any, and its number in them."""
    if address < len(placement.hosts):
        return None, address
    address -= len(placement.hosts)
    for _, groups in placement.heavy:
        if address < (count := address_count(groups, side)):
            return groups, address
        address -= count
    raise IndexError(address)
