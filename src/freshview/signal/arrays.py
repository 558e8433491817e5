"""Columns as arrays, and events as functions of the user see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[Any]
Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


class EventColumns(Protocol):
    """Events as whole columns, by their names; among them are `time`, `start` and `end`."""

    @property
    def columns(self) -> list[str]:
        """The names of the payload."""
        ...

    def __getattr__(self, name: str, /) -> Array: ...

    def __getitem__(self, name: str, /) -> Array: ...


Condition: TypeAlias = Callable[[EventColumns], ArrayLike]
"""From events to a Boolean an event."""

Projected: TypeAlias = ArrayLike | Mapping[str, ArrayLike]
"""A payload as functions give it: an array, which is called `value`, or several by name."""

Projection: TypeAlias = Callable[[EventColumns], Projected]
"""From events to another payload."""

ValueFunction: TypeAlias = Callable[[Array, EventColumns], Projected]
"""From times and events to values."""
