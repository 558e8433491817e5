"""The arrays of a program's inputs, checked against what is declared of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from freshview.errors import UnknownName
from freshview.linear.execute.intake import BadUpdate, cells_of, check_cells
from freshview.linear.kernels.semiring import Array, Semiring
from freshview.linear.language.sizes import Size
from freshview.linear.language.terms import Input, Source


def bind(
    source: Source, values: Mapping[str, object], ring: Semiring, sizes: dict[str, float]
) -> dict[str, Array]:
    """The arrays of the inputs; the first use of a size tells its value, and `sizes` learns it."""
    names = {i.name for i in source.inputs}
    for name in values:
        if name not in names:
            raise UnknownName(f"there is no input {name}", instead=f"there is {listed(names)}")
    arrays: dict[str, Array] = {}
    for i in source.inputs:
        if i.name not in values:
            instead = f"give it: {i.name}=..., an array of {i.rows} x {i.cols}"
            raise UnknownName(f"the input {i.name} has no value", instead=instead)
        value = cells_of(i.name, values[i.name], ring)
        array = ring.read(value)
        if array.shape[0] == 1 and i.cols.number == 1 and np.ndim(value) == 1:
            array = ring.copy(array.T)  # a plain list for a column
        if array.ndim != 2:
            raise BadUpdate(f"{i.name} has {array.ndim} dimensions", instead="expected two")
        for s, n in zip((i.rows, i.cols), array.shape, strict=True):
            _measure(i, s, n, sizes)
        check_cells(i.name, array, ring)
        if i.traits:
            _check_traits(i, ring.host(array))
        arrays[i.name] = array
    return arrays


def _measure(i: Input, s: Size, n: int, sizes: dict[str, float]) -> None:
    if s.name:
        sizes.setdefault(s.name, float(n))
    unknown = {v for m, _ in s.terms for v in m} - sizes.keys()
    if not unknown and s.at(sizes) != n:
        wanted = f"{int(s.at(sizes))}" + ("" if s.number is not None else f" ({s})")
        raise BadUpdate(f"{i.name} has a side of {n}, but {wanted} is wanted there")


def listed(names: Iterable[str]) -> str:
    """Names in order, for a sentence."""
    return ", ".join(sorted(names))


def _check_traits(i: Input, a: Array) -> None:
    """What is declared of an input must be so: the triggers rely on it."""
    tests = {
        "symmetric": lambda: np.allclose(a, a.T, rtol=1e-12, atol=0, equal_nan=True),
        "diagonal": lambda: not np.count_nonzero(a - np.diag(np.diag(a))),
        "lower": lambda: not np.count_nonzero(np.triu(a, 1)),
        "upper": lambda: not np.count_nonzero(np.tril(a, -1)),
    }
    for t in sorted(i.traits):
        if not tests[t]():
            raise BadUpdate(f"{i.name} is declared {t}, but its values are not")


def check_change(i: Input, left: Array, right: Array) -> None:
    """A change must keep what is declared; that costs as much as the update of the input."""
    if not i.traits:
        return
    try:
        _check_traits(i, left @ right.T)
    except BadUpdate:
        traits = ", ".join(sorted(i.traits))
        raise BadUpdate(f"an update would make {i.name} no longer {traits}") from None
