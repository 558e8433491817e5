"""Where rows go: `Yield` in the loops of a term becomes a write to a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from freshview.calculus.terms import Expr, Var
from freshview.codegen.layout.terms import Columns, Table
from freshview.codegen.loops.effects import (
    Assign,
    Gain,
    Yield,
)
from freshview.codegen.loops.terms import (
    At,
    Block,
    Intern,
    Stmt,
)
from freshview.codegen.loops.walk import map_blocks
from freshview.codegen.lower.access import is_symbol
from freshview.codegen.lower.context import Names

Op = Literal["+=", ":="]


def write(
    table: Table,
    payload: int,
    columns: Columns,
    keys: Sequence[Expr],
    weight: tuple[Expr, ...],
    op: Op,
    names: Names,
) -> list[Stmt]:
    """M[keys] += weight, or M[keys] := weight."""
    interned: list[Stmt] = []
    by_column: dict[int, Expr] = {}
    for column, key in zip(columns, keys, strict=True):
        if table.keys[column].kind == "string" and not is_symbol(key):
            name = names.fresh("text")
            interned.append(Intern(name, key))
            key = Var(name)
        by_column[column] = key
    row = names.fresh("into")
    wanted = tuple(by_column[i] for i in sorted(by_column))
    change = (Gain if op == "+=" else Assign)(row, table.name, payload, weight)
    return [*interned, At(row, table.name, wanted, (change,))]


def write_yields(
    block: Block, table: Table, payload: int, columns: Columns, op: Op, names: Names
) -> Block:
    """A block whose rows are written to a table."""
    out: list[Stmt] = []
    for s in block:
        if isinstance(s, Yield):
            out += write(table, payload, columns, s.keys, s.weight, op, names)
        else:
            out.append(map_blocks(s, lambda b: write_yields(b, table, payload, columns, op, names)))
    return tuple(out)
