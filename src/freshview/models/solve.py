"""Least squares from centred products: S w = r, directly or by gradient descent.

Both work on columns scaled to variance 1, so that neither cares in what units a column is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freshview.models.moments import Matrix, Vector

DEPENDENT = 1e-10
"""A column of which less than this share is not explained by the others depends on them."""


@dataclass(frozen=True, eq=False)
class Scaled:
    """H z = r for z = w * scale, with ones (and the penalty) on the diagonal of H."""

    matrix: Matrix
    right: Vector
    scale: Vector


def scaled(scatter: Matrix, right: Vector, alpha: float) -> Scaled:
    """(S + alpha I) w = r in units of each column's spread; a constant column keeps its own."""
    scale = np.sqrt(np.diag(scatter) + alpha)
    scale[scale == 0.0] = 1.0
    penalized = scatter + alpha * np.eye(len(scale))
    return Scaled(penalized / np.outer(scale, scale), right / scale, scale)


def independent(system: Scaled) -> bool:
    """Whether no column is a combination of others: the pivots of Cholesky's factor tell."""
    try:
        pivots = np.diag(np.linalg.cholesky(system.matrix)) ** 2
    except np.linalg.LinAlgError:
        return False
    return bool((pivots > DEPENDENT).all())


def dependent(system: Scaled) -> tuple[int, list[int]] | None:
    """A column that is a combination of columns before it, and these; None if there is none.

    >>> s = np.array([[2.0, 1.0, 3.0], [1.0, 2.0, 3.0], [3.0, 3.0, 6.0]])
    >>> dependent(scaled(s, np.zeros(3), 0.0))
    (2, [0, 1])
    """
    n = len(system.right)
    lower = np.zeros((n, n))
    for i in range(n):
        head = lower[:i, :i]
        row = np.linalg.solve(head, system.matrix[:i, i]) if i else np.zeros(0)
        left = system.matrix[i, i] - row @ row
        if left <= DEPENDENT:
            weights = np.linalg.solve(head.T, row) if i else row
            return i, [j for j in range(i) if abs(weights[j]) > 1e-6]
        lower[i, :i], lower[i, i] = row, np.sqrt(left)
    return None


def direct(system: Scaled) -> Vector:
    """The solution of a system whose columns do not depend on each other."""
    if not len(system.right):
        return system.right
    solution: Vector = np.linalg.solve(system.matrix, system.right) / system.scale
    return solution


def least_norm(scatter: Matrix, right: Vector) -> Vector:
    """Of all the solutions, the shortest one: what `scipy.linalg.lstsq` gives."""
    values, vectors = np.linalg.eigh(scatter)
    nonzero = values > DEPENDENT * max(values.max(initial=0.0), 0.0)
    inverse = np.where(nonzero, 1.0 / np.where(nonzero, values, 1.0), 0.0)
    solution: Vector = vectors @ (inverse * (vectors.T @ right))
    return solution


@dataclass(frozen=True, eq=False)
class Descent:
    """Where gradient descent arrived, in how many steps, and how steep it is there."""

    coef: Vector
    steps: int
    gradient: float
    converged: bool


def descend(system: Scaled, start: Vector, tol: float, most: int) -> Descent:
    """Batch gradient descent, from the last model on: z := z - step * (H z - r).

    Steps are those of Barzilai and Borwein: the length that the last step should have had. It ends
    when the gradient is at most `tol` times the one at zero.
    """
    z = start * system.scale
    gradient = system.matrix @ z - system.right
    enough = tol * float(np.linalg.norm(system.right))
    curve = float(gradient @ system.matrix @ gradient)
    step = float(gradient @ gradient) / curve if curve > 0 else 1.0
    steps = 0
    while (steep := float(np.linalg.norm(gradient))) > enough and steps < most:
        move = -step * gradient
        z = z + move
        new = system.matrix @ z - system.right
        bend = float(move @ (new - gradient))
        if bend <= 0:  # flat in this direction: all the columns there depend on each other
            break
        step = float(move @ move) / bend
        gradient = new
        steps += 1
    return Descent(z / system.scale, steps, steep, steep <= enough)


def names_of(names: Sequence[str]) -> str:
    """Names in a sentence, not all of many.

    >>> names_of(["a"]), names_of(["a", "b", "c"]), names_of("abcdefg")
    ("'a'", "'a', 'b' and 'c'", "'a', 'b', 'c' and 4 others")
    """
    quoted = [f"'{name}'" for name in names]
    if len(quoted) > 5:
        quoted[3:] = [f"{len(quoted) - 3} others"]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
