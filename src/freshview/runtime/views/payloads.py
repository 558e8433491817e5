"""Columns whose values are elements of the cofactor ring, as the numbers that they are made of.

A row of such a view holds an element. In Arrow it is `payload[]` for the count, `payload[x]` for
the sum of a variable and `payload[x, y]` for the sum of a product, in the order in which the query
lifts the variables, whatever engine serves it. Where x is categorical, its sums are a list, with
one entry for each category: the rows of a group-by query inside the row.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, TypeAlias

from freshview.algebra import Category, Cofactor
from freshview.algebra.cofactor import Amount, Block, Slot, Watch, block
from freshview.algebra.reading import rounded, watched
from freshview.calculus.check import Schema, all_types, value_type
from freshview.calculus.functions import CppRing
from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Query, Relation, row_types
from freshview.calculus.terms import Apply, Const, Lift
from freshview.calculus.types import DOUBLE, Type
from freshview.calculus.walk import subterms
from freshview.errors import FreshviewError
from freshview.runtime.ingest.columns import arrow_type, rows_of, table_of

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

    from freshview.calculus.functions import Functions
else:
    from freshview.runtime.ingest.lazy_imports import pa, pc

Cells: TypeAlias = list[Any]
"""The cells of a row: values, and elements of rings beside them."""
Entry: TypeAlias = "tuple[tuple[object, ...], Amount]"
"""The categories of a number of an element, and the number."""
Part: TypeAlias = "tuple[Variable, ...]"
"""What a number of a cofactor adds up: rows, a variable, or the product of two."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a cofactor; a categorical one has the type of its categories."""

    name: str
    category: Type | None = None


def variables_of(
    query: Query, relations: Iterable[Relation], functions: Functions
) -> dict[str, tuple[Variable, ...]]:
    """The variables of each column that holds cofactors, in the order of their lifting functions.

    >>> from freshview.calculus.text import read
    >>> from freshview.calculus.functions import BUILTINS
    >>> from freshview.calculus.types import INT, ring
    >>> term = read("(p := Sum[](R(b, a) * [cofactor: Cofactor]('b', b)))")
    >>> q = Query("q", (Column("p", ring("Cofactor")),), ("p",), term)
    >>> r = Relation("R", (Column("b", INT), Column("a", INT)))
    >>> variables_of(q, [r], BUILTINS)
    {'p': (Variable(name='b', category=None),)}
    """
    rings = {v: c for v, c in zip(query.vars, query.columns, strict=True) if c.type.kind == "ring"}
    if not rings:
        return {}
    schema = Schema(row_types(relations, query.over), functions=functions)
    types = all_types(query.term, schema)
    variables: dict[str, tuple[Variable, ...]] = {}
    for e in subterms(query.term):
        if not isinstance(e, Lift) or e.var not in rings:
            continue
        lifted: dict[str, Variable] = {}
        for x in subterms(e.body):
            match x:
                case Apply("cofactor", (Const(name), _), _):
                    lifted[str(name)] = Variable(str(name))
                case Apply("onehot", (Const(name), value), _):
                    t = value_type(value, schema, types).not_null()
                    lifted[str(name)] = Variable(str(name), t)
        variables[rings[e.var].name] = tuple(lifted.values())
    return variables


