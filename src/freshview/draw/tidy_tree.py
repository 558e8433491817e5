"""Where the nodes of a tree go: levels from the top down, no two subtrees over one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """What a node needs to the left and right of its middle, its height, and its children."""

    left: float
    right: float
    height: float
    children: Sequence[Room] = ()


@dataclass(frozen=True)
class Spot:
    """The middle of a node, and the spots of its children."""

    x: float
    y: float
    children: tuple[Spot, ...]


@dataclass
class _Part:
    """A subtree laid out around its root at 0: what it covers on every level below."""

    children: list[tuple[float, _Part]]
    edges: list[tuple[float, float]]


def tidy(root: Room, *, across: float = 26, down: float = 44) -> tuple[Spot, float, float]:
    """The spots of a tree, and its width and height.

    >>> leaf = Room(10, 10, 20)
    >>> spot, width, height = tidy(Room(10, 10, 20, (leaf, leaf)), across=10, down=30)
    >>> (spot.x, [c.x for c in spot.children]), width, height
    ((25.0, [10.0, 40.0]), 50.0, 70.0)
    """
    part = _laid_out(root, across)
    heights = [max(level) for level in _levels(root)]
    middles: list[float] = []
    y = 0.0
    for h in heights:
        middles.append(y + h / 2)
        y += h + down
    left = min(a for a, _ in part.edges)
    width = max(b for _, b in part.edges) - left
    return _spots(part, -left, middles), width, y - down


def _laid_out(room: Room, across: float) -> _Part:
    parts = [_laid_out(c, across) for c in room.children]
    places: list[float] = []
    covered: list[tuple[float, float]] = []
    for part in parts:
        pairs = list(zip(covered, part.edges, strict=False))
        x = max((have[1] - need[0] + across for have, need in pairs), default=0.0)
        places.append(x)
        for depth, (a, b) in enumerate(part.edges):
            if depth < len(covered):
                covered[depth] = (min(covered[depth][0], a + x), max(covered[depth][1], b + x))
            else:
                covered.append((a + x, b + x))
    middle = (places[0] + places[-1]) / 2 if places else 0.0
    edges = [(-room.left, room.right), *((a - middle, b - middle) for a, b in covered)]
    return _Part([(x - middle, p) for x, p in zip(places, parts, strict=True)], edges)


def _levels(root: Room) -> Iterator[list[float]]:
    level = [root]
    while level:
        yield [r.height for r in level]
        level = [c for r in level for c in r.children]


def _spots(part: _Part, x: float, middles: list[float]) -> Spot:
    children = tuple(_spots(p, x + dx, middles[1:]) for dx, p in part.children)
    return Spot(x, middles[0], children)
