"""How far the views have drifted from their definitions by rounding, measured in O(n^2).

A random vector z is sent through a view and through its definition: |view * z - definition * z|,
relative to what was added up on the way. An inverse W of E is tested by E * (W * z) = z. What is
iterated to a tolerance needs no test: every update goes on until it is within that again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import assert_never

import numpy as np

from freshview.linear.compile.normal import Normal
from freshview.linear.kernels.semiring import Array, Semiring
from freshview.linear.language.meta import infer
from freshview.linear.language.sizes import Size
from freshview.linear.language.terms import (
    Add,
    Beside,
    Binder,
    Expr,
    Identity,
    Inverse,
    Mul,
    Ones,
    Scale,
    Stack,
    Transpose,
    Until,
    Var,
    Zero,
)


def drift(
    program: Normal, values: Mapping[str, Array], sizes: Mapping[str, float], ring: Semiring
) -> float:
    """The largest relative distance of a kept view from its definition, along one direction."""
    random = np.random.default_rng(len(program.statements))
    probe = _Probe(program, values, sizes, ring)
    worst = 0.0
    for s in program.statements:
        view = values.get(s.name)
        if view is None or not all(view.shape) or isinstance(s.term, Until):
            continue
        z = ring.put(random.standard_normal((view.shape[1], 1)))
        got = view @ z
        if isinstance(s.term, Inverse):
            got, wanted = probe.times(s.term.body, got), z
        else:
            wanted = probe.times(s.term, z)
        scale = max(ends := (ring.length(wanted), ring.length(got)))
        if not np.isfinite(ends).all():  # the larger of a number and NaN may be the number
            return float("inf")
        if scale:
            worst = max(worst, ring.length(got - wanted) / scale)
    return worst


def sensitivity(
    program: Normal, values: Mapping[str, Array], sizes: Mapping[str, float], ring: Semiring
) -> float:
    """What one rounding may become in the kept inverse that magnifies it the most.

    That is the machine's precision times the condition number, which is estimated in O(n^2) along
    one direction: of the largest singular value of a matrix, a random vector meets about the share
    1 / sqrt(n). Zero for programs without inverses.
    """
    probe = _Probe(program, values, sizes, ring)
    worst = 0.0
    for s in program.statements:
        view = values.get(s.name)
        if view is None or not isinstance(s.term, Inverse) or not all(view.shape):
            continue
        n = int(view.shape[0])
        z = ring.put(np.random.default_rng(n).standard_normal((n, 1)))
        size = ring.length(z)
        grown = ring.length(probe.times(s.term.body, z)) / size * (ring.length(view @ z) / size)
        worst = max(worst, float(np.finfo(np.float64).eps) * grown * float(np.sqrt(n)))
    return worst


class _Probe:
    """Terms times a vector, through the views where they are kept."""

    def __init__(
        self,
        program: Normal,
        values: Mapping[str, Array],
        sizes: Mapping[str, float],
        ring: Semiring,
    ) -> None:
        self.definitions = {s.name: s.term for s in program.statements}
        self.scope = program.scope
        self.values = values
        self.sizes = sizes
        self.ring = ring

    def at(self, s: Size) -> int:
        return int(s.at(self.sizes))

    def times(self, e: Expr, z: Array, *, turned: bool = False) -> Array:
        """E * z, or E' * z if turned."""
        match e:
            case Var(name):
                if name not in self.values:
                    return self.times(self.definitions[name], z, turned=turned)
                view = self.values[name]
                return (view.T if turned else view) @ z
            case Transpose(body):
                return self.times(body, z, turned=not turned)
            case Identity():
                return z
            case Zero(rows, cols):
                return self.ring.full(self.at(cols if turned else rows), 1, 0.0)
            case Ones(rows, cols):
                ones = self.ring.full(self.at(cols if turned else rows), z.shape[0], 1.0)
                return ones @ z
            case Scale(by, body):
                return by * self.times(body, z, turned=turned)
            case Add(terms):
                return reduce(add, (self.times(t, z, turned=turned) for t in terms))
            case Mul(factors):
                for f in factors if turned else reversed(factors):
                    z = self.times(f, z, turned=turned)
                return z
            case Stack(parts):
                return self.stack(parts, z, turned=turned, split=isinstance(e, Beside) != turned)
            case Inverse() | Binder():
                raise AssertionError("inverses are kept, and statements have no binders")
            case _:
                assert_never(e)

    def stack(self, parts: tuple[Expr, ...], z: Array, *, turned: bool, split: bool) -> Array:
        """Blocks beside each other add up pieces of z; blocks above each other stack results."""
        if not split:
            return self.ring.above([self.times(p, z, turned=turned) for p in parts])
        pieces = []
        start = 0
        for p in parts:
            width = self.width(p, turned=turned)
            pieces.append(self.times(p, z[start : start + width, :], turned=turned))
            start += width
        return reduce(add, pieces)

    def width(self, e: Expr, *, turned: bool) -> int:
        m = infer(e, self.scope)
        return self.at(m.rows if turned else m.cols)
