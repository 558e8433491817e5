"""Tables read: get, slice or scan, by what is bound; values as keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from freshview.calculus.check import Schema
from freshview.calculus.terms import Cmp, Expr, Var
from freshview.calculus.types import INT, Type
from freshview.codegen.cpp.types import digits_lost
from freshview.codegen.layout.terms import Layout, MapPlace, Table
from freshview.codegen.loops.parts import Holds, Same
from freshview.codegen.loops.terms import (
    Batch,
    Find,
    Get,
    If,
    Look,
    Product,
    Scan,
    Slice,
    Stmt,
)
from freshview.codegen.lower.context import Bound, Count, Local, Names, Next
from freshview.codegen.options import KernelPasses
from freshview.program.terms import Map

Keyed = Callable[[Expr], list[Stmt]]
"""What follows, with a value as a key."""


@dataclass(frozen=True)
class Access:
    """What lowers the atoms of terms: what it knows of a kernel, and the names of its locals."""

    schema: Schema
    layout: Layout
    maps: Mapping[str, Map]
    """What the maps are."""
    columns: Mapping[str, tuple[Type, ...]]
    """Column types of the relations."""
    passes: KernelPasses
    names: Names = field(default_factory=Names)
    assumed: frozenset[Expr] = frozenset()
    """Conditions that hold for every row that comes here."""

    def batch(self, name: str, names: tuple[str, ...], env: Bound, m: Count, k: Next) -> list[Stmt]:
        """All the rows of the batch, as they came."""
        row = self.names.fresh("i")
        columns = batch_columns(row, self.columns[name])
        body = self.bind(names, columns, env, m.times(Var(f"{row}.count"), INT), k)
        return [Batch(row, name, tuple(body))]

    def access(
        self, place: MapPlace, names: tuple[str, ...], env: Bound, m: Count, k: Next
    ) -> list[Stmt]:
        """get, slice or scan: by how many of the keys are bound."""
        table = self.layout.tables[place.table]
        bound = {place.columns[i]: env[v] for i, v in enumerate(names) if v in env}

        def find(keys: Mapping[int, Expr]) -> list[Stmt]:
            at_hand = _open_record(place, [env[v] for v in names if v in env])
            if len(keys) == len(table.keys) and at_hand:
                return self._bind_record(place, at_hand, names, env, m, k)
            if set(table.lookup_columns) <= keys.keys():
                return self._get(place, keys, names, env, m, k)
            definition, many = self._hoist_product(m)
            row = self.names.fresh(row_name(table))
            body = tuple(self._bind_record(place, row, names, env, many, k))
            if not keys:
                return [*definition, Scan(row, table.name, body)]
            columns = tuple(sorted(keys))
            wanted = tuple(keys[i] for i in columns)
            return [*definition, Slice(row, table.name, columns, wanted, body)]

        return self._seek_all(list(bound.items()), table.keys, {}, find)

    def _seek_all(
        self,
        wanted: Sequence[tuple[int, Local]],
        types: Sequence[Type],
        keys: Mapping[int, Expr],
        then: Callable[[Mapping[int, Expr]], list[Stmt]],
    ) -> list[Stmt]:
        """Bound values as keys, one after the other."""
        if not wanted:
            return then(keys)
        (column, local), *rest = wanted
        return self.seek(
            local,
            types[column],
            lambda key: self._seek_all(rest, types, {**keys, column: key}, then),
        )

    def _get(
        self,
        place: MapPlace,
        keys: Mapping[int, Expr],
        names: tuple[str, ...],
        env: Bound,
        m: Count,
        k: Next,
    ) -> list[Stmt]:
        """The one record of these keys; what is not looked up by is compared."""
        table = self.layout.tables[place.table]
        row = self.names.fresh(row_name(table))
        body = self._bind_record(place, row, names, env, m, k)
        for i in sorted(keys, reverse=True):
            if i not in table.lookup_columns:
                test = Same(table.name, i, Var(f"{row}.k{i}"), keys[i])
                body = [If((test,), tuple(body))]
        wanted = tuple(keys[i] for i in table.lookup_columns)
        return [Get(row, table.name, wanted, tuple(body))]

    def _bind_record(
        self, place: MapPlace, row: str, names: tuple[str, ...], env: Bound, m: Count, k: Next
    ) -> list[Stmt]:
        """What follows for a record: its free columns are bound."""
        table = self.layout.tables[place.table]
        payload = Var(f"{row}.p{place.payload}")
        free = [i for i, v in enumerate(names) if v not in env]
        columns = [
            Local(f"{row}.k{place.columns[i]}", table.keys[place.columns[i]], table=table.name)
            for i in free
        ]
        count = m.times(payload, table.payloads[place.payload])
        return self.bind(tuple(names[i] for i in free), columns, env, count, k)

    def bind(
        self, names: Sequence[str], columns: Sequence[Local], env: Bound, m: Count, k: Next
    ) -> list[Stmt]:
        """Bind free variables to columns; a variable that stands twice must agree."""
        bound = dict(env)
        tests = []
        for name, column in zip(names, columns, strict=True):
            if name in bound:
                tests.append(Holds(Cmp("=", bound[name].value, column.value)))
            else:
                bound[name] = column
        body = k(bound, m)
        for test in reversed(tests):
            body = [If((test,), tuple(body))]
        return body

    def _hoist_product(self, m: Count) -> tuple[list[Stmt], Count]:
        """A factor before a loop: a cofactor is multiplied out once, not by row."""
        if not m.cofactor or (len(m.weight) == 1 and isinstance(m.weight[0], Var)):
            return [], m
        name = self.names.fresh("product")
        return [Product(name, m.weight)], replace(m, weight=(Var(name),), cofactor=True)

    # -- values as keys ----------------------------------------------------------------------------

    def seek(self, x: Local, t: Type, then: Keyed) -> list[Stmt]:
        """A bound value as a key to look up; what no record can have finds none."""
        if _needs_search(x, t):
            name = self.names.fresh("key")
            return [Find(name, x.value, t, tuple(then(Var(name))))]
        return then(x.value)

    def look(self, x: Local, t: Type) -> tuple[list[Stmt], Expr]:
        """A bound value as a key to look up, whether or not there can be a record."""
        if _needs_search(x, t):
            name = self.names.fresh("key")
            return [Look(name, x.value, t)], Var(name)
        return [], x.value


def row_name(table: Table) -> str:
    """What a record of a table is called: after the map, or the relation."""
    return "row" if table.transient else table.name.partition("_")[2]


def batch_columns(row: str, types: Sequence[Type]) -> list[Local]:
    """The columns of a row of a batch."""
    return [Local(f"{row}.c{j}", t) for j, t in enumerate(types)]


def _needs_search(x: Local, t: Type) -> bool:
    """Whether a record may not have a value as a key: text has to be known, digits to fit."""
    text = t.kind == x.type.kind == "string" and not is_symbol(x.value)
    return text or bool(digits_lost(x.type, t))


def is_symbol(x: Expr) -> bool:
    """Whether a text is a symbol of the state, as a key column of a record is."""
    return isinstance(x, Var) and x.name.rpartition(".")[2].startswith("k") and "." in x.name


def _open_record(place: MapPlace, keys: Sequence[Local]) -> str | None:
    """The record whose own key is asked for, if a loop or a look-up holds it already."""
    parts = [x.name.rpartition(".") for x in keys]
    rows = {row for row, _, _ in parts}
    columns = [f"k{i}" for i in place.columns]
    if len(rows) != 1 or [column for _, _, column in parts] != columns:
        return None
    if any(x.table != place.table for x in keys):
        return None
    [row] = rows
    return row
