"""A matrix that is somewhere else, with as much of an array as programs use of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshview.linear.execute.semiring import Array

if TYPE_CHECKING:
    from freshview.spark.matrix.flow import MatrixFlow


class RemoteMatrix:
    """A matrix of a flow: what is asked of it is a job."""

    def __init__(
        self, flow: MatrixFlow, name: str, shape: tuple[int, int], *, transposed: bool = False
    ) -> None:
        self._flow = flow
        self._name = name
        self._turned = transposed
        self.shape = shape

    @property
    def size(self) -> int:
        """How many cells it has."""
        return self.shape[0] * self.shape[1]

    @property
    def T(self) -> RemoteMatrix:
        """Rows for columns."""
        return RemoteMatrix(self._flow, self._name, self.shape[::-1], transposed=not self._turned)

    def __matmul__(self, by: Array) -> Array:
        return self._flow.times(self._name, by, transposed=self._turned)

    def __getitem__(self, index: Any) -> Array:
        assert not self._turned
        return self._flow.cells(self._name, index)

    def copy(self) -> Array:
        """All of it, here."""
        whole = self._flow.matrix(self._name)
        return whole.T if self._turned else whole
