"""A remote matrix, with the operations of an array that programs use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshview.linear.kernels.semiring import Array, Index

if TYPE_CHECKING:
    from freshview.spark.matrix.flow import MatrixFlow


class RemoteMatrix:
    """A matrix of a flow: each operation is a job."""

    def __init__(
        self, flow: MatrixFlow, name: str, shape: tuple[int, int], *, transposed: bool = False
    ) -> None:
        self._flow = flow
        self._name = name
        self._turned = transposed
        self.shape = shape

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.shape[0] * self.shape[1]

    @property
    def T(self) -> RemoteMatrix:
        """The transpose."""
        return RemoteMatrix(self._flow, self._name, self.shape[::-1], transposed=not self._turned)

    def __matmul__(self, by: Array) -> Array:
        return self._flow.times(self._name, by, transposed=self._turned)

    def __getitem__(self, index: Index) -> Array:
        assert not self._turned
        return self._flow.cells(self._name, index)

    def copy(self) -> Array:
        """The whole matrix, as a local array."""
        whole = self._flow.matrix(self._name)
        return whole.T if self._turned else whole