class Payloads:
    """How the rows of a view lie in Arrow columns, if some of them hold elements of a ring.

    A count decides whether a group lives, never a sum: one that has lost all its rows is not shown,
    whatever rounding left in its sums.
    """

    def __init__(
        self,
        query: Query,
        variables: dict[str, tuple[Variable, ...]],
        headers: Mapping[str, CppRing] | None = None,
    ) -> None:
        self.query = query
        self.variables = variables
        known = headers or {}
        self.structs = {
            c.name: _struct(known[c.type.ring]) for c in query.columns if c.type.ring in known
        }
        """What the elements of rings in C++ are read as, by column."""
        self.grouped = len(variables) < len(query.columns)

    def __bool__(self) -> bool:
        return any(c.type.kind == "ring" for c in self.query.columns)

    @property
    def nested(self) -> bool:
        """Whether some columns are lists."""
        return any(v.category for variables in self.variables.values() for v in variables)

    @cached_property
    def parts(self) -> dict[str, tuple[Part, ...]]:
        """What the numbers of each column add up."""
        for c in self.query.columns:
            if c.type.kind == "ring" and c.type.ring != "Cofactor" and c.name not in self.structs:
                raise FreshviewError(
                    f"elements of {c.type} have no Arrow columns", instead="read them with rows()"
                )
        cofactors = {
            n: variables for n, variables in self.variables.items() if n not in self.structs
        }
        return {name: tuple(_parts(variables)) for name, variables in cofactors.items()}

    # -- rows of elements: the reference engine ----------------------------------------------------

    def elements(self, rows: Iterable[Row]) -> list[Row]:
        """The rows of the reference engine, rounded; it writes zero as a whole number."""
        at = [i for i, c in enumerate(self.query.columns) if c.type.ring == "Cofactor"]
        out: list[Row] = []
        for row in rows:
            cells: Cells = list(row)
            for i in at:
                element = cells[i] if isinstance(cells[i], Cofactor) else Cofactor(cells[i] or 0)
                cells[i] = rounded(element)
            if not self.grouped or all(cells[i].count for i in at):
                out.append(tuple(cells))
        return out

    def table(self, rows: Sequence[Row]) -> pa.Table:
        """Rows of elements as an Arrow table."""
        arrays: list[pa.Array] = []
        fields: list[pa.Field] = []
        for i, c in enumerate(self.query.columns):
            if c.name not in self.variables:
                one = table_of([c], [(row[i],) for row in rows], self.query.name)
                arrays.append(one.column(0))
                fields.append(one.schema.field(0))
                continue
            parts = self.parts[c.name]  # first, since it refuses the elements of other rings
            elements: Cells = [row[i] for row in rows]
            numbers = [_numbers_by_names(x) for x in elements]
            for part in parts:
                names = tuple(v.name for v in part)
                values = [_value(n.get(names, []), part) for n in numbers]
                fields.append(pa.field(_title(c, part), _arrow(part), nullable=False))
                arrays.append(pa.array(values, fields[-1].type))
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    # -- rows of numbers: kernels ------------------------------------------------------------------

    def places(self, names: Sequence[str]) -> list[tuple[str, int]]:
        """The columns in our order: their names, and where a kernel has them."""
        at = {name: i for i, name in enumerate(names)}
        out: list[tuple[str, int]] = []
        for c in self.query.columns:
            for part in self.parts.get(c.name, ()):
                title = _title(c, part)
                out.append((title, at[title] if title in at else at[_title(c, part[::-1])]))
            if c.name in self.structs:
                out += [(f"{c.name}.{m}", at[f"{c.name}.{m}"]) for m in self.structs[c.name][1]]
            elif c.name not in self.parts:
                out.append((c.name, at[c.name]))
        return out

    def in_order(self, table: pa.Table, watch: Watch | None = None) -> pa.Table:
        """The table of a kernel with its columns in our order, without groups that have no rows."""
        if self.nested or (watch is not None and any(watch.centre.values())):
            return self.table(self.gathered(table.column_names, rows_of(table), watch))
        places = self.places(table.column_names)
        table = table.select([i for _, i in places]).rename_columns([name for name, _ in places])
        if self.grouped:
            for name in self.parts:
                table = table.filter(pc.not_equal(table.column(f"{name}[]"), 0.0))
        return table

    def gathered(
        self, names: Sequence[str], rows: Iterable[Row], watch: Watch | None = None
    ) -> list[Row]:
        """The rows of a kernel with their numbers put together to elements."""
        if self.nested:
            return self._with_entries(names, rows, watch)
        places = [i for _, i in self.places(names)]
        out: list[Row] = []
        for row in rows:
            cells: Cells = []
            at = 0
            for c in self.query.columns:
                struct, members = self.structs.get(c.name, (None, ("",)))
                size = len(self.parts.get(c.name, members))
                numbers: Cells = [row[i] for i in places[at : at + size]]
                at += size
                if struct is not None:
                    cells.append(struct(*numbers))
                elif c.name in self.parts:
                    cells.append(_watched(_element(self.variables[c.name], numbers), watch))
                else:
                    cells += numbers
            if not self.grouped or all(x.count for x in cells if isinstance(x, Cofactor)):
                out.append(tuple(cells))
        return out

    def _with_entries(
        self, names: Sequence[str], rows: Iterable[Row], watch: Watch | None
    ) -> list[Row]:
        """The same where elements have categories: each entry of them came as a row of its own."""
        at = {name: i for i, name in enumerate(names)}
        readers = {
            name: EntryReader(name, variables, at) for name, variables in self.variables.items()
        }
        keys = [at[c.name] for c in self.query.columns if c.name not in readers]
        groups: dict[Row, dict[str, Cofactor]] = {}
        for row in rows:
            key = tuple(row[i] for i in keys)
            if key not in groups:
                groups[key] = {name: Cofactor() for name in readers}
            for name, reader in readers.items():
                reader.add(groups[key][name], row)
        out: list[Row] = []
        for key, elements in groups.items():
            if self.grouped and not all(x.count for x in elements.values()):
                continue
            plain = iter(key)
            cells: Cells = [
                _watched(elements[c.name] if elements[c.name].count else Cofactor(), watch)
                if c.name in elements
                else next(plain)
                for c in self.query.columns
            ]
            out.append(tuple(cells))
        return out


