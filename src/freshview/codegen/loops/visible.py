"""What is visible where a statement stands, with types: locals, columns of rows, tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from freshview.calculus.check import Schema, value_type
from freshview.calculus.scope import free
from freshview.calculus.terms import Expr
from freshview.calculus.types import INT, Type, counted, product
from freshview.codegen.layout.terms import Columns, Sorts, Table
from freshview.codegen.loops.parts import Values, Weight
from freshview.errors import ProgramProblem, TypeProblem

Fields = Mapping[str, Type]
"""The columns of a row."""


@dataclass(frozen=True)
class Visible:
    """What statements of a block may read and write."""

    schema: Schema
    names: Mapping[str, Type] = field(default_factory=dict)
    """Locals, and columns of rows as `row.k0`."""
    rows: frozenset[str] = frozenset()
    probes: Mapping[str, tuple[str, Values]] = field(default_factory=dict)
    looks: frozenset[str] = frozenset()
    turns: frozenset[str] = frozenset()
    records: Mapping[str, str] = field(default_factory=dict)
    """Records that are written, and their tables."""
    filled: frozenset[str] = frozenset()
    """Transient tables that have their rows."""
    filling: str = ""
    """The transient table that gets its rows."""
    walked: frozenset[str] = frozenset()
    """Tables whose records are at hand, and must not move."""
    total: Type | None = None
    answers: bool = False
    """Whether a condition of a range may be answered."""
    in_batch: bool = False
    """Whether a statement stands right in the loop over a batch."""

    def local(self, name: str, t: Type) -> Visible:
        """The same with one more local."""
        return replace(self, names={**self.names, name: t})

    def row(self, name: str, fields: Fields) -> Visible:
        """The same with one more row."""
        columns = {f"{name}.{column}": t for column, t in fields.items()}
        return replace(self, names={**self.names, **columns}, rows=self.rows | {name})

    def type(self, e: Expr) -> Type:
        """The type of a value; all that it reads is visible."""
        for name in sorted(free(e)):
            if name not in self.names:
                raise ProgramProblem(self._unknown(name))
        return value_type(e, self.schema, self.names)

    def _unknown(self, name: str) -> str:
        row, dot, column = name.partition(".")
        if dot and row in self.rows:
            return f"the row '{row}' has no column {column}"
        return f"'{row}' is read before anything binds it"

    def weight(self, weight: Weight) -> Type:
        """The type of a product."""
        types = [self.type(e) for e in weight]
        rings = [t for t in types if t.kind == "ring"]
        if rings:
            if any(t.ring != rings[0].ring for t in rings):
                raise TypeProblem("elements of two rings are multiplied")
            return Type("ring", ring=rings[0].ring)
        out = INT
        for t in types:
            out = product(out, t.not_null())
        return out


def converts(a: Type, to: Type) -> bool:
    """Whether a kernel holds values of one type as those of another, without rounding.

    >>> converts(Type("decimal", 2), Type("decimal", 4)), converts(Type("double"), INT)
    (True, False)
    """
    if "ring" in (a.kind, to.kind):
        return to.kind == "ring" and (a.ring == to.ring or a.kind == "int")
    if "null" in (a.kind, to.kind):
        return True
    match to.kind:
        case "double":
            return counted(a).is_numeric
        case "int":
            return a.kind in ("int", "bool")
        case "decimal":
            return a.kind in ("int", "bool") or (a.kind == "decimal" and a.scale <= to.scale)
        case "timestamp":
            return a.kind in ("date", "timestamp")
        case _:
            return a.kind == to.kind


def record_fields(t: Table) -> Fields:
    """The columns of a record."""
    return {**_numbered("k", t.keys), **_numbered("p", t.payloads)}


def payload_fields(t: Table) -> Fields:
    """The sums of a range."""
    return _numbered("p", t.payloads)


def entry_fields(t: Table, sorts: Sorts) -> Fields:
    """The columns of an entry of an ordered index: those by which it sorts."""
    return {f"k{s.column}": t.keys[s.column] for s in sorts}


def batch_fields(types: Iterable[Type], columns: Columns | None = None) -> Fields:
    """The columns of a row of a batch, all or some."""
    fields = _numbered("c", types)
    return fields if columns is None else {f"c{j}": fields[f"c{j}"] for j in columns}


def _numbered(letter: str, types: Iterable[Type]) -> dict[str, Type]:
    return {f"{letter}{i}": t for i, t in enumerate(types)}
