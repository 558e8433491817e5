"""Rows of queries and maps as C++ puts them out, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from freshview.calculus.schema import Query
from freshview.calculus.types import Type
from freshview.codegen.cpp.ring_types import CofactorType, HeaderType, RingType, entry, number
from freshview.codegen.cpp.types import (
    SUM,
    convert,
    cpp_type,
    is_gone,
    is_mixed,
    nearest_double,
)
from freshview.codegen.kernel.rows import read_payload
from freshview.codegen.kernel.tables import CppTable
from freshview.codegen.kernel.text import Lines, indented
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.layout.terms import Columns, MapPlace
from freshview.codegen.loops.parts import Values, Weight
from freshview.errors import NotNative
from freshview.program.terms import Map

Elements = list[tuple[str, RingType, int]]
"""Elements of a ring that a row has: the text, the type, and the first column of each."""


@dataclass(frozen=True)
class Outputs:
    """What puts out the rows of a program's queries and maps."""

    queries: Mapping[str, Query]
    categories: Mapping[str, Type]
    parts: bool = False
    """Whether sums of doubles in maps are put out in their parts."""
    lookups: Mapping[str, Columns] = field(default_factory=dict)
    """The columns by which rows of queries are found."""

    def row(self, query: str, values: Values, weight: Weight, scope: CppScope) -> Lines:
        """A row of a query, as often as it counts."""
        m = scope.product(weight)
        if m.type.kind != "int":
            raise NotNative(f"the rows of '{query}' are not counted by whole numbers")
        plain, j = ["const i64 at = out.next();", "out.count[at] = n;"], 0
        elements: Elements = []
        for e, c in zip(values, self.queries[query].columns, strict=True):
            x = scope.value(e)
            if isinstance(x.type, RingType):
                elements.append((x.text, x.type, j))
                j += x.type.width
                continue
            if x.type.kind != "string":
                x = convert(nearest_double(x), c.type)
            plain.append(f"static_cast<{cpp_type(c.type)}*>(out.column[{j}])[at] = {x.text};")
            j += 1
        inside = self._put_out(plain, elements)
        return [f"if (const i64 n = {m.text}; n > 0) {{", *indented(inside), "}"]

    def touch(self, query: str, keys: Values, scope: CppScope) -> Lines:
        """What notes the rows of a key before they change, where somebody collects changes."""
        number = list(self.queries).index(query)
        types = [self.queries[query].columns[j].type for j in self.lookups.get(query, ())]
        key = [scope.key(e, t) for e, t in zip(keys, types, strict=True)]
        own = f"<{', '.join(map(cpp_type, types))}>" if types else ""
        call = f"touch{own}({', '.join(['e', str(number), *key])});"
        return [f"if (__builtin_expect(e.collecting >> {number} & 1, 0)) {call}"]

    def _put_out(self, plain: Lines, elements: Elements) -> Lines:
        """A row, and one more for each entry of its elements."""
        mixed = [text for text, t, _ in elements if is_mixed(t)]
        row = [*plain, *(_all_out(text, t, at, self.categories) for text, t, at in elements)]
        if not mixed:
            return row
        lines = ["{", *indented(row), "}"]
        for text in mixed:
            entries = [
                *plain,
                *(_entry_out(x == text, t, at, self.categories) for x, t, at in elements),
            ]
            lines += [f"see({text}).each([&](const Entry& x) {{", *indented(entries), "});"]
        return lines

    def map(self, m: Map, place: MapPlace, table: CppTable) -> Lines:
        """The contents of a map."""
        t = table.payloads[place.payload]
        own = f"r.{table.payload(place.payload)}"
        payload = read_payload(own, t, "e.arena")
        in_parts = self.parts and payload.cpp_type == SUM
        gone = is_gone(payload) if in_parts else f"{own} == 0"
        plain = ["const i64 at = out.next();", "out.count[at] = 1;"]
        for i, column in enumerate(place.columns):
            kind = cpp_type(table.keys[column])
            plain.append(f"static_cast<{kind}*>(out.column[{i}])[at] = r.{table.key(column)};")
        elements: Elements = []
        if isinstance(t, RingType):
            elements.append((payload.text, t, len(m.keys)))
        elif in_parts:
            parts = enumerate((("f64", "hi"), ("f64", "lo"), ("i64", "print")), len(m.keys))
            plain += [
                f"static_cast<{kind}*>(out.column[{j}])[at] = {kind}({payload.text}.{part});"
                for j, (kind, part) in parts
            ]
        else:
            numbers = f"static_cast<{cpp_type(t)}*>(out.column[{len(m.keys)}])"
            plain.append(f"{numbers}[at] = {nearest_double(payload).text};")
        lines = [f"if ({gone}) return;", *self._put_out(plain, elements)]
        if table.listing:
            entry = f"const Ord0_{table.name}& k, const Sum_{table.name}& v"
            head = f"each_entry(e.arena, {table.path}_U_o0, [&]({entry}) {{"
            record = [f"{table.record} r{{}};"]
            record += [f"r.{table.key(i)} = k.{table.key(i)};" for i in range(len(table.keys))]
            lines = [*record, f"{own} = {cpp_type(t)}(v.{table.payload(place.payload)});", *lines]
            return [head, *indented(lines), "});"]
        head = f"{table.path}.each(e.arena, [&](const {table.record}& r) {{"
        return [head, *indented(lines), "});"]


