"""Statements as loops: those that may mingle together, the others one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from freshview.calculus.build import is_zero
from freshview.calculus.scope import relations, stored
from freshview.calculus.terms import Var
from freshview.calculus.types import INT
from freshview.codegen.layout.terms import Layout, MapPlace, Table
from freshview.codegen.loops.effects import (
    Clear,
    Stale,
    Yield,
)
from freshview.codegen.loops.terms import (
    Block,
    Collect,
    Group,
    Scan,
    Stmt,
)
from freshview.codegen.lower.context import ONE, Bound, Count
from freshview.codegen.lower.nested import transient
from freshview.codegen.lower.term import Terms
from freshview.codegen.lower.writes import write, write_yields
from freshview.program.terms import Statement
from freshview.program.text import show_statement


@dataclass(frozen=True)
class Lowered:
    """A statement, and the loops of its right side: every row of it is a `Yield`."""

    statement: Statement
    block: Block


def lower_statement(terms: Terms, s: Statement, env: Bound, m: Count) -> Lowered:
    """The loops of a statement's right side."""

    def collect(b: Bound, n: Count) -> list[Stmt]:
        return [Yield(tuple(b[v].value for v in s.target.vars), n.weight)]

    return Lowered(s, tuple(terms.emit(s.term, env, m, collect, last=True)))


@dataclass(frozen=True)
class Statements:
    """What carries out the statements of a trigger in the order of the program.

    A statement on a map that is put off only marks the state as stale.
    """

    terms: Terms
    layout: Layout

    def reads(self, statements: Iterable[Statement]) -> set[str]:
        """The tables that statements read, or in which those lie."""
        names = {n for s in statements for n in stored(s.term) | relations(s.term)}
        return {self.layout.table(n).root for n in names if n in self.layout.places}

    def writes(self, statements: Iterable[Statement]) -> set[str]:
        """The tables that statements write, or in which those lie."""
        return {self.layout.table(s.target.name).root for s in statements}

    def carry_out(
        self, lowered: Sequence[Lowered], env: Bound, params: tuple[str, ...]
    ) -> list[Stmt]:
        """Loops that carry out statements in the order of the program."""
        block: list[Stmt] = []
        put_off = [x for x in lowered if x.statement.target.name in self.layout.deferred]
        if put_off:
            block.append(Stale(tuple(dict.fromkeys(x.statement.target.name for x in put_off))))
            lowered = [x for x in lowered if x not in put_off]
        if all(_empties(x.statement) for x in lowered):  # in any order: those of a table together
            lowered = sorted(lowered, key=lambda x: self._place(x.statement).table)
        for group in self._groups(lowered, params):
            texts = tuple(show_statement(x.statement) for x in group)
            way = self._replace if group[0].statement.op == ":=" else self._add_all
            block.append(Group(texts, tuple(way(group, env, params))))
        return block

    def _place(self, s: Statement) -> MapPlace:
        return self.layout.places[s.target.name]

    def _groups(self, lowered: Sequence[Lowered], params: tuple[str, ...]) -> list[list[Lowered]]:
        """Runs of statements that do not read what any of them writes: their code may mingle.

        Those that replace maps mingle if the maps share their records.
        """
        groups: list[list[Lowered]] = []
        for x in lowered:
            together = [y.statement for y in (*groups[-1], x)] if groups else []
            apart = self.reads(together) & self.writes(together)
            before = [y.statement for y in groups[-1]] if groups else []
            if groups and not apart and self._may_share_rows(before, x.statement, params):
                groups[-1].append(x)
            else:
                groups.append([x])
        return groups

    def _may_share_rows(
        self, group: Sequence[Statement], s: Statement, params: tuple[str, ...]
    ) -> bool:
        first = group[0]
        if s.op != first.op or s.op == "+=":
            return s.op == first.op
        known = any(s.target.name == other.target.name for other in group)
        share = self.terms.passes.share
        return share and not known and self._slice(s, params) == self._slice(first, params)

    def _slice(self, s: Statement, params: tuple[str, ...]) -> tuple[str, Mapping[int, str]]:
        """What a statement replaces: the table, and what its columns have to be."""
        place = self._place(s)
        fixed = zip(place.columns, s.target.vars, strict=True)
        return place.table, {c: v for c, v in fixed if v in params}

    def _add_all(self, group: Sequence[Lowered], env: Bound, params: tuple[str, ...]) -> list[Stmt]:
        block: list[Stmt] = []
        for x in group:
            s = x.statement
            if self.reads([s]) & self.writes([s]):
                collect, rows = self._rows([x])
                block += [collect, self._write_rows(rows, [s])]
            else:
                block += self._added(x, self.layout.tables[self._place(s).table], self._place(s))
        return block

    def _added(self, x: Lowered, table: Table, place: MapPlace) -> Block:
        """The loops of a statement that adds up its rows in a table."""
        return write_yields(x.block, table, place.payload, place.columns, "+=", self.terms.names)

    def _rows(
        self, group: Sequence[Lowered], more: Sequence[Stmt] = (), table: Table | None = None
    ) -> tuple[Stmt, Table]:
        """The right sides in a transient table: all is known before anything is written.

        Its keys lie as in the table of the targets. The last payload marks rows that are in the
        targets, whatever their new numbers.
        """
        rows = table or self._table_of_rows(group)
        block: list[Stmt] = []
        for i, x in enumerate(group):
            columns = self._place(x.statement).columns
            block += self._added(x, rows, MapPlace(rows.name, i, columns))
        return Collect(rows.name, rows, (*block, *more)), rows

    def _table_of_rows(self, group: Sequence[Lowered]) -> Table:
        targets = [x.statement.target.name for x in group]
        payloads = (*map(self.layout.payload_type, targets), INT)
        return transient(self.terms.names, self.layout.table(targets[0]).keys, payloads)

    def _write_rows(self, rows: Table, group: Sequence[Statement]) -> Stmt:
        """Write a transient table to the targets of statements."""
        row = self.terms.names.fresh("row")
        body: list[Stmt] = []
        for i, s in enumerate(group):
            place = self._place(s)
            keys = [Var(f"{row}.k{c}") for c in place.columns]
            body += write(
                self.layout.tables[place.table],
                place.payload,
                place.columns,
                keys,
                (Var(f"{row}.p{i}"),),
                s.op,
                self.terms.names,
            )
        return Scan(row, rows.name, tuple(body))

    def _replace(self, group: Sequence[Lowered], env: Bound, params: tuple[str, ...]) -> list[Stmt]:
        """M[p, x] := q replaces the slice of M that the trigger's parameters choose."""
        statements = [x.statement for x in group]
        first = statements[0].target
        place = self._place(statements[0])
        table = self.layout.tables[place.table]
        whole = len(group) == len(table.payloads)
        if whole and all(map(_empties, statements)) and not set(first.vars) & set(params):
            return [Clear(table.name)]
        rows = self._table_of_rows(group)

        def mark(b: Bound, _: Count) -> list[Stmt]:
            keys = [b[v].value for v in first.vars]
            one = ()
            return write(rows, len(group), place.columns, keys, one, "+=", self.terms.names)

        known = {v: env[v] for v in first.vars if v in params}
        marks = self.terms.emit(first, known, ONE, mark, last=True)
        collect, _ = self._rows(group, marks, rows)
        return [collect, self._write_rows(rows, statements)]


def _empties(s: Statement) -> bool:
    """Whether nothing is left of its target, or of a slice of it."""
    return s.op == ":=" and is_zero(s.term)
