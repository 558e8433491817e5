"""Which grid: input-load factors, the best mapping, and cells that change hands (section 4.2)."""

from __future__ import annotations

from math import sqrt

import numpy as np

from freshview.theta.terms import BadGrid, Grid, Keys, Mapping, Numbers, Sizes

PART_BITS = 32
_PART_SHIFT = np.uint64(64 - PART_BITS)


def load_factor(mapping: Mapping, sizes: Sizes) -> float:
    """The input-load factor: what one joiner receives and keeps, |R|/n + |S|/m.

    The example of figure 4.3, in GB; all 64 joiners together hold 520 GB or 128 GB:

    >>> sizes = Sizes(1, 64)
    >>> load_factor(Mapping(8, 8), sizes), 64 * load_factor(Mapping(8, 8), sizes)
    (8.125, 520.0)
    >>> load_factor(Mapping(1, 64), sizes), 64 * load_factor(Mapping(1, 64), sizes)
    (2.0, 128.0)
    """
    return sizes.r / mapping.n + sizes.s / mapping.m


def optimal(joiners: int, sizes: Sizes, current: Mapping | None = None) -> Mapping:
    """The mapping with the least load factor; among equals, the current one, then the least n.

    >>> optimal(64, Sizes(1, 64)), optimal(64, Sizes(5, 5))
    (Mapping(n=1, m=64), Mapping(n=8, m=8))
    """
    candidates = mappings(joiners)
    best = min(candidates, key=lambda c: (load_factor(c, sizes), c != current, c.n))
    return best


def lower_bound(joiners: int, sizes: Sizes) -> float:
    """The least semiperimeter of a region that holds 1/J of the matrix.

    >>> lower_bound(16, Sizes(100, 100)), lower_bound(4, Sizes(100, 1))
    (50.0, 26.0)
    """
    r, s = max(sizes.r, sizes.s), min(sizes.r, sizes.s)
    return r / joiners + s if r >= joiners * s else 2 * sqrt(r * s / joiners)


def mappings(joiners: int) -> list[Mapping]:
    """All the mappings of a power of two.

    >>> [str(m) for m in mappings(4)]
    ['(1, 4)', '(2, 2)', '(4, 1)']
    """
    _check_power(joiners)
    return [Mapping(1 << a, joiners >> a) for a in range(joiners.bit_length())]


def square(joiners: int) -> Mapping:
    """The mapping nearest to a square: what fits best when nothing is known.

    >>> str(square(16)), str(square(8))
    ('(4, 4)', '(2, 4)')
    """
    _check_power(joiners)
    n = 1 << ((joiners.bit_length() - 1) // 2)
    return Mapping(n, joiners // n)


def group_sizes(joiners: int) -> tuple[int, ...]:
    """The powers of two that add up to J, the largest first.

    >>> group_sizes(20), group_sizes(7), group_sizes(64)
    ((16, 4), (4, 2, 1), (64,))
    """
    if joiners < 1:
        raise BadGrid(f"a join cannot run on {joiners} joiners", instead="give one or more")
    bits = range(joiners.bit_length() - 1, -1, -1)
    return tuple(1 << b for b in bits if joiners >> b & 1)


def padded(sizes: Sizes, joiners: int) -> Sizes:
    """The sizes with dummy tuples, so that no side is more than J times the other.

    >>> padded(Sizes(1000, 3), 10), padded(Sizes(50, 10), 10)
    (Sizes(r=1000, s=100.0), Sizes(r=50, s=10))
    """
    r, s = sizes.r, sizes.s
    return Sizes(max(r, s / joiners), max(s, r / joiners))


def partition(keys: Keys, parts: int) -> Numbers:
    """The part of each key, by its first bits: halving the parts joins neighbours 2i and 2i + 1.

    >>> keys = np.array([0, 1 << 62, 3 << 62, (1 << 64) - 1], np.uint64)
    >>> partition(keys, 4).tolist(), partition(keys, 2).tolist(), partition(keys, 1).tolist()
    ([0, 1, 3, 3], [0, 0, 1, 1], [0, 0, 0, 0])
    """
    first_bits = keys >> _PART_SHIFT
    return (first_bits >> np.uint64(PART_BITS + 1 - parts.bit_length())).astype(np.int64)


def reshape(grid: Grid, mapping: Mapping) -> Grid:
    """The same hosts under another mapping, each where it keeps the most of what it has.

    (n, m) to (n/2, 2m): the hosts of rows 2i and 2i + 1 share row i; one half takes the even
    columns, the other half the odd ones. In figure 4.4 joiners 1 and 3 swap their parts of R:

    >>> before = Grid(Mapping(8, 2), tuple(range(1, 17)))
    >>> after = reshape(before, Mapping(4, 4))
    >>> after.replicas("R", 0), after.replicas("R", 1)
    ((1, 3, 2, 4), (5, 7, 6, 8))
    >>> reshape(after, Mapping(8, 2)) == before
    True
    """
    old = grid.mapping
    if mapping.joiners != old.joiners:
        raise BadGrid(f"{old} cannot become {mapping}", instead="split or merge the grid")
    cells = {}
    for row in range(old.n):
        for column in range(old.m):
            host = grid.host(row, column)
            if mapping.n <= old.n:
                fold = old.n // mapping.n
                cells[row // fold, column * fold + row % fold] = host
            else:
                fold = mapping.n // old.n
                cells[row * fold + column % fold, column // fold] = host
    return _grid(mapping, cells)


def split(grid: Grid, fresh: tuple[int, ...]) -> Grid:
    """Each cell becomes four; its host keeps the first, fresh hosts take the others.

    >>> split(Grid(Mapping(1, 1), (0,)), (1, 2, 3))
    Grid(mapping=Mapping(n=2, m=2), hosts=(0, 1, 2, 3))
    """
    old = grid.mapping
    if len(fresh) != 3 * old.joiners:
        raise BadGrid(f"{old} splits onto {3 * old.joiners} more hosts, not {len(fresh)}")
    cells, others = {}, iter(fresh)
    for row in range(old.n):
        for column in range(old.m):
            cells[2 * row, 2 * column] = grid.host(row, column)
            for x, y in ((0, 1), (1, 0), (1, 1)):
                cells[2 * row + x, 2 * column + y] = next(others)
    return _grid(Mapping(2 * old.n, 2 * old.m), cells)


def can_merge(grid: Grid) -> bool:
    """Whether four cells can become one."""
    return grid.mapping.n > 1 and grid.mapping.m > 1


def merge(grid: Grid) -> Grid:
    """Four cells become one, kept by the host of the first; the other three are released.

    >>> merge(split(Grid(Mapping(1, 1), (0,)), (1, 2, 3)))
    Grid(mapping=Mapping(n=1, m=1), hosts=(0,))
    """
    if not can_merge(grid):
        raise BadGrid(f"{grid.mapping} has no blocks of four cells")
    mapping = Mapping(grid.mapping.n // 2, grid.mapping.m // 2)
    rows, columns = range(mapping.n), range(mapping.m)
    return _grid(mapping, {(i, j): grid.host(2 * i, 2 * j) for i in rows for j in columns})


def _grid(mapping: Mapping, cells: dict[tuple[int, int], int]) -> Grid:
    return Grid(mapping, tuple(cells[i, j] for i in range(mapping.n) for j in range(mapping.m)))


def _check_power(joiners: int) -> None:
    if joiners < 1 or joiners & (joiners - 1):
        raise BadGrid(f"{joiners} joiners form no grid", instead="use groups of powers of two")
