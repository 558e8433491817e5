"""The cofactor of a join, kept fresh in a database: what every model is computed from."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from freshview.algebra import Cofactor as Element
from freshview.algebra.cofactor import Slot
from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Query
from freshview.errors import FreshviewError, UnknownName
from freshview.factorized.dtree import DTree, read_dtree
from freshview.factorized.order import VariableOrder, read_order
from freshview.factorized.readout import NotFactorized
from freshview.models.declare import cofactor_query
from freshview.models.digits import (
    ACCEPTED_ERROR,
    REFUSED_ERROR,
    WARNED_ERROR,
    better_centre,
    digits,
    errors,
    looks_constant,
    total,
)
from freshview.models.host import CofactorHost, HostedView
from freshview.models.moments import Feature, Matrix, Moments, Vector, moments, slots_of, title
from freshview.models.problems import DigitsLost, EmptyJoin, NoDigits
from freshview.runtime.settings import EngineName
from freshview.runtime.views.payloads import Variable, variables_of

if TYPE_CHECKING:
    import pyarrow as pa

Order: TypeAlias = str | VariableOrder | DTree
"""A variable order: in text such as "store - {item, date}", as a dtree file's text, or read."""

MOST_REFILLS = 4
MOST_ROWS = 20_000
"""How many rows are added up without rounding where groups are too far from each other."""
INSTEAD = "select it less a constant near its values (x - 1000 AS x), or keep the rows"


