"""A node of a matrix program: the matrices of one worker, or of the driver, in shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa

from freshview.distributed.matrix.terms import Form
from freshview.linear.kernels.semiring import Array
from freshview.spark.matrix import arrays


class MatrixNode:
    """Pieces of matrices by their form and name, each a file that other processes can map.

    `kept` are the permanent ones: a snapshot has them, and no others.
    """

    shared = True

    def __init__(self, folder: Path, kept: frozenset[tuple[Form, str]]) -> None:
        self.folder = folder
        self.kept = kept
        self._mapped: dict[tuple[Form, str], Array] = {}

    def stamp(self) -> None:
        """See `DurableNode`: every change of a piece is in its file."""

    def get(self, form: Form, name: str) -> Array:
        """A piece, not copied."""
        key = (form, name)
        if key not in self._mapped:
            self._mapped[key] = arrays.attach(self._path(form, name))
        return self._mapped[key]

    def put(self, form: Form, name: str, values: Array) -> None:
        """Store a copy of a piece; it replaces an old one."""
        piece = self.create(form, name, values.shape, values.dtype)
        np.copyto(piece, values)

    def create(
        self, form: Form, name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic]
    ) -> Array:
        """A piece of zeros."""
        piece = arrays.create(self._path(form, name), shape, dtype)
        self._mapped[form, name] = piece
        return piece

    def has(self, form: Form, name: str) -> bool:
        """Whether there is a piece of this form and name."""
        return (form, name) in self._mapped or self._path(form, name).exists()

    def rename(self, form: Form, old: str, new: str) -> None:
        """Rename a piece; it replaces one of the new name."""
        self._mapped.pop((form, new), None)
        self._path(form, old).replace(self._path(form, new))
        piece = self._mapped.pop((form, old), None)
        if piece is not None:
            self._mapped[form, new] = piece

    def clear(self) -> None:
        """Delete the temporary pieces."""
        for path in list(self.folder.iterdir()):
            key = _key(path)
            if key not in self.kept:
                self._mapped.pop(key, None)
                path.unlink(missing_ok=True)

    def load(self, table: str, rows: pa.RecordBatch) -> None:
        """There are no tables."""
        raise AssertionError(f"a matrix program has no table {table}")

    def save(self, path: Path) -> None:
        """Write the permanent pieces to a file."""
        kept = {f"{form} {name}": self.get(form, name) for form, name in self._there()}
        arrays.write(path, kept)

    def restore(self, path: Path) -> None:
        """Load the pieces from a file that `save` wrote."""
        for key, values in arrays.read(path).items():
            self.put(*piece_of(key), values)

    @property
    def bytes(self) -> int:
        """The bytes of the permanent pieces."""
        return sum(self.get(form, name).nbytes for form, name in self._there())

    def take_over(self) -> None:
        """Another process was here: files may have been replaced."""
        self._mapped.clear()

    def close(self) -> None:
        """Release the memory; the files stay."""
        self._mapped.clear()

    def _there(self) -> Iterator[tuple[Form, str]]:
        return (key for key in sorted(self.kept) if self.has(*key))

    def _path(self, form: Form, name: str) -> Path:
        return self.folder / f"{form} {quote(name, safe='#')}"


def piece_of(key: str) -> tuple[Form, str]:
    """The form of a piece and the name of its matrix, of the text that arrays are called by."""
    form, _, name = key.partition(" ")
    return cast("Form", form), name


def _key(path: Path) -> tuple[Form, str]:
    form, name = piece_of(path.name)
    return form, unquote(name)
