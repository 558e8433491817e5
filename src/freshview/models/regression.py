"""Linear regression over a join: any label and any features of a maintained cofactor."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from freshview.algebra import Cofactor as Element
from freshview.algebra.cofactor import Slot
from freshview.errors import FreshviewError, TypeProblem
from freshview.models.cofactor import Cofactor
from freshview.models.data import design, numbers
from freshview.models.live import Fitted, Live
from freshview.models.moments import (
    Feature,
    Matrix,
    Moments,
    Vector,
    categories,
    slots_of,
    title,
)
from freshview.models.problems import NotConverged, SingularSystem
from freshview.models.solve import (
    Scaled,
    dependent,
    descend,
    direct,
    independent,
    least_norm,
    names_of,
    scaled,
)

Solver = Literal["direct", "gradient"]
Singular = Literal["refuse", "least-norm"]


@dataclass(frozen=True, eq=False)
class Regression(Fitted):
    """A linear model at a version; the names are those of scikit-learn."""

    version: int
    label: str
    features: tuple[Feature, ...]
    slots: tuple[Slot, ...]
    known: Mapping[str, list[object]]
    coef_: Vector
    intercept_: float
    n_iter_: int
    r2: float

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The columns that `predict` asks for."""
        return np.array([f.name for f in self.features], dtype=object)

    @property
    def coef_names_(self) -> tuple[str, ...]:
        """What each coefficient multiplies: a column, or a category of one."""
        return tuple(map(title, self.slots))

    def predict(self, rows: object) -> Vector:
        """The label that the model expects of rows, which come in any form that `design` takes."""
        products: Vector = design(rows, self.features, self.slots, self.known) @ self.coef_
        return products + self.intercept_

    def score(self, rows: object = None, labels: object = None) -> float:
        """R2: of the rows and labels given, or of all the rows of the join, from the cofactor."""
        if rows is None:
            return self.r2
        y = numbers(labels, self.label)
        error = float(np.sum((y - self.predict(rows)) ** 2))
        return _r2(error, float(np.sum((y - y.mean()) ** 2)))


