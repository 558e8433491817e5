"""Values of loops as C++ expressions: locals and columns, weights, keys, tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from freshview.calculus.check import Schema
from freshview.calculus.schema import Relation
from freshview.calculus.terms import Add, Cmp, Expr, Mul, Var
from freshview.calculus.types import DOUBLE, INT, Type
from freshview.calculus.walk import children
from freshview.codegen.cpp.arithmetic import times
from freshview.codegen.cpp.compare import compare
from freshview.codegen.cpp.scalar import scalar
from freshview.codegen.cpp.types import (
    SUM,
    Cpp,
    constant,
    convert,
    cpp_type,
    is_there,
    summand,
    zero_if_null,
)
from freshview.codegen.kernel.tables import CppTable
from freshview.codegen.loops.parts import (
    Fits,
    Holds,
    Missing,
    NoNegative,
    NotZero,
    Same,
    Test,
    There,
    Values,
    Weight,
)

Fields = Callable[[str], Cpp]
"""The columns of a row."""


@dataclass(frozen=True)
class ComputedColumn:
    """A call of columns of a batch, computed before the trigger: `known` where it has an answer."""

    known: str
    value: Cpp


@dataclass(frozen=True)
class CppScope:
    """What is visible where code stands: locals, rows, and the total around."""

    schema: Schema
    tables: Mapping[str, CppTable]
    relations: Mapping[str, Relation]
    locals: Mapping[str, Cpp] = field(default_factory=dict)
    rows: Mapping[str, Fields] = field(default_factory=dict)
    raw: Mapping[str, Fields] = field(default_factory=dict)
    """Rows of ordered indexes, whose sums have more bits than their payloads."""
    total: Cpp | None = None
    """What `Tally` adds to."""
    answer: str = "true"
    """What `Answer` says."""
    computed: Mapping[Expr, ComputedColumn] = field(default_factory=dict)
    """Calls whose answers are computed already."""

    def with_local(self, name: str, x: Cpp) -> CppScope:
        """The same with one more local."""
        return replace(self, locals={**self.locals, name: replace(x, stays=True)})

    def with_row(self, name: str, fields: Fields, raw: Fields | None = None) -> CppScope:
        """The same with one more row."""
        raws = self.raw if raw is None else {**self.raw, name: raw}
        return replace(self, rows={**self.rows, name: fields}, raw=raws)

    def look(self, name: str) -> Cpp:
        """A local, or a column of a row."""
        row, dot, column = name.partition(".")
        return self.rows[row](column) if dot else self.locals[name]

    def value(self, e: Expr) -> Cpp:
        """A value."""
        return scalar(e, self.look, self.schema, {k: c.value for k, c in self.computed.items()})

    def weight(self, e: Expr) -> Cpp:
        """A value as what a row counts for.

        Of doubles, sums and products are those of `native/sum.hpp`: a statement may multiply out
        what another one does not, and their fingerprints agree all the same.
        """
        value = self.value(e)
        if value.type.kind != "double":
            return zero_if_null(value)
        if isinstance(e, Add | Mul) and not value.nullable:
            first, *others = (self.weight(part) for part in children(e))
            for other in others:
                if isinstance(e, Mul):
                    first = times(first, other)
                else:
                    text = f"plus({summand(first).text}, {summand(other).text})"
                    first = Cpp(text, DOUBLE, SUM)
            return summand(first)
        return summand(zero_if_null(value))

    def product(self, weight: Weight) -> Cpp:
        """The product of what a row counts for.

        Whole numbers come last where doubles are among the factors: by a row's sign, which they
        are most often, a product is multiplied without rounding.
        """
        m = constant(1, INT)
        factors = [self.weight(e) for e in weight]
        if any(x.cpp_type == SUM for x in factors) and all(x.type.kind != "ring" for x in factors):
            factors.sort(key=lambda x: x.type.kind == "int")
        for x in factors:
            m = times(m, x)
        return m

    def key(self, e: Expr, t: Type) -> str:
        """A value as a key of a type."""
        x = self.value(e)
        if cpp_type(t) == "f64":
            return f"as_key({convert(x, t).text})"
        if (x.type.kind, x.type.scale, x.cpp_type) != (t.kind, t.scale, cpp_type(t)):
            x = convert(x, t)
        return x.text

    def lookup(self, table: CppTable, keys: Values) -> str:
        """What a record is looked up by."""
        kind = "Key" if table.own.determining is None else "Part"
        pairs = zip(table.lookup_columns, keys, strict=True)
        return (
            f"{table.record}::{kind}{{{', '.join(self.key(e, table.keys[i]) for i, e in pairs)}}}"
        )

    def condition(self, test: Test) -> str:
        """A test as a C++ condition."""
        match test:
            case Holds(Cmp(op, left, right)):
                return compare(op, self.value(left), self.value(right))
            case Holds(value):
                return f"truth({self.value(value).text})"
            case There(Var(name)) if name.partition(".")[0] in self.raw:
                row, _, column = name.partition(".")
                return is_there(self.raw[row](column))
            case There(value):
                return is_there(zero_if_null(self.value(value)))
            case NotZero(value):
                return f"{self.value(value).text} != 0"
            case Same(table, column, own, value):
                wanted = self.key(value, self.tables[table].keys[column])
                return f"same({self.value(own).text}, {wanted})"
            case NoNegative(table, payload):
                return f"s.{table}_U_below{payload} == 0"
            case Fits(name):
                return f"is_{self.locals[name].text}"
            case Missing(table, keys, tests):
                t = self.tables[table]
                record = f"{t.path}.find({t.where}, {self.lookup(t, keys)})"
                held = " && ".join(self.condition(x) for x in tests)
                return f"!(({held}) && {record})" if held else f"!{record}"
            case _:
                assert_never(test)

    def conditions(self, tests: tuple[Test, ...]) -> str:
        """Tests as one condition; `true` if there is nothing to test."""
        texts = dict.fromkeys(map(self.condition, tests))
        return " && ".join(t for t in texts if t != "true") or "true"

    def is_slow(self, test: Holds) -> bool:
        """Whether a test is better left out for a row that has failed already; or may overflow."""
        if not isinstance(test.value, Cmp):
            return True
        sides = (test.value.left, test.value.right)
        return any(children(x) or self.value(x).type.kind == "string" for x in sides)
