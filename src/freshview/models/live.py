"""Models that are as fresh as their cofactor: computed when asked, once a version."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from freshview.algebra import Cofactor as Element
from freshview.calculus.rows import Row
from freshview.models.cofactor import Cofactor, empty
from freshview.models.moments import Feature

F = TypeVar("F", bound="Fitted")


class Fitted:
    """A model as it is at a version of the database."""

    version: int


class Live(ABC, Generic[F]):
    """A model of a cofactor; `now` is what it is at the last version, and does not change.

    With GROUP BY, `model[group]` is the model of a group, and the model itself that of all rows.
    """

    features: tuple[Feature, ...]

    def __init__(self, cofactor: Cofactor) -> None:
        self.cofactor = cofactor
        self._group: object = None
        self._last: F | None = None
        self._parts: dict[object, Self] = {}

    def now(self) -> F:
        """The model at the last version; all its values belong together."""
        last = self._last
        if last is not None and last.version == self.cofactor.db.version:
            return last
        version, element = self.cofactor.at(self._group)
        if not element.count:
            raise empty(self.cofactor.name, self._group)
        self._last = model = self._fit(version, element, last)
        return model

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The columns that the model reads."""
        return np.array([f.name for f in self.features], dtype=object)

    def groups(self) -> list[Row]:
        """The groups that have rows now."""
        return self.cofactor.groups()

    def __getitem__(self, group: object) -> Self:
        """The model of a group: a value, or a tuple where there are several keys."""
        if group not in self._parts:
            part = copy.copy(self)
            part._group = group if isinstance(group, tuple) else (group,)
            part._last, part._parts = None, {}
            self._parts[group] = part
        return self._parts[group]

    @abstractmethod
    def _fit(self, version: int, element: Element, last: F | None) -> F:
        """The model of a cofactor that has rows; `last` is where a search may start."""
