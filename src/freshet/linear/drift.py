"""How far the views have drifted from their definitions by rounding, measured in O(n^2).

A random vector z is sent through a view and through its definition: |view * z - definition * z|,
relative to what was added up on the way. An inverse W of E is tested by E * (W * z) = z.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

import numpy as np

from freshet.linear.meta import infer
from freshet.linear.normal import Normal
from freshet.linear.semiring import Array
from freshet.linear.sizes import Size
from freshet.linear.terms import (
    Above,
    Add,
    Beside,
    Expr,
    Identity,
    Inverse,
    Iterate,
    Let,
    Mul,
    Ones,
    Scale,
    Transpose,
    Var,
    Zero,
)


def drift(program: Normal, values: Mapping[str, Array], sizes: Mapping[str, float]) -> float:
    """The largest relative distance of a kept view from its definition, along one direction."""
    random = np.random.default_rng(len(program.statements))
    probe = _Probe(program, values, sizes)
    worst = 0.0
    for s in program.statements:
        view = values.get(s.name)
        if view is None or view.size == 0:
            continue
        z = random.standard_normal((view.shape[1], 1))
        got = view @ z
        if isinstance(s.term, Inverse):
            got, wanted = probe.times(s.term.body, got), z
        else:
            wanted = probe.times(s.term, z)
        scale = max(np.linalg.norm(wanted), np.linalg.norm(got))
        if not np.isfinite(scale):
            return float("inf")
        if scale:
            worst = max(worst, float(np.linalg.norm(got - wanted) / scale))
    return worst


class _Probe:
    """Terms times a vector, through the views where they are kept."""

    def __init__(
        self, program: Normal, values: Mapping[str, Array], sizes: Mapping[str, float]
    ) -> None:
        self.definitions = {s.name: s.term for s in program.statements}
        self.scope = program.scope
        self.values = values
        self.sizes = sizes

    def at(self, s: Size) -> int:
        return int(s.at(self.sizes))

    def times(self, e: Expr, z: Array, *, turned: bool = False) -> Array:
        """E * z, or E' * z if turned."""
        match e:
            case Var(name):
                if name not in self.values:
                    return self.times(self.definitions[name], z, turned=turned)
                found = self.values[name]
                return (found.T if turned else found) @ z
            case Transpose(body):
                return self.times(body, z, turned=not turned)
            case Identity():
                return z
            case Zero(rows, cols):
                return np.zeros((self.at(cols if turned else rows), 1))
            case Ones(rows, cols):
                return np.full((self.at(cols if turned else rows), 1), z.sum())
            case Scale(by, body):
                return by * self.times(body, z, turned=turned)
            case Add(terms):
                parts = [self.times(t, z, turned=turned) for t in terms]
                return np.sum(np.stack(parts), axis=0)  # type: ignore[no-any-return]
            case Mul(factors):
                for f in factors if turned else reversed(factors):
                    z = self.times(f, z, turned=turned)
                return z
            case Beside(parts) | Above(parts):
                return self.stack(parts, z, turned=turned, split=isinstance(e, Beside) != turned)
            case Inverse() | Let() | Iterate():
                raise AssertionError("inverses are kept, and statements have no binders")
            case _:
                assert_never(e)

    def stack(self, parts: tuple[Expr, ...], z: Array, *, turned: bool, split: bool) -> Array:
        """Blocks beside each other add up pieces of z; blocks above each other stack results."""
        if not split:
            return np.vstack([self.times(p, z, turned=turned) for p in parts])
        total: Array | float = 0.0
        start = 0
        for p in parts:
            width = self.width(p, turned=turned)
            total = total + self.times(p, z[start : start + width], turned=turned)
            start += width
        assert isinstance(total, np.ndarray)
        return total

    def width(self, e: Expr, *, turned: bool) -> int:
        m = infer(e, self.scope)
        return self.at(m.rows if turned else m.cols)
