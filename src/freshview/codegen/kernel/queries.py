"""Queries as functions of a kernel: all their rows, or those of a key; and the contents of maps."""

from __future__ import annotations

from collections.abc import Mapping

from freshview.calculus.build import factors
from freshview.calculus.check import infer
from freshview.calculus.schema import Query
from freshview.calculus.scope import is_value, outs, stored
from freshview.calculus.terms import Add, Exists, Expr, Lift, Sum, Top, View
from freshview.calculus.types import Type
from freshview.calculus.walk import children
from freshview.codegen.cpp.code import Block, Spot, function, identifier, render
from freshview.codegen.cpp.ring_types import CofactorType, HeaderType, RingType, entry, number
from freshview.codegen.cpp.types import (
    SUM,
    Cpp,
    batch_type,
    convert,
    cpp_type,
    digits_lost,
    is_gone,
    is_mixed,
    nearest_double,
)
from freshview.codegen.terms.access import read_payload
from freshview.codegen.terms.context import ONE, Bound
from freshview.codegen.terms.nested import materialize
from freshview.codegen.terms.term import Terms
from freshview.errors import NotNative
from freshview.program.terms import Map, Statement


class Queries:
    """What writes the read-outs; `deferred` maps are brought up to date before."""

    def __init__(
        self, terms: Terms, deferred: Mapping[str, Statement], categories: Mapping[str, Type]
    ) -> None:
        self.terms = terms
        self.categories = categories
        self.deferred = deferred
        self.payloads: dict[tuple[str, str], RingType] = {}
        """By query and column: the types of those that are elements of a ring."""

    def query(self, q: Query) -> str:
        """The functions that read a query, and that find its rows by key if they can be found."""
        name = identifier(q.name)
        refresh = ["  refresh(e);"] if self.deferred else []
        out = function(f"read_{name}", "Output& out", refresh + self._answer(q, {}))
        key = self.lookup_columns(q)
        if key:
            types = {j: q.columns[j].type for j in key}
            wide = [self._width(q, j) for j in range(len(q.columns))]
            at = [sum(wide[:j]) for j in range(len(wide))]
            env = {q.vars[j]: Cpp(f"c{j}", t, batch_type(t)) for j, t in types.items()}
            loads = [
                f"  const {t} c{j} = *static_cast<const {t}*>(b.column[{at[j]}]);"
                for j, t in ((j, batch_type(t)) for j, t in types.items())
            ]
            body = refresh + loads + self._answer(q, env)
            flags = ", ".join(str(j in key).lower() for j, n in enumerate(wide) for _ in range(n))
            out += f"static const bool key_{name}[] = {{{flags}}};\n"
            out += function(f"find_{name}", "const Batch& b, Output& out", body, often=True)
        return out

    def lookup_columns(self, q: Query) -> tuple[int, ...]:
        """The columns by which rows of a query are found: keys of the map that it begins with.

        A map may have a simpler type than the column has: of x - x, which is zero, whole numbers.
        """
        own = infer(q.term, self.terms.schema)[1]
        return tuple(j for j in _keys(q) if _looks(q.columns[j].type) == _looks(own[q.vars[j]]))

    def _width(self, q: Query, j: int) -> int:
        """How many columns a kernel puts out for a column of a query."""
        payload = self.payloads.get((q.name, q.columns[j].name))
        return payload.width if payload else 1

    def _answer(self, q: Query, env: Bound) -> list[str]:
        """Code that puts the rows of a query out, those with the given values if there are any."""
        body = Block()
        spot = Spot(body)
        if is_unique(q.term):
            self.terms.emit(q.term, spot, env, ONE, lambda s, b, n: self._out(q, s, b, n))
        else:
            names = sorted(set(q.vars) - env.keys())
            rows, spot = materialize(self.terms, q.term, names, env, spot)
            opener = f"{rows.name}.each(e.scratch, [&](const {rows.record}& @) {{"
            r, inner = spot.open(("scan", rows.name), "r", opener, "});")
            columns = {
                v: Cpp(f"{r}.k{i}", t, cpp_type(t))
                for i, (v, t) in enumerate(zip(names, rows.keys, strict=True))
            }
            t = rows.payloads[0]
            self._out(q, inner, {**env, **columns}, read_payload(f"{r}.p0", t, "e.scratch"))
        return render(body, 1)

    def _out(self, q: Query, spot: Spot, env: Bound, m: Cpp) -> None:
        if m.type.kind != "int":
            raise NotNative(f"the rows of '{q.name}' are not counted by whole numbers")
        _, spot = spot.open(("out", m.text), "", f"if (const i64 n = {m.text}; n > 0) {{")
        plain, elements, j = ["const i64 at = out.next();", "out.count[at] = n;"], [], 0
        for v, c in zip(q.vars, q.columns, strict=True):
            x = env[v]
            if isinstance(x.type, RingType):
                self.payloads[q.name, c.name] = x.type
                elements.append((x.text, x.type, j))
                j += x.type.width
                continue
            kind = cpp_type(c.type)
            if x.type.kind == "string":
                x, spot = self.terms.stored(x, spot)
            else:
                if digits_lost(x.type, c.type):  # it equals a number of the column
                    x, spot = self.terms.shortened(x, c.type, spot)
                x = convert(x, c.type)
            plain.append(f"static_cast<{kind}*>(out.column[{j}])[at] = {x.text};")
            j += 1
        self._put_out(spot, plain, elements)

    def _put_out(
        self, spot: Spot, plain: list[str], elements: list[tuple[str, RingType, int]]
    ) -> None:
        """A row, and one more for each entry of its elements."""
        mixed = [text for text, t, _ in elements if is_mixed(t)]
        row = spot.open("row", "", "{")[1] if mixed else spot
        for line in plain:
            row.line(line)
        for text, t, first in elements:
            row.line(_all_out(text, t, first, self.categories))
        for text in mixed:
            _, rows = spot.open(
                ("entries", text), "", f"see({text}).each([&](const Entry& x) {{", "});"
            )
            for line in plain:
                rows.line(line)
            for other, kind, first in elements:
                rows.line(_entry_out(other == text, kind, first, self.categories))

    def map(self, m: Map) -> str:
        """The functions that tell the contents and the size of a map."""
        place = self.terms.places[m.name]
        s = place.storage
        lines = ["  refresh(e);"] if m.name in self.deferred else []
        lines += [f"  {s.path}.each(e.arena, [&](const {s.record}& r) {{"]
        t = place.payload_type
        payload = read_payload(f"r.p{place.payload}", t, "e.arena")
        in_parts = self.terms.passes.parts and payload.cpp_type == SUM
        lines += [
            f"    if ({is_gone(payload) if in_parts else f'r.p{place.payload} == 0'}) return;"
        ]
        body = Block()
        plain = ["const i64 at = out.next();", "out.count[at] = 1;"]
        for i in range(len(m.keys)):
            kind = cpp_type(place.key_type(i))
            plain.append(f"static_cast<{kind}*>(out.column[{i}])[at] = r.k{place.columns[i]};")
        if isinstance(t, RingType):
            self._put_out(Spot(body), plain, [(payload.text, t, len(m.keys))])
        elif in_parts:
            parts = enumerate((("f64", "hi"), ("f64", "lo"), ("i64", "print")), len(m.keys))
            plain += [
                f"static_cast<{kind}*>(out.column[{j}])[at] = {kind}({payload.text}.{part});"
                for j, (kind, part) in parts
            ]
            self._put_out(Spot(body), plain, [])
        else:
            column = f"static_cast<{cpp_type(t)}*>(out.column[{len(m.keys)}])"
            self._put_out(
                Spot(body), [*plain, f"{column}[at] = {nearest_double(payload).text};"], []
            )
        lines += [*render(body, 2), "  });"]
        size = (
            f"static u64 size_{identifier(m.name)}(Env& e) {{\n"
            f"  State& s = *e.state;\n"
            f"  return {s.path}.size();\n"
            f"}}\n"
        )
        return function(f"dump_{identifier(m.name)}", "Output& out", lines) + size


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


def _looks(t: Type) -> tuple[str, int]:
    """What tells how values of a type are held, whether or not there is NULL among them."""
    return t.kind, t.scale


def _keys(q: Query) -> tuple[int, ...]:
    """The columns of a query that are keys of the map that it begins with."""
    body = q.term.body if isinstance(q.term, Sum) else q.term
    first = next((f for f in factors(body) if stored(f)), None)
    atom = first.body if isinstance(first, Exists) else first
    if not isinstance(atom, View) or atom.inputs:
        return ()
    visible = outs(q.term)
    return tuple(
        j for j, v in enumerate(q.vars) if v in atom.vars and v in visible and v not in q.vars[:j]
    )


def is_unique(e: Expr) -> bool:
    """Whether every valuation comes at most once: no union, nothing added up over.

    >>> from freshview.calculus.text import read
    >>> is_unique(read("Exists(M[a]) * (n := M[a])")), is_unique(read("Sum[a](M[a, b])"))
    (True, False)
    """
    if isinstance(e, Lift | Exists | Top) or is_value(e):
        return True
    return not isinstance(e, Add | Sum) and all(is_unique(c) for c in children(e))