class LinearRegression(Live[Regression]):
    """Least squares of a column on others, from a cofactor that is kept anyway.

    - `features` are all the other columns unless they are named. The first category of a
      categorical one is what the others are compared with; `drop=None` gives every category a
      coefficient.
    - `alpha` is the penalty on the squares of the coefficients (`Ridge`); the intercept has none.
    - `solver="direct"` solves the normal equations. Where columns depend on each other it refuses,
      naming one, or, with `singular="least-norm"`, takes the shortest of all the solutions.
    - `solver="gradient"` goes down the gradient from the coefficients of the last version on, until
      the gradient has shrunk to `tol` of what it was at zero, `max_iter` steps at most.

    There is no `fit`: attributes and methods are those of the model at the last version. `now()`
    gives them all at one version.

    >>> import freshview as fv
    >>> db = fv.connect()
    >>> _ = db.execute("CREATE STREAM r (x DOUBLE NOT NULL, y DOUBLE NOT NULL)")
    >>> model = LinearRegression(fv.models.Cofactor(db, "SELECT x, y FROM r"), label="y")
    >>> db.insert("r", [(0, 1), (1, 3), (2, 5)])
    >>> print(model.coef_.round(6), round(model.intercept_, 6), model.predict([[10]]).round(6))
    [2.] 1.0 [21.]
    >>> db.insert("r", [(3, 11)])
    >>> print(model.coef_.round(6), round(model.score(), 3))
    [3.2] 0.914
    """

    def __init__(
        self,
        cofactor: Cofactor,
        label: str,
        features: Iterable[str] | None = None,
        *,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        drop: Literal["first"] | None = "first",
        solver: Solver = "direct",
        singular: Singular = "refuse",
        tol: float = 1e-12,
        max_iter: int = 100_000,
    ) -> None:
        super().__init__(cofactor)
        target = cofactor.feature(label)
        if target.categorical:
            raise TypeProblem(
                f"the label '{target.name}' is categorical", instead="choose a column of numbers"
            )
        chosen = cofactor.features(features)
        if features is None:
            chosen = tuple(f for f in chosen if f != target)
        elif target in chosen:
            raise FreshviewError(
                f"the label '{target.name}' is among the features", instead="leave it out"
            )
        if isinstance(alpha, str) or not alpha >= 0:
            raise FreshviewError(f"alpha cannot be {alpha!r}", instead="give a number from 0 on")
        for what, value, words in (
            ("solver", solver, get_args(Solver)),
            ("singular", singular, get_args(Singular)),
            ("drop", drop, ("first", None)),
        ):
            if value not in words:
                raise FreshviewError(
                    f"there is no {what} {value!r}", instead=f"use one of {_listed(words)}"
                )
        self.label = target.name
        self.features = chosen
        self.alpha = float(alpha)
        self.fit_intercept = fit_intercept
        self.drop = drop
        self.solver: Solver = solver
        self.singular: Singular = singular
        self.tol = tol
        self.max_iter = max_iter

    @property
    def coef_(self) -> Vector:
        """The coefficients, as `coef_names_` tells."""
        return self.now().coef_

    @property
    def intercept_(self) -> float:
        """The constant of the model."""
        return self.now().intercept_

    @property
    def n_iter_(self) -> int:
        """The steps that gradient descent took; 0 for a direct solve."""
        return self.now().n_iter_

    @property
    def coef_names_(self) -> tuple[str, ...]:
        """What each coefficient multiplies: a column, or a category of one."""
        return self.now().coef_names_

    def predict(self, rows: object) -> Vector:
        """The label that the model expects of rows: an array, a table, or mappings by name."""
        return self.now().predict(rows)

    def score(self, rows: object = None, labels: object = None) -> float:
        """R2: of the rows and labels given, or of all the rows of the join."""
        return self.now().score(rows, labels)

    def _fit(self, version: int, element: Element, last: Regression | None) -> Regression:
        slots = slots_of(element, self.features, drop_first=self.drop == "first")
        moments = self.cofactor.moments(element, (*slots, self.label), self._group)
        if not self.fit_intercept:
            moments = _about_zero(moments)
        n = len(slots)
        scatter, right = moments.scatter[:n, :n], moments.scatter[:n, n]
        system = scaled(scatter, right, self.alpha)
        if self.solver == "gradient":
            coef, steps = self._descended(system, slots, last)
        else:
            coef, steps = self._solved(system, scatter, right, slots), 0
        intercept = float(moments.mean[n] - moments.mean[:n] @ coef) if self.fit_intercept else 0.0
        total = float(moments.scatter[n, n])
        error = max(total - 2 * float(coef @ right) + float(coef @ scatter @ coef), 0.0)
        known = {f.name: categories(element, f.name) for f in self.features if f.categorical}
        r2 = self._r2(element, error, total)
        return Regression(
            version, self.label, self.features, slots, known, coef, intercept, steps, r2
        )

    def _r2(self, element: Element, error: float, total: float) -> float:
        """As for given rows, R2 compares with the mean, also for a model through the origin."""
        if not self.fit_intercept:
            total = float(self.cofactor.moments(element, [self.label], self._group).scatter[0, 0])
        return _r2(error, total)

    def _solved(
        self, system: Scaled, scatter: Matrix, right: Vector, slots: tuple[Slot, ...]
    ) -> Vector:
        # A penalty makes the solution unique, however small it is beside the data.
        dependency = None if self.alpha or independent(system) else dependent(system)
        if dependency is None:
            return direct(system)
        if self.singular == "least-norm":
            return least_norm(scatter, right)
        which, others = dependency
        name = title(slots[which])
        why = f"depends on {names_of([title(slots[j]) for j in others])}"
        raise SingularSystem(
            f"the feature '{name}' {why if others else 'is constant'}",
            instead="leave it out, use Ridge, or say singular='least-norm'",
        )

    def _descended(
        self, system: Scaled, slots: tuple[Slot, ...], last: Regression | None
    ) -> tuple[Vector, int]:
        before = dict(zip(last.slots, last.coef_, strict=True)) if last else {}
        start = np.array([before.get(s, 0.0) for s in slots], dtype=np.float64)
        descent = descend(system, start, self.tol, self.max_iter)
        if not descent.converged:
            warnings.warn(
                f"gradient descent stopped after {descent.steps} steps with a gradient of "
                f"{descent.gradient:.1e}; raise max_iter or tol, or use solver='direct'",
                NotConverged,
                stacklevel=2,
            )
        return descent.coef, descent.steps

    def __repr__(self) -> str:
        names = ", ".join(f.name for f in self.features)
        return f"<{type(self).__name__} of {self.label} on {names}>"


class Ridge(LinearRegression):
    """Least squares with a penalty of `alpha` on the squares of the coefficients.

    All else is as in `LinearRegression`; `alpha` and its scale are those of scikit-learn's `Ridge`.
    """

    def __init__(
        self,
        cofactor: Cofactor,
        label: str,
        features: Iterable[str] | None = None,
        *,
        alpha: float = 1.0,
        **options: Any,
    ) -> None:
        super().__init__(cofactor, label, features, alpha=alpha, **options)


def _about_zero(moments: Moments) -> Moments:
    """The same with products as they are, for a model through the origin."""
    products = moments.scatter + moments.count * np.outer(moments.mean, moments.mean)
    return Moments(moments.count, moments.slots, moments.mean, products)


def _r2(error: float, total: float) -> float:
    if total == 0.0:
        return 1.0 if error == 0.0 else 0.0
    return 1.0 - error / total


def _listed(words: Iterable[object]) -> str:
    return ", ".join(repr(w) for w in words)
