"""Changes that are products of factors, and what takes them as they are.

Where a view's program has streams for the factors (`factorized.products`), it gets n + m rows for a
change of n x m. Everything else, a view of another strategy or the rows that the database keeps,
gets the rows one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from freshview.calculus.rows import Row, RowLike
from freshview.calculus.schema import Relation
from freshview.codegen.library.load import Instance
from freshview.errors import BadRow
from freshview.runtime.ingest.change import Change, counted_change, row_change
from freshview.runtime.ingest.columns import arrow_type, rows_in, table_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    import pyarrow.compute as pc

    from freshview.factorized.products import Factors, Grid
else:
    from freshview.runtime.ingest.lazy_imports import pa, pc

PAYS = 0.5
"""A batch is given as products if they have this share of its rows at most."""

Give = Callable[[str, Change, bool], None]
"""Give a change of a stream to an engine, or take it back."""


@dataclass(frozen=True)
class Product:
    """A change of a stream by all combinations of the rows of its factors, `count` times each.

    A factor is a mapping from column names to lists or arrays, or a table; the factors together
    have all the columns of the stream. A column that several of them have is a number, and that
    of a combination is the product of theirs: so a matrix of (row, column, value) changes by the
    product of two vectors, (row, value) and (column, value).
    """

    factors: tuple[object, ...]
    count: int

    def __init__(self, *factors: object, count: int = 1) -> None:
        object.__setattr__(self, "factors", factors)
        object.__setattr__(self, "count", count)


@dataclass(frozen=True)
class Term:
    """The factors of one product as changes of streams of their own."""

    relation: Relation
    factors: Factors
    parts: tuple[Change, ...]
    count: int

    @property
    def size(self) -> int:
        """How many rows it stands for."""
        return prod(p.size for p in self.parts)

    def matched(self, streams: Sequence[Relation]) -> list[Change] | None:
        """The factors as the streams take them, if there is one for each."""
        by_columns = {
            frozenset(group): p for group, p in zip(self.factors.groups, self.parts, strict=True)
        }
        wanted = [frozenset(c.name for c in s.columns) for s in streams]
        if len(by_columns) != len(self.parts) or by_columns.keys() != set(wanted):
            return None
        return [
            _reordered(s, by_columns[columns]) for s, columns in zip(streams, wanted, strict=True)
        ]

    def listed(self) -> tuple[pa.Table, npt.NDArray[np.int64]]:
        """All the rows, and how often each comes."""
        import numpy as np

        place = np.arange(self.size)
        columns: dict[str, pa.ChunkedArray] = {}
        counts = np.full(self.size, self.count, np.int64)
        types = {c.name: arrow_type(c.type) for c in self.relation.columns}
        for part, group in zip(self.parts, self.factors.groups, strict=True):
            table = table_of(part.relation.columns, rows_in(part.relation, part.table), "")
            at = pa.array(place % part.size)
            place = place // part.size
            if part.counts is not None:
                counts = counts * np.asarray(part.counts)[at.to_numpy()]
            for name in group:
                values = table.column(name).take(at)
                columns[name] = _times(columns[name], values, name) if name in columns else values
        names = [c.name for c in self.relation.columns]
        return pa.table([columns[n].cast(types[n]) for n in names], names), counts


def _reordered(stream: Relation, part: Change) -> Change:
    """A factor with its columns in the order of a stream."""
    return Change(stream, None, part.table.select([c.name for c in stream.columns]), part.counts)


def _times(left: pa.ChunkedArray, right: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        return pc.multiply_checked(left, right)
    except pa.ArrowInvalid as e:
        raise BadRow(f"a product of factors leaves the range of column '{name}'") from e


class Combined(Change):
    """A change that is a sum of products; listed when somebody needs its rows."""

    __slots__ = ("__dict__", "terms")

    def __init__(
        self, relation: Relation, terms: Sequence[Term], listing: Change | None = None
    ) -> None:
        super().__init__(relation, None)
        # A product with nothing in it is nothing, and would leave old factors lying about.
        self.terms = tuple(t for t in terms if t.size and t.count)
        if listing is not None:
            self.__dict__["listing"] = listing

    @cached_property
    def listing(self) -> Change:
        """The rows one by one."""
        import numpy as np

        if not self.terms:
            return Change(self.relation, [])
        tables, counts = zip(*(t.listed() for t in self.terms), strict=True)
        table = pa.concat_tables(tables).combine_chunks()
        return Change(self.relation, None, table, np.concatenate(counts))

    @property
    def size(self) -> int:
        """How many rows it stands for."""
        return sum(t.size for t in self.terms)

    @property
    def only_inserts(self) -> bool:
        """Whether the form alone tells that no row goes."""
        return all(t.count > 0 and all(p.only_inserts for p in t.parts) for t in self.terms)

    def apply(self, instance: Instance, index: int, back: bool = False) -> None:
        """Give the rows to a running kernel, or take them back."""
        self.listing.apply(instance, index, back)

    def net(self) -> dict[Row, int]:
        """The net change a row."""
        return self.listing.net()

    def python_rows(self) -> Sequence[RowLike]:
        """The rows as Python values."""
        return self.listing.python_rows()

    def each(self, size: int) -> list[int]:
        """How often each of so many rows comes."""
        return self.listing.each(size)

    def follow(self, relations: Iterable[Relation], give: Give, back: bool = False) -> bool:
        """Give the factors to the streams that take them; tells whether there are such.

        Whoever gets the last factor of a product applies it. On an error, products that were
        applied are taken back.
        """
        known = {r.name: r for r in relations}
        streams: list[Relation] = []
        while (name := f"{self.relation.name}_{len(streams) + 1}") in known:
            streams.append(known[name])
        matched = [t.matched(streams) for t in self.terms]
        if any(m is None for m in matched):
            return False
        done: list[tuple[list[Change], int]] = []
        try:
            for parts, term in zip(matched, self.terms, strict=True):
                assert parts is not None
                _give(streams, parts, term.count, give, back)
                done.append((parts, term.count))
        except BaseException:
            for parts, count in reversed(done):
                _give(streams, parts, count, give, not back)
            raise
        return True


def _give(
    streams: Sequence[Relation], parts: Sequence[Change], count: int, give: Give, back: bool
) -> None:
    for stream, part in zip(streams[:-1], parts[:-1], strict=True):
        give(stream.name, part, False)
    last = parts[-1] if count == 1 else _repeated(parts[-1], count)
    give(streams[-1].name, last, back)


def _repeated(part: Change, count: int) -> Change:
    import numpy as np

    counts = np.ones(part.size, np.int64) if part.counts is None else np.asarray(part.counts)
    return Change(part.relation, None, part.table, counts * count)


def any_change(stream: Relation, batch: object) -> Change:
    """What `apply` is given for one stream: rows with their counts, a product, or several."""
    if isinstance(batch, Product):
        return combined(stream, [batch])
    if isinstance(batch, list) and batch and all(isinstance(p, Product) for p in batch):
        return combined(stream, batch)
    return counted_change(stream, batch)


def combined(relation: Relation, products: Sequence[Product]) -> Combined:
    """Products as a change; BadRow where they do not fit the relation."""
    return Combined(relation, [_term(relation, p) for p in products])


def _term(relation: Relation, product: Product) -> Term:
    if isinstance(product.count, bool) or not isinstance(product.count, int):
        raise BadRow(
            f"a product of '{relation.name}' cannot come {product.count!r} times",
            instead="give an integer, negative to take its rows away",
        )
    from freshview.factorized.products import Factors

    names = {c.name.lower(): c.name for c in relation.columns}
    tables = [_table(relation, f, names) for f in product.factors]
    groups = tuple(tuple(n for n in t.column_names if n in names.values()) for t in tables)
    factors = Factors(relation, groups)
    parts = tuple(counted_change(s, t) for s, t in zip(factors.streams, tables, strict=True))
    return Term(relation, factors, parts, product.count)


def _table(relation: Relation, factor: object, names: Mapping[str, str]) -> pa.Table:
    change = row_change(relation, factor)
    if change.table is None:
        raise BadRow(
            f"a factor of '{relation.name}' must name its columns",
            instead="give a mapping from column names to lists or arrays, or a table",
        )
    table = pa.table(change.table)
    return table.rename_columns([names.get(n.lower(), n) for n in table.column_names])


def factors_of(
    stream: Relation, products: Mapping[str, Sequence[Sequence[str]]]
) -> list[list[str]]:
    """The groups of columns by whose products a stream was declared to change, if it was."""
    columns = {c.name.lower(): c.name for c in stream.columns}
    for name, groups in products.items():
        if name.lower() == stream.name.lower():
            return [[columns.get(c.lower(), c) for c in group] for group in groups]
    return []


def decomposed(change: Change, groups: Sequence[Sequence[str]]) -> Change:
    """The same change as products of two groups of columns, if that is much shorter."""
    from freshview.factorized.products import Factors, decompose

    names = [c.name for c in change.relation.columns]
    if len(groups) != 2 or len(groups[0]) + len(groups[1]) != len(names):
        return change
    way = [i for i, name in enumerate(names) if name in groups[0]]
    net = change.net()
    _, grids = decompose(net, way)
    if sum(g.size for g in grids) > PAYS * len(net):
        return change
    factors = Factors(
        change.relation,
        (tuple(names[i] for i in way), tuple(n for i, n in enumerate(names) if i not in way)),
    )
    return Combined(change.relation, [_of_grid(change.relation, factors, g) for g in grids], change)


def _of_grid(relation: Relation, factors: Factors, grid: Grid) -> Term:
    left, right = factors.streams
    lefts = table_of(left.columns, list(grid.left), relation.name)
    rights = table_of(right.columns, list(grid.right), relation.name)
    parts = Change(left, None, lefts), Change(right, None, rights, list(grid.right.values()))
    return Term(relation, factors, parts, grid.sign)
