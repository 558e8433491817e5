"""Random sessions over random worlds: statements that change rows, views that come, change and go.

DuckDB does the same statements. A view of it stands for one text, so a view that is replaced gets
another name there: the views that were declared before go on reading what it was.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import duckdb

from freshview.runtime.database.database import Database
from freshview.sql.load import load
from tests.differential.duck import _type as duck_type
from tests.differential.duck import plain, translate
from tests.differential.harness import refusal, same
from tests.differential.nested_sql import NestedWriter
from tests.differential.typed_sql import View
from tests.differential.typed_terms import LITERALS, Column, Source
from tests.differential.worlds import Table, World, random_table

Rows = Counter[tuple[Any, ...]]


class Statements(NestedWriter):
    """Writes statements over tables, and queries over tables and views."""

    def change(self, table: Table) -> str:
        """A statement that changes rows of a table."""
        shapes = (self.values, self.values, self.selected, self.update, self.delete, self.merge)
        return self.pick(shapes)(table)

    def literal(self, column: Column, *, nullable: bool) -> str:
        """A constant of a column."""
        return "NULL" if nullable and self.chance(0.2) else self.pick(LITERALS[column.kind])

    def values(self, table: Table) -> str:
        """INSERT of constants; now and then a NULL where there must be none."""
        pairs = list(zip(table.columns, table.nullable, strict=True))
        rows = [
            ", ".join(self.literal(c, nullable=n or self.chance(0.05)) for c, n in pairs)
            for _ in range(self.rng.randint(1, 5))
        ]
        return f"INSERT INTO {table.name} VALUES {', '.join(f'({row})' for row in rows)}"

    def selected(self, table: Table) -> str:
        """INSERT of the rows of a query, which may read the table itself."""
        text, scope = self.tables()
        names = [c.name for c in table.columns]
        values = [self.like(c, scope) for c in table.columns]
        if self.chance(0.3):
            order = self.rng.sample(range(len(names)), len(names))
            names, values = [names[i] for i in order], [values[i] for i in order]
        body = f"SELECT {', '.join(values)} FROM {text}{self.where(scope)}"
        return f"INSERT INTO {table.name} ({', '.join(names)}) {body} {self.few(names)}"

    def few(self, names: list[str]) -> str:
        """An end of a query that keeps tables small."""
        order = ", ".join(str(i + 1) for i in range(len(names)))
        return f"ORDER BY {order} LIMIT {self.rng.randint(1, 6)}"

    def like(self, column: Column, scope: tuple[Column, ...]) -> str:
        """A value of the kind of a column."""
        same_kind = [c.name for c in scope if c.kind == column.kind and c.firm]
        literal = self.pick(LITERALS[column.kind])
        if not same_kind or self.chance(0.2):
            return literal
        name = self.pick(same_kind)
        test = self.condition(scope, 0)
        choices = (f"COALESCE({name}, {literal})", name, f"CASE WHEN {test} THEN {name} ELSE ")
        value = self.pick((choices[0], choices[0], name, choices[2] + f"{literal} END"))
        return value

    def scope_of(self, table: Table) -> tuple[Column, ...]:
        """The columns under the name of the table."""
        return tuple(Column(f"{table.name}.{c.name}", c.kind, c.firm) for c in table.columns)

    def condition_of(self, scope: tuple[Column, ...]) -> str:
        """A condition on rows that change, with a subquery now and then."""
        return self.subquery(scope) if self.chance(0.3) else self.condition(scope)

    def update(self, table: Table) -> str:
        """UPDATE of one or two columns, by values of the old rows."""
        scope = self.scope_of(table)
        columns = self.rng.sample(table.columns, self.pick((1, 1, 2)))
        sets = []
        for c in columns:
            value = self.like(c, scope)
            if self.chance(0.2):
                value = f"(SELECT MAX({c.name}) FROM {table.name} o)"
            sets.append(f"{c.name} = {value}")
        where = f" WHERE {self.condition_of(scope)}" if self.chance(0.8) else ""
        return f"UPDATE {table.name} SET {', '.join(sets)}{where}"

    def delete(self, table: Table) -> str:
        """DELETE of some rows, seldom of all."""
        if self.chance(0.05):
            return f"DELETE FROM {table.name}"
        return f"DELETE FROM {table.name} WHERE {self.condition_of(self.scope_of(table))}"

    def merge(self, table: Table) -> str:
        """MERGE of groups, by a column of one kind."""
        pairs = [
            (k, s, c)
            for k in table.columns
            for s in self.sources
            for c in s.columns
            if c.kind == k.kind and c.firm and k.kind != "double"
        ]
        if not pairs:
            return self.delete(table)
        key, source, other = self.pick(pairs)
        groups = f"(SELECT {other.name} AS nk, COUNT(*) AS nn FROM {source.name} GROUP BY 1) n"
        rows = ", ".join("n.nk" if c == key else self.pick(LITERALS[c.kind]) for c in table.columns)
        names = ", ".join(c.name for c in table.columns)
        column = self.pick(table.columns)
        value = self.like(column, self.scope_of(table))
        clauses = [
            f"WHEN MATCHED AND n.nn > {self.rng.randint(0, 2)} THEN DELETE",
            f"WHEN MATCHED THEN UPDATE SET {column.name} = {value}",
            f"WHEN NOT MATCHED AND n.nn < 4 THEN INSERT ({names}) VALUES ({rows})",
            f"WHEN NOT MATCHED BY SOURCE AND {self.condition(self.scope_of(table), 0)} THEN DELETE",
        ]
        chosen = [c for c in clauses if self.chance(0.6)] or clauses[:1]
        on = f"{table.name}.{key.name} = n.nk"
        return f"MERGE INTO {table.name} USING {groups} ON {on} {' '.join(chosen)}"


@dataclass
class Session:
    """A database and DuckDB side by side."""

    seed: int
    db: Database
    rng: random.Random = field(init=False)
    tables: tuple[Table, ...] = field(init=False)
    views: dict[str, View] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    done: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(f"session {self.seed}")
        all_null = self.rng.random() < 0.5
        names = "rst"[: self.rng.randint(1, 3)]
        self.tables = tuple(random_table(n, self.rng, all_null) for n in names)
        self.duck = duckdb.connect()
        script = World(self.tables, (), ()).script()
        self.db.execute(script)
        self.log.append(script)
        catalog, _ = load(script)
        for t in self.tables:
            types = {c.name: c.type for c in catalog.relation(t.name).columns}
            columns = ", ".join(f"{c.name} {duck_type(types[c.name])}" for c in t.columns)
            self.duck.execute(f"CREATE TABLE {t.name} ({columns})")

    @property
    def writer(self) -> Statements:
        """A writer over the tables and the views as they are now."""
        sources = [Source(t.name, t.columns) for t in self.tables]
        sources += [Source(name, v.columns) for name, v in self.views.items()]
        return Statements(self.rng, sources)

    def run(self, statements: int) -> None:
        """Statements of every kind, compared after each."""
        for _ in range(2):
            self.declare(f"v{len(self.views)}")
        for _ in range(statements):
            draw = self.rng.random()
            if draw < 0.06:
                self.declare(self.rng.choice([*self.views, f"v{len(self.versions)}"]))
            elif draw < 0.1 and self.views:
                self.drop(self.rng.choice(list(self.views)))
            elif draw < 0.2:
                self.ask()
            else:
                self.change()
            self.compare()

    def in_duckdb(self, sql: str) -> str:
        """A text with the names that the views have in DuckDB."""
        text = translate(sql)
        for name in self.views:
            text = re.sub(rf"\b{name}\b", f"{name}_{self.versions[name]}", text)
        return text

    def declare(self, name: str) -> None:
        """CREATE OR REPLACE VIEW; a view does not read itself."""
        writer = self.writer
        above = self.above(name)
        writer.sources = [s for s in writer.sources if s.name not in above]
        view = writer.view(name)
        text = self.in_duckdb(view.oracle or view.sql)
        self.log.append(f"CREATE OR REPLACE VIEW {name} AS {view.sql}")
        if problem := refusal(partial(self.db.sql, self.log[-1])):
            assert len(above) > 1, self.shown(f"not replaced: {problem}")
            return
        self.versions[name] = self.versions.get(name, 0) + 1
        self.duck.execute(f"CREATE VIEW {name}_{self.versions[name]} AS {text}")
        self.views[name] = view

    def above(self, name: str) -> set[str]:
        """The view and all that read it, directly or not."""
        names = {name}
        while more := {n for n, v in self.views.items() if n not in names and _reads(v, names)}:
            names |= more
        return names

    def drop(self, name: str) -> None:
        """DROP VIEW, which is refused as long as another view reads it."""
        self.log.append(f"DROP VIEW {name}")
        if refusal(partial(self.db.sql, self.log[-1])):
            assert len(self.above(name)) > 1, self.shown("a view is not dropped that nobody reads")
            return
        del self.views[name]

    def ask(self) -> None:
        """SELECT, asked once."""
        view = self.writer.view("asked")
        self.log.append(view.sql)
        answer = Counter(tuple(map(plain, r)) for r in self.db.sql(view.sql).rows())
        self.check("the answer", answer, self.duck_rows(self.in_duckdb(view.oracle or view.sql)))

    def change(self) -> None:
        """One statement, or a script of two: done by both, or refused by both."""
        sql = self.writer.change(self.rng.choice(self.tables))
        self.log.append(sql)
        self.duck.execute("BEGIN")
        self.duck.execute(self.in_duckdb(sql))
        fits = all(self.fits(t) for t in self.tables)
        problem = refusal(partial(self.db.sql, sql))
        assert (problem is None) == fits, self.shown(f"refused: {problem}")
        self.done += fits
        self.duck.execute("COMMIT" if fits else "ROLLBACK")

    def fits(self, table: Table) -> bool:
        """Whether the rows in DuckDB keep NOT NULL and the key."""
        for c, null in zip(table.columns, table.nullable, strict=True):
            is_key = table.keyed and c == table.columns[0]
            if (is_key or not null) and self.any_row(f"{table.name} WHERE {c.name} IS NULL"):
                return False
        key = table.columns[0].name
        twice = f"(SELECT 1 FROM {table.name} GROUP BY {key} HAVING COUNT(*) > 1) x"
        return not (table.keyed and self.any_row(twice))

    def any_row(self, rows: str) -> bool:
        """Whether something has rows in DuckDB."""
        return bool(self.duck.execute(f"SELECT 1 FROM {rows} LIMIT 1").fetchall())

    def duck_rows(self, sql: str) -> Rows:
        """The rows of a query in DuckDB."""
        return Counter(tuple(map(plain, r)) for r in self.duck.execute(sql).fetchall())

    def compare(self) -> None:
        """Every table and every view has the same rows on both sides."""
        for t in self.tables:
            rows = self.db.sql(f"SELECT * FROM {t.name}").rows()
            expected = self.duck_rows(f"FROM {t.name}")
            self.check(t.name, Counter(tuple(map(plain, r)) for r in rows), expected)
        for name in self.views:
            rows = self.db.view(name).rows()
            expected = self.duck_rows(f"FROM {name}_{self.versions[name]}")
            self.check(name, Counter(tuple(map(plain, r)) for r in rows), expected)

    def check(self, what: str, rows: Rows, expected: Rows) -> None:
        """Equal, up to the digits that doubles may lose."""
        assert same(rows, expected), self.shown(
            f"{what}: too much {dict(rows - expected)}, missing {dict(expected - rows)}"
        )

    def shown(self, problem: str) -> str:
        """The session so far."""
        return ";\n".join([f"session {self.seed}", *self.log]) + f"\n{problem}"


def _reads(view: View, names: set[str]) -> bool:
    """Whether the text of a view names one of these."""
    return any(re.search(rf"\b{n}\b", view.sql) for n in names)
