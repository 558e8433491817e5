"""Programs that many need: regressions, ranks and paths, as expressions over one's own inputs."""

from __future__ import annotations

from collections.abc import Mapping

from freshview.linear.language.expression import (
    Matrix,
    diag,
    fill,
    identity,
    inverse,
    iterate,
    until,
)
from freshview.linear.library.iteration import iteration
from freshview.linear.library.iteration_plan import Form


def ols(x: Matrix, y: Matrix) -> Matrix:
    """Ordinary least squares: the beta that minimizes |X * beta - Y|."""
    return inverse(x.T @ x) @ (x.T @ y)


def ridge(x: Matrix, y: Matrix, penalty: float) -> Matrix:
    """Least squares with a penalty on the size of beta."""
    return inverse(x.T @ x + diag(x.cols, penalty)) @ (x.T @ y)


def gradient_descent(
    x: Matrix,
    y: Matrix,
    start: Matrix,
    rounds: int,
    rate: float,
    form: Form = "auto",
    sizes: Mapping[str, float] | None = None,
) -> Matrix:
    """Batch gradient descent for least squares: theta - rate * X' * (X * theta - Y), repeated.

    As T = A T + B, with A = I - rate * X' * X and B = rate * X' * Y.
    """
    a = identity(x.cols) - rate * (x.T @ x)
    b = rate * (x.T @ y)
    return iteration(a, b, start, rounds, form, sizes)


def pagerank(
    links: Matrix,
    rounds: int | None = None,
    damping: float = 0.85,
    form: Form = "auto",
    sizes: Mapping[str, float] | None = None,
    *,
    tolerance: float = 1e-12,
) -> Matrix:
    """The ranks of pages; column j of `links` says where page j leads.

    After so many rounds, or else when a round changes them by less than a tolerance.
    The columns of `links` sum up to 1; from a page that leads nowhere, whose column is empty, one
    goes on anywhere. Ranks sum up to the number of pages, so that the program need not know it:
    divide by it for probabilities.
    """
    ones = fill(links.rows, 1, 1.0)
    share = inverse(ones.T @ ones)  # 1 / n
    if rounds is not None:
        lost = ones @ (share @ (ones.T - ones.T @ links))
        return iteration(damping * (links + lost), (1 - damping) * ones, ones, rounds, form, sizes)
    # A round keeps the sum of the ranks: what jumps and dangling pages take from it goes to all.
    return until(tolerance, ones, lambda x: _with_lost_mass(x, damping * (links @ x), ones, share))


def _with_lost_mass(x: Matrix, y: Matrix, ones: Matrix, share: Matrix) -> Matrix:
    """Y, and what it has less than x, spread evenly."""
    return y + ones @ (share @ (ones.T @ x - ones.T @ y))


def power_iteration(
    a: Matrix, start: Matrix, rounds: int | None = None, *, tolerance: float = 1e-12
) -> Matrix:
    """The direction of the dominant eigenvector.

    A^rounds * start, not normalized; or, without `rounds`, of length 1 and to a tolerance.
    """
    if rounds is not None:
        return iterate(rounds, start, lambda x: a @ x)
    return until(tolerance, start, lambda x: a @ x, unit=True)


def reachability(graph: Matrix, hops: int | None = None) -> Matrix:
    """Which node reaches which, in at most so many hops or any; run it in the semiring boolean."""
    eye = identity(graph.rows)
    if hops is not None:
        return iterate(hops, eye, lambda x: graph @ x + eye)
    return until(0.0, eye, lambda x: graph @ x + eye)


def shortest_paths(graph: Matrix, hops: int | None = None) -> Matrix:
    """The lengths of shortest paths, of at most so many hops or any; run it in min-plus."""
    return reachability(graph, hops)