class EntryReader:
    """Puts the elements of a column together, from the rows of a kernel."""

    def __init__(self, column: str, variables: Sequence[Variable], at: Mapping[str, int]) -> None:
        slots = [v.name for v in variables if v.category is None]
        self.slots = sorted(slots, key=lambda s: at[f"{column}[{s}]"])
        self.count = at[f"{column}[]"]
        self.sums = [(s, at[f"{column}[{s}]"]) for s in self.slots]
        pairs = combinations_with_replacement(self.slots, 2)
        self.products = [((a, b), at[f"{column}[{a}, {b}]"]) for a, b in pairs]
        self.nested = [v.name for v in variables if v.category is not None]
        self.categories = [(name, at[f"{column}{{{name}}}"]) for name in self.nested]
        self.other, self.sum = (at.get(f"{column}{word}", 0) for word in ("{}", "{sum}"))

    def add(self, to: Cofactor, row: Row) -> None:
        """A row of the kernel: the numbers of continuous variables, or an entry."""
        values: Any = row
        slots: list[Slot] = [
            Category(name, values[i]) for name, i in self.categories if values[i] is not None
        ]
        if slots:
            other = self.slots[values[self.other] - 1] if values[self.other] else None
            self._entry(to, [*slots, other] if other else slots, values[self.sum])
            return
        to.count += round(values[self.count])
        to.sums |= {slot: values[i] for slot, i in self.sums if values[i]}
        to.products |= {block(a, b): values[i] for (a, b), i in self.products if values[i]}

    def _entry(self, to: Cofactor, slots: Sequence[Slot], total: float) -> None:
        if len(slots) == 1:
            to.sums[slots[0]] = total
            slots = [*slots, *slots]  # a category times itself is itself
        to.products[block(*slots)] = total


def _struct(ring: CppRing) -> tuple[Callable[..., object], tuple[str, ...]]:
    """What an element of a ring in C++ is read as: a named tuple of its numbers.

    >>> ring = CppRing("P", "p.hpp", "", (("n", DOUBLE), ("q[0]", DOUBLE)))
    >>> _struct(ring)[0](2.0, 3.0)
    P(n=2.0, q_0=3.0)
    """
    members = tuple(name for name, _ in ring.members)
    fields = [name.replace("[", "_").removesuffix("]") for name in members]
    return namedtuple(ring.name, fields, rename=True), members


def _element(variables: Sequence[Variable], numbers: Sequence[float]) -> Cofactor:
    """A cofactor of continuous variables from its numbers."""
    element, n = Cofactor(round(numbers[0])), len(variables)
    if element.count:
        slots = tuple(v.name for v in variables)
        sums = zip(slots, numbers[1 : n + 1], strict=True)
        products = zip(_blocks(slots), numbers[n + 1 :], strict=True)
        element.sums = {slot: x for slot, x in sums if x}
        element.products = {pair: x for pair, x in products if x}
    return element


def _watched(element: Cofactor, watch: Watch | None) -> Cofactor:
    return element if watch is None else watched(element, watch)


@lru_cache(maxsize=64)
def _blocks(slots: tuple[str, ...]) -> tuple[Block, ...]:
    """Where an element keeps the products of its variables."""
    return tuple(block(a, b) for a, b in combinations_with_replacement(slots, 2))


def _parts(variables: Sequence[Variable]) -> Iterator[Part]:
    yield ()
    for v in variables:
        yield (v,)
    for a, b in combinations_with_replacement(variables, 2):
        if a != b or a.category is None:  # a category times itself is itself
            yield (a, b)


def _title(column: Column, part: Part) -> str:
    return f"{column.name}[{', '.join(v.name for v in part)}]"


def _arrow(part: Part) -> pa.DataType:
    categories = [v.category for v in part if v.category is not None]
    if not categories:
        return arrow_type(DOUBLE)
    names = ["value"] if len(categories) == 1 else ["first", "second"]
    fields = [pa.field(n, arrow_type(t)) for n, t in zip(names, categories, strict=True)]
    return pa.list_(pa.struct([*fields, pa.field("sum", pa.float64())]))


NumbersByNames: TypeAlias = "dict[tuple[str, ...], list[Entry]]"
"""By the names of variables: their categories, and the number."""


def _numbers_by_names(element: Cofactor) -> NumbersByNames:
    """The numbers of an element by what they add up, for each order of the variables."""
    numbers: NumbersByNames = {(): [((), element.count)]}
    for slot, x in element.sums.items():
        numbers.setdefault((_name(slot),), []).append((_category(slot), x))
    for (a, b), x in element.products.items():
        numbers.setdefault((_name(a), _name(b)), []).append((_category(a) + _category(b), x))
        if _name(a) != _name(b):
            numbers.setdefault((_name(b), _name(a)), []).append((_category(b) + _category(a), x))
    return numbers


def _name(slot: Slot) -> str:
    return slot if isinstance(slot, str) else slot.name


def _category(slot: Slot) -> tuple[object, ...]:
    return () if isinstance(slot, str) else (slot.value,)


def _value(entries: Sequence[Entry], part: Part) -> object:
    """A number, or the numbers of all the categories in order."""
    names = [v.name for v in part if v.category is not None]
    if not names:
        return float(entries[0][1]) if entries else 0.0
    keys = ["value"] if len(names) == 1 else ["first", "second"]
    return [
        {**dict(zip(keys, values, strict=True)), "sum": float(x)}
        for values, x in sorted(entries, key=lambda entry: entry[0])
    ]