def _all_out(payload: str, t: RingType, first: int, categories: Mapping[str, Type]) -> str:
    """The numbers of a payload, one column each."""
    if isinstance(t, HeaderType):
        columns = [(j, cpp_type(kind), member) for j, (member, kind) in enumerate(t.members, first)]
        return " ".join(
            f"static_cast<{kind}*>(out.column[{j}])[at] = {kind}(see({payload}).{member});"
            for j, kind, member in columns
        )
    assert isinstance(t, CofactorType)
    column = f"static_cast<f64*>(out.column[{first} + i])[at]"
    if not t.categories:
        return f"for (int i = 0; i < {payload}.size; i++) {column} = {payload}.v[i];"
    numbers = f"for (int i = 0; i < {t.size}; i++) {column} = see({payload}).dense.v[i];"
    return f"{numbers} {_no_entry(t, first, categories)}"


def _entry_out(own: bool, t: RingType, first: int, categories: Mapping[str, Type]) -> str:
    """The columns of a payload in the row of an entry, its own or that of another payload."""
    if isinstance(t, HeaderType):
        kinds = [cpp_type(kind) for _, kind in t.members]
        return " ".join(
            f"static_cast<{k}*>(out.column[{j}])[at] = 0;" for j, k in enumerate(kinds, first)
        )
    assert isinstance(t, CofactorType)
    zeros = (
        f"for (int i = 0; i < {t.size}; i++) static_cast<f64*>(out.column[{first} + i])[at] = 0;"
    )
    if not (own and t.categories):
        return f"{zeros} {_no_entry(t, first, categories)}"
    at = first + t.size
    lines = [
        zeros,
        f"static_cast<i64*>(out.column[{at}])[at] = continuous_in<{t.mask}>(x);",
        f"static_cast<f64*>(out.column[{at + 1}])[at] = x.p0;",
    ]
    for j, c in enumerate(sorted(t.categories), at + 2):
        kind = cpp_type(categories[c])
        value = f"value_in<{kind}>(x, {number(c)})"
        lines.append(f"static_cast<{kind}*>(out.column[{j}])[at] = {value};")
    return " ".join(lines)


def _no_entry(t: CofactorType, first: int, categories: Mapping[str, Type]) -> str:
    """The columns of entries in a row that is none."""
    at = first + t.size
    lines = (
        [
            f"static_cast<{cpp_type(c.type)}*>(out.column[{j}])[at] = "
            f"{f'null<{cpp_type(c.type)}>()' if c.type.nullable else '0'};"
            for j, c in enumerate(entry(t, categories), at)
        ]
        if t.categories
        else []
    )
    return " ".join(lines)
