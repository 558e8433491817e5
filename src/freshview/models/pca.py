"""Principal components of a join's columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from freshview.algebra import Cofactor as Element
from freshview.algebra.cofactor import Slot
from freshview.errors import FreshviewError
from freshview.models.cofactor import Cofactor
from freshview.models.data import design
from freshview.models.live import Fitted, Live
from freshview.models.moments import Feature, Matrix, Vector, categories, slots_of, title
from freshview.models.problems import EmptyJoin


@dataclass(frozen=True, eq=False)
class Components(Fitted):
    """Principal components at a version; the names are those of scikit-learn."""

    version: int
    features: tuple[Feature, ...]
    slots: tuple[Slot, ...]
    known: Mapping[str, list[object]]
    mean_: Vector
    components_: Matrix
    explained_variance_: Vector
    explained_variance_ratio_: Vector
    n_samples_: int

    @property
    def n_components_(self) -> int:
        """How many there are."""
        return len(self.components_)

    @property
    def component_names_(self) -> tuple[str, ...]:
        """What the entries of a component belong to: a column, or a category of one."""
        return tuple(map(title, self.slots))

    @property
    def singular_values_(self) -> Vector:
        """Those of the centred columns."""
        return np.sqrt(self.explained_variance_ * (self.n_samples_ - 1))

    def transform(self, rows: object) -> Matrix:
        """Rows in the coordinates of the components."""
        centred: Matrix = design(rows, self.features, self.slots, self.known) - self.mean_
        return centred @ self.components_.T

    def inverse_transform(self, coordinates: object) -> Matrix:
        """Coordinates back to columns."""
        centred: Matrix = np.asarray(coordinates, dtype=np.float64) @ self.components_
        return centred + self.mean_


class PCA(Live[Components]):
    """The directions in which the rows of a join vary the most.

    `columns` are all those of the cofactor unless they are named; a categorical one is as many 0/1
    columns as it has categories. The largest entry of a component is positive. There is no `fit`:
    attributes are those at the last version, and `now()` gives them all at one version.

    >>> import freshview as fv
    >>> db = fv.connect()
    >>> _ = db.execute("CREATE STREAM r (x DOUBLE NOT NULL, y DOUBLE NOT NULL)")
    >>> pca = PCA(fv.models.Cofactor(db, "SELECT x, y FROM r"))
    >>> db.insert("r", [(0, 0), (1, 1), (2, 2), (3, 3)])
    >>> pca.explained_variance_ratio_.round(6)
    array([1., 0.])
    >>> pca.transform([[1.5, 1.5]]).round(6) + 0
    array([[0., 0.]])
    """

    def __init__(
        self,
        cofactor: Cofactor,
        columns: Iterable[str] | None = None,
        *,
        n_components: int | None = None,
    ) -> None:
        super().__init__(cofactor)
        self.features = cofactor.features(columns)
        if n_components is not None and not (isinstance(n_components, int) and n_components >= 1):
            raise FreshviewError(
                f"n_components cannot be {n_components!r}", instead="give a whole number from 1 on"
            )
        self.n_components = n_components

    @property
    def components_(self) -> Matrix:
        """A row for each component."""
        return self.now().components_

    @property
    def explained_variance_(self) -> Vector:
        """The variance along each component."""
        return self.now().explained_variance_

    @property
    def explained_variance_ratio_(self) -> Vector:
        """Its share of the whole variance."""
        return self.now().explained_variance_ratio_

    @property
    def singular_values_(self) -> Vector:
        """Those of the centred columns."""
        return self.now().singular_values_

    @property
    def mean_(self) -> Vector:
        """The means of the columns."""
        return self.now().mean_

    @property
    def n_components_(self) -> int:
        """How many components there are."""
        return self.now().n_components_

    def transform(self, rows: object) -> Matrix:
        """Rows in the coordinates of the components."""
        return self.now().transform(rows)

    def inverse_transform(self, coordinates: object) -> Matrix:
        """Coordinates back to columns."""
        return self.now().inverse_transform(coordinates)

    def _fit(self, version: int, element: Element, last: Components | None) -> Components:
        if element.count < 2:
            raise EmptyJoin(
                f"components need two rows, '{self.cofactor.name}' has {element.count}",
                instead="insert rows first",
            )
        slots = slots_of(element, self.features)
        moments = self.cofactor.moments(element, slots, self._group)
        values, vectors = np.linalg.eigh(moments.scatter / (moments.count - 1))
        most = min(moments.count, len(slots))
        if self.n_components is not None and self.n_components > most:
            raise FreshviewError(
                f"there are {most} components, {self.n_components} are asked for",
                instead=f"give n_components={most} or less",
            )
        largest_first = np.argsort(values)[::-1][: self.n_components or most]
        variance = np.clip(values[largest_first], 0.0, None)
        components = vectors[:, largest_first].T
        largest = components[np.arange(len(largest_first)), np.argmax(np.abs(components), axis=1)]
        components = components * np.where(largest < 0, -1.0, 1.0)[:, None]
        whole = float(np.trace(moments.scatter)) / (moments.count - 1)
        ratio = variance / whole if whole else np.zeros(len(largest_first))
        known = {f.name: categories(element, f.name) for f in self.features if f.categorical}
        return Components(
            version,
            self.features,
            slots,
            known,
            moments.mean,
            components,
            variance,
            ratio,
            moments.count,
        )

    def __repr__(self) -> str:
        return f"<PCA of {', '.join(f.name for f in self.features)}>"
