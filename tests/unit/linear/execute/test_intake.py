"""What is not a real number is refused with the name of the input, wherever it comes in."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from freshview import linear
from freshview.errors import FreshviewError
from freshview.linear import BadUpdate, Program

A = linear.matrix("A", "n")
BAD: list[Any] = [
    [[1 + 2j, 0], [0, 1]],
    np.eye(2, dtype=np.complex64),
    np.array([[1 + 0j, 0], [0, 1]], dtype=object),
    [["1", "2"], ["3", "4"]],
    np.array([[b"1", b"2"], [b"3", b"4"]]),
    np.array([["x", 1], [2, 3]], dtype=object),
    np.array([["2020-01-01", "2020-01-02"]] * 2, dtype="datetime64[D]"),
    [[1, 2], [3]],
    [[None, 1], [2, 3]],
    [[NotImplemented, 1], [2, 3]],
    scipy.sparse.csr_array(np.eye(2, dtype=complex)),
]


def kind(value: Any) -> str:
    """The same in every process."""
    return repr(value).replace("\n", " ") if isinstance(value, list) else type(value).__name__


@pytest.mark.parametrize("ring", ["real", "boolean", "min-plus", "max-times"])
@pytest.mark.parametrize("value", BAD, ids=kind)
def test_input_is_refused(value: Any, ring: str) -> None:
    with pytest.raises(BadUpdate, match=r"\bA\b"):
        Program({"B": A @ A}, A=value, semiring=ring)


@pytest.mark.parametrize("value", [x for x in BAD if not scipy.sparse.issparse(x)], ids=kind)
def test_update_is_refused_and_changes_nothing(value: Any) -> None:
    p = Program({"B": A @ A}, A=np.eye(2))
    for change in (
        lambda: p.update("A", rows=[0, 1], v=value),
        lambda: p.update("A", cols=[0, 1], u=value),
        lambda: p.update("A", u=value, v=np.eye(2)),
        lambda: p.update("A", u=np.eye(2), v=value),
        lambda: p.assign("A", rows=[0, 1], to=value),
        lambda: p.update("A", cells=[(0, 0, value)]),
    ):
        with pytest.raises(FreshviewError):
            change()
    np.testing.assert_array_equal(p["A"], np.eye(2))
    np.testing.assert_array_equal(p["B"], np.eye(2))


@pytest.mark.parametrize("cell", ["1", 1j, b"1", None])
def test_cell_is_refused(cell: Any) -> None:
    p = Program({"B": A @ A}, A=np.eye(2))
    with pytest.raises(BadUpdate):
        p.update("A", cells=[(0, 0, cell)])
    with pytest.raises(BadUpdate):
        p.assign("A", cells=[(0, 0, cell)])
    np.testing.assert_array_equal(p["B"], np.eye(2))


def test_max_times_has_nothing_below_its_zero() -> None:
    with pytest.raises(BadUpdate, match="negative"):
        Program({"B": A @ A}, A=[[1.0, -2.0], [0.0, 1.0]], semiring="max-times")
    p = Program({"B": A @ A}, A=np.eye(2), semiring="max-times")
    with pytest.raises(BadUpdate, match="negative"):
        p.update("A", rows=[0], v=[[-1.0, 0.0]])
    np.testing.assert_array_equal(p["B"], np.eye(2))


@pytest.mark.parametrize("form", ["csr_array", "csc_array", "coo_array", "csr_matrix", "dok_array"])
@pytest.mark.parametrize("ring", ["real", "boolean", "min-plus", "max-times"])
def test_sparse_matrices_are_taken(form: str, ring: str) -> None:
    """What a sparse matrix does not store is the zero of the semiring: no edge, not a free one."""
    dense = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [1.0, 0.0, 0.0]])
    sparse = getattr(scipy.sparse, form)(dense)
    zero = {"real": 0.0, "boolean": False, "min-plus": np.inf, "max-times": 0.0}[ring]
    there = dense != 0
    whole = np.where(there, there if ring == "boolean" else dense, zero)
    got = Program({"B": A @ A}, A=sparse, semiring=ring)
    wanted = Program({"B": A @ A}, A=whole, semiring=ring)
    np.testing.assert_array_equal(got["B"], wanted["B"])


def test_numbers_of_python_are_taken() -> None:
    p = Program({"B": A @ A}, A=[[Decimal("0.5"), Fraction(1, 4)], [True, 2]])
    np.testing.assert_array_equal(p["A"], [[0.5, 0.25], [1.0, 2.0]])


@pytest.mark.parametrize("language", ["spark", "R", "", "NumPy"])
def test_code_of_an_unknown_language_is_refused(language: Any) -> None:
    p = Program({"B": A @ A}, A=np.eye(2))
    with pytest.raises(FreshviewError, match="octave, numpy"):
        p.code("A", language)


def test_ranks_of_dangling_pages_are_not_lost() -> None:
    """The chain in which a page without links goes on anywhere, solved as an eigenproblem."""
    links = np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0]], dtype=float)
    links = np.array(links)
    n = len(links)

    def stationary(m: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        full = m + (1 - m.sum(0)) / n
        google = 0.85 * full + 0.15 / n
        values, vectors = np.linalg.eig(google)
        x = np.real(vectors[:, np.argmax(np.real(values))])
        return np.asarray(n * x / x.sum()).reshape(-1, 1)

    p = Program({"rank": linear.pagerank(linear.matrix("L", "n"))}, L=links)
    np.testing.assert_allclose(p["rank"], stationary(links), rtol=1e-9)
    assert p["rank"].sum() == pytest.approx(n, rel=1e-12)
    p.assign("L", cols=[1], to=[[1.0], [0.0], [0.0]])
    np.testing.assert_allclose(p["rank"], stationary(p["L"]), rtol=1e-9)
    p.assign("L", cols=[0], to=[[0.0], [0.0], [0.0]])
    np.testing.assert_allclose(p["rank"], stationary(p["L"]), rtol=1e-9)
