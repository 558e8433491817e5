"""Sizes and costs are polynomials: rows and columns add up in stacks, and costs multiply them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import TypeAlias

Monomial: TypeAlias = tuple[str, ...]

ASSUMED = 1000.0
"""How large a size is taken to be where plans are compared and nobody gave its value."""


@dataclass(frozen=True, slots=True)
class Size:
    """A polynomial over named sizes with natural coefficients, in normal form.

    >>> n, k = size("n"), size("k")
    >>> print(n * n * 2 + k * n + 1)
    k*n + 2*n^2 + 1
    >>> (n + k).at({"n": 10, "k": 2})
    12.0
    """

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: Size | int) -> Size:
        return _normal((*self.terms, *size(other).terms))

    def __mul__(self, other: Size | int) -> Size:
        pairs = ((a + b, x * y) for a, x in self.terms for b, y in size(other).terms)
        return _normal(pairs)

    def at(self, known: Mapping[str, float]) -> float:
        """The value where the sizes are known; the others are taken to be `ASSUMED`."""
        return float(sum(c * prod(known.get(v, ASSUMED) for v in m) for m, c in self.terms))

    def degree(self, apart: Iterable[str] = ()) -> int:
        """The highest power, sizes in `apart` counted as constants."""
        left_out = set(apart)
        return max((sum(v not in left_out for v in m) for m, _ in self.terms), default=0)

    @property
    def number(self) -> int | None:
        """The value of a size without names."""
        if not self.terms:
            return 0
        return self.terms[0][1] if self.terms[0][0] == () else None

    @property
    def name(self) -> str:
        """The name that the size is, if it is just one."""
        plain = len(self.terms) == 1 and len(self.terms[0][0]) == 1 and self.terms[0][1] == 1
        return self.terms[0][0][0] if plain else ""

    def __str__(self) -> str:
        return " + ".join(_show(m, c) for m, c in self.terms) or "0"


def size(value: Size | int | str) -> Size:
    """A number or a name as a size."""
    if isinstance(value, Size):
        return value
    if isinstance(value, str):
        return Size((((value,), 1),))
    return Size((((), int(value)),) if value else ())


def total(parts: Iterable[Size]) -> Size:
    """The sum of sizes."""
    return _normal(t for p in parts for t in p.terms)


NOTHING = size(0)
ONE = size(1)


def _normal(terms: Iterable[tuple[Monomial, int]]) -> Size:
    summed: Counter[Monomial] = Counter()
    for m, c in terms:
        summed[tuple(sorted(m))] += c
    kept = [(m, c) for m, c in summed.items() if c]
    return Size(tuple(sorted(kept, key=lambda t: (-len(t[0]), t[0]))))


def _show(m: Monomial, c: int) -> str:
    powers = [(v, len(list(same))) for v, same in groupby(m)]
    parts = [v if n == 1 else f"{v}^{n}" for v, n in powers]
    return "*".join(([str(c)] if c != 1 or not parts else []) + parts)