class Cofactor:
    """The count, sums and products of columns over a join, fresh after every change.

    `sql` is a SELECT of columns (or expressions) from a join, with WHERE and GROUP BY if need be.
    Numbers are continuous, truth is 0 or 1; the columns of `categorical` count as one 0/1 variable
    for each value. Rows in which a selected column is NULL are left out. With GROUP BY there is a
    cofactor for each group; columns that are selected as well are keys, not features. `order` is a
    variable order over the columns that the relations share; without it one is found by cost.

    The cofactor is a view of the database: it starts with the data so far, and follows every batch
    like all the others. `db` may be a pipeline on Spark that has not started yet.

    >>> import freshview as fv
    >>> db = fv.connect()
    >>> _ = db.execute("CREATE STREAM sales (item INT NOT NULL, units DOUBLE NOT NULL);"
    ...                "CREATE STREAM items (item INT NOT NULL, price DOUBLE NOT NULL)")
    >>> cof = fv.models.Cofactor(db, "SELECT units, price FROM sales NATURAL JOIN items")
    >>> db.apply({"items": [((1, 2.0), 1), ((2, 4.0), 1)], "sales": [((1, 9.0), 1), ((2, 5.0), 1)]})
    >>> cof.count(), cof.element().sums
    (2, {'units': 14.0, 'price': 6.0})
    >>> cof.covariance()
    array([[ 8., -4.],
           [-4.,  2.]])
    """

    def __init__(
        self,
        db: CofactorHost,
        sql: str,
        *,
        categorical: Sequence[str] = (),
        order: Order | None = None,
        name: str | None = None,
    ) -> None:
        wanted = [categorical] if isinstance(categorical, str) else list(categorical)
        with db.still():
            title = name or _free_name(db)
            query = cofactor_query(sql, db.catalog, title, wanted)
            try:
                view = db.define(
                    query,
                    "factorized",
                    order="" if order is None else str(_order(order)),
                )
            except NotFactorized as problem:
                problem.instead = "select from a join of streams and tables, with simple tests"
                raise
        self._attach(db, view, query)

    @classmethod
    def attach(cls, db: CofactorHost, name: str) -> Cofactor:
        """The cofactor of this name in a database, such as one that was restored."""
        cofactor = cls.__new__(cls)
        cofactor._attach(db, db.view(name), db.catalog.view(name))
        return cofactor

    def _attach(self, db: CofactorHost, view: HostedView, query: Query) -> None:
        variables = variables_of(query, view.relations, db.catalog.functions)
        if list(variables) != [query.columns[-1].name]:
            raise UnknownName(
                f"'{query.name}' is not a cofactor", instead="declare one with fv.models.Cofactor"
            )
        self.db = db
        self.view = view
        (self._variables,) = variables.values()
        self._keys = query.columns[:-1]
        self._warned: set[Slot] = set()
        self._last_exact: tuple[int, dict[Row, Element]] = -1, {}

    # -- what it is of -----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of its view."""
        return self.view.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the selected columns."""
        return tuple(v.name for v in self._variables)

    @property
    def continuous(self) -> tuple[str, ...]:
        """The names of those that are numbers."""
        return tuple(v.name for v in self._variables if v.category is None)

    @property
    def categorical(self) -> tuple[str, ...]:
        """The names of those that are categories."""
        return tuple(v.name for v in self._variables if v.category is not None)

    @property
    def keys(self) -> tuple[Column, ...]:
        """The columns of GROUP BY."""
        return self._keys

    @property
    def engine(self) -> EngineName:
        """Which engine serves it: "native" or "reference"."""
        return self.view.engine

    def explain(self) -> str:
        """How it is kept: its view tree's maps and triggers, and by which engine."""
        return self.view.explain()

    def feature(self, name: str) -> Feature:
        """A column of the cofactor by its name, whatever its case."""
        for v in self._variables:
            if v.name.lower() == str(name).lower():
                return _feature(v)
        raise UnknownName(
            f"the cofactor '{self.name}' has no column '{name}'",
            instead=f"its columns are {', '.join(self.columns)}",
        )

    def features(self, names: Iterable[str] | None = None) -> tuple[Feature, ...]:
        """Columns by their names, or all of them."""
        if names is None:
            return tuple(map(_feature, self._variables))
        features = tuple(self.feature(n) for n in ([names] if isinstance(names, str) else names))
        for f in features:
            if features.count(f) > 1:
                raise FreshviewError(f"column '{f.name}' is given twice", instead="give it once")
        return features

    # -- what it is now ----------------------------------------------------------------------------

    def read(self) -> tuple[int, dict[Row, Element]]:
        """A version of the database, and the cofactor of every group at it.

        Without GROUP BY there is one group, the empty row.
        """
        with self.db.still() as version:
            elements = self._all()
            if any(_is_noisy(x) for x in elements.values()) and self._refilled():
                elements = self._all()
            noisy = [key for key, x in elements.items() if _is_noisy(x)]
            if noisy and (exact := self._exact(version)):
                elements |= {key: exact[key] for key in noisy}
        return version, elements

    def _all(self) -> dict[Row, Element]:
        return {row[:-1]: _payload(row) for row in self.view.rows()}

    def _exact(self, version: int) -> dict[Row, Element]:
        """Every group without rounding, where there are few rows: no centre serves all of them."""
        if self._last_exact[0] != version:
            rows = self.view.exact_rows(MOST_ROWS) or []
            self._last_exact = version, {row[:-1]: _payload(row) for row in rows}
        return self._last_exact[1]

    def _refilled(self) -> bool:
        """Let the kernel get back the digits that it has lost; tells whether it did anything.

        A mean that was lost itself is not a good centre: then the next one is better.
        """
        for times in range(MOST_REFILLS):
            whole = total(self._all().values())
            centre = better_centre(whole) if times == 0 or _is_noisy(whole) else None
            if centre is None or not self.view.refill(centre):
                return times > 0
            self._warned.clear()
        return True

    def groups(self) -> list[Row]:
        """The groups that have rows now."""
        return list(self.read()[1])

    def at(self, group: object = None) -> tuple[int, Element]:
        """A version, and the cofactor of a group at it; without a group, of all the rows.

        The group is a value, or a tuple where there are several keys.
        """
        if group is None:
            with self.db.still() as version:
                whole = total(self._all().values())
                if _is_noisy(whole) and self._refilled():
                    whole = total(self._all().values())
            return version, whole
        key = group if isinstance(group, tuple) else (group,)
        if len(key) != len(self._keys):
            known = ", ".join(c.name for c in self._keys)
            raise UnknownName(
                f"{group!r} is not a group of '{self.name}'",
                instead=f"give values for {known}" if known else "it has no GROUP BY",
            )
        key_values = {c.name: x for c, x in zip(self._keys, key, strict=True)}
        with self.db.still() as version:
            rows = self.view.lookup(**key_values)
            if rows and _is_noisy(_payload(rows[0])) and self._refilled():
                rows = self.view.lookup(**key_values)
            element = _payload(rows[0]) if rows else Element()
            if rows and _is_noisy(element):
                element = self._exact(version).get(rows[0][:-1], element)
        return version, element

    def element(self, group: object = None) -> Element:
        """The cofactor as an element of its ring."""
        return self.at(group)[1]

    def count(self, group: object = None) -> int:
        """How many rows the join has."""
        return self.element(group).count

    def names(self, columns: Iterable[str] | None = None, group: object = None) -> tuple[str, ...]:
        """What the entries of `mean`, `covariance` and `correlation` are of.

        A categorical column has one for each of its categories.
        """
        return tuple(map(title, slots_of(self.element(group), self.features(columns))))

    def mean(self, columns: Iterable[str] | None = None, group: object = None) -> Vector:
        """The mean of each column."""
        return self._moments(columns, group).mean

    def covariance(
        self, columns: Iterable[str] | None = None, group: object = None, ddof: int = 1
    ) -> Matrix:
        """The covariance matrix; `ddof` is what the count is reduced by, as in `numpy.cov`."""
        moments = self._moments(columns, group)
        if moments.count <= ddof:
            raise EmptyJoin(
                f"a covariance needs more than {ddof} rows, '{self.name}' has {moments.count}",
                instead="insert rows first",
            )
        return moments.scatter / (moments.count - ddof)

    def correlation(self, columns: Iterable[str] | None = None, group: object = None) -> Matrix:
        """The correlation matrix; NaN beside a column that is constant, as in `numpy.corrcoef`."""
        return self._moments(columns, group).correlation()

    def to_arrow(self) -> pa.Table:
        """A row for each group: keys, `payload[]`, `payload[x]`, `payload[x, y]`."""
        return self.view.to_arrow()

    def _moments(self, columns: Iterable[str] | None, group: object) -> Moments:
        element = self.element(group)
        if not element.count:
            raise empty(self.name, group)
        return self.moments(element, slots_of(element, self.features(columns)), group)

    def moments(self, element: Element, slots: Sequence[Slot], group: object = None) -> Moments:
        """The moments of some variables of an element that was read.

        Where a kernel has lost their digits for good, it warns, or refuses if none is left.
        """
        for slot, error in errors(element).items():
            if slot in slots and error > WARNED_ERROR and element.count > 1:
                self._warn(element, slot, error, group)
        return moments(element, slots)

    def _warn(self, element: Element, slot: Slot, error: float, group: object) -> None:
        part = "" if group is None else f" in the group {group!r}"
        what = f"the variance of '{slot}' in '{self.name}'{part}"
        if error < REFUSED_ERROR:
            message = f"{what} has about {digits(error)} right digits"
        elif self._keys and looks_constant(element, slot):
            message = f"{what} is taken as 0: it is too small beside the distance to other groups"
        else:
            raise NoDigits(f"{what} has no right digit left", instead=INSTEAD)
        if slot not in self._warned:
            self._warned.add(slot)
            warnings.warn(f"{message}; {INSTEAD}", DigitsLost, stacklevel=4)

    def __repr__(self) -> str:
        by = f" by {', '.join(c.name for c in self._keys)}" if self._keys else ""
        return f"<cofactor {self.name}({', '.join(self.columns)}){by}>"


def empty(name: str, group: object) -> EmptyJoin:
    """The error about a join without rows."""
    where = f"the join of '{name}'" if group is None else f"the group {group!r} of '{name}'"
    return EmptyJoin(f"{where} has no rows", instead="insert rows first")


def _is_noisy(element: Element) -> bool:
    return any(x > ACCEPTED_ERROR for x in errors(element).values())


def _payload(row: Row) -> Element:
    element: object = row[-1]
    assert isinstance(element, Element)
    return element


def _feature(v: Variable) -> Feature:
    return Feature(v.name, v.category is not None)


def _free_name(db: CofactorHost) -> str:
    n = 1
    while db.catalog.has(f"cofactor_{n}"):
        n += 1
    return f"cofactor_{n}"


def _order(order: Order) -> VariableOrder:
    if isinstance(order, VariableOrder):
        return order
    if isinstance(order, DTree):
        return order.order
    return read_dtree(order).order if order.lstrip()[:1].isdigit() else read_order(order)
