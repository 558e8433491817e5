"""The key store: rows by primary key, in one SQLite file with its version.

Events are stored as expected before their batch is applied to the views, and committed afterwards.
If the pipeline stops in between, the version of the views decides whether they are committed.
"""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from freshview.calculus.schema import Relation
from freshview.calculus.types import Type
from freshview.errors import FreshviewError
from freshview.runtime.ingest.columns import arrow_schema, arrow_type
from freshview.spark.io.upsert import DELETED, key_of


class KeyStore:
    """Rows by key.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> r = Relation("r", (Column("k", INT), Column("v", INT)), key=("k",))
    >>> store = KeyStore(":memory:", [r])
    >>> store.commit(1, {"r": pa.table({"k": [1, 2], "v": [5, 6], DELETED: [False, False]})})
    >>> store.find(r, pa.table({"k": [2, 3]})).to_pylist(), store.version
    ([{'k': 2, 'v': 6}], 1)
    """

    def __init__(self, path: Path | str, relations: Iterable[Relation]) -> None:
        self.relations = {r.name: r for r in relations}
        try:
            # Batches come from a thread of Spark's, one at a time.
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS at (version INTEGER NOT NULL)")
            self._db.execute("CREATE TABLE IF NOT EXISTS expected (version, relation, events)")
            for r in self.relations.values():
                self._declare(self._table(r.name), r)
        except sqlite3.Error as e:
            raise FreshviewError(
                f"the rows by key in '{path}' cannot be read: {e}",
                instead="start over with another checkpoint",
            ) from e

    @property
    def version(self) -> int:
        """The version of the rows."""
        row = self._db.execute("SELECT version FROM at").fetchone()
        return 0 if row is None else int(row[0])

    def find(self, relation: Relation, keys: pa.Table) -> pa.Table:
        """The rows of these keys; nothing for a key without a row."""
        types = {c.name: c.type for c in relation.columns}
        names = key_of(relation)
        stored = [_to_sqlite(keys.column(n), types[n]) for n in names]
        table = self._table(relation.name)
        on = " AND ".join(f"t.{_q(n)} = w.{_q(n)}" for n in names)
        columns = ", ".join(f"t.{_q(c.name)}" for c in relation.columns)
        db = self._db
        db.execute("DROP TABLE IF EXISTS temp.wanted")
        db.execute(f"CREATE TEMP TABLE wanted ({', '.join(map(_q, names))})")
        marks = ", ".join("?" * len(names))
        db.execute("BEGIN")
        db.executemany(
            f"INSERT INTO temp.wanted VALUES ({marks})",
            zip(*(c.to_pylist() for c in stored), strict=True),
        )
        db.execute("COMMIT")
        rows = db.execute(f"SELECT {columns} FROM temp.wanted w JOIN {table} t ON {on}").fetchall()
        return _from_sqlite(relation, rows)

    def expect(self, version: int, events: Mapping[str, pa.Table]) -> None:
        """Store the last events of keys until their version is in the views."""
        db = self._db
        db.execute("BEGIN")
        db.execute("DELETE FROM expected")
        kept = [(version, name, _bytes(table)) for name, table in events.items()]
        db.executemany("INSERT INTO expected VALUES (?, ?, ?)", kept)
        db.execute("COMMIT")

    def resume(self, version: int) -> None:
        """Commit the expected events, if the views have their version; else discard them."""
        expected = self._db.execute("SELECT version, relation, events FROM expected").fetchall()
        if expected and self.version < expected[0][0] <= version:
            self.commit(version, {name: _unpacked(data) for _, name, data in expected})
        elif expected:
            self.forget()

    def forget(self) -> None:
        """Discard the expected events: their batch was refused."""
        self._db.execute("DELETE FROM expected")

    def commit(self, version: int, events: Mapping[str, pa.Table]) -> None:
        """Apply the last events of keys, as the rows of a version."""
        db = self._db
        db.execute("BEGIN")
        try:
            for name, table in events.items():
                self._write(self.relations[name], table)
            db.execute("DELETE FROM expected")
            db.execute("DELETE FROM at")
            db.execute("INSERT INTO at VALUES (?)", (version,))
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _write(self, relation: Relation, events: pa.Table) -> None:
        table, keys = self._table(relation.name), key_of(relation)
        deleted = events.filter(events.column(DELETED))
        kept = events.filter(pc.invert(events.column(DELETED)))
        types = {c.name: c.type for c in relation.columns}
        where = " AND ".join(f"{_q(n)} = ?" for n in keys)
        self._db.executemany(f"DELETE FROM {table} WHERE {where}", _tuples(deleted, keys, types))
        names = [c.name for c in relation.columns]
        marks = ", ".join("?" * len(names))
        self._db.executemany(
            f"INSERT OR REPLACE INTO {table} VALUES ({marks})", _tuples(kept, names, types)
        )

    def _declare(self, table: str, relation: Relation) -> None:
        columns = ", ".join(_q(c.name) for c in relation.columns)
        key = ", ".join(map(_q, key_of(relation)))
        self._db.execute(
            f"CREATE TABLE IF NOT EXISTS {table} ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID"
        )

    def _table(self, name: str) -> str:
        return _q(f"rows of {name}")


def _bytes(table: pa.Table) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def _unpacked(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()


def _q(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _to_sqlite(column: pa.ChunkedArray, t: Type) -> pa.ChunkedArray:
    """Values as SQLite keeps them: integers, doubles and texts."""
    match t.kind:
        case "decimal":
            return column.cast(arrow_type(t)).cast(pa.string())
        case "date":
            return column.cast(pa.int32())
        case "timestamp" | "bool":
            return column.cast(pa.int64())
        case _:
            return column


def _tuples(table: pa.Table, names: list[str], types: Mapping[str, Type]) -> Iterable[Any]:
    return zip(*(_to_sqlite(table.column(n), types[n]).to_pylist() for n in names), strict=True)


_SQLITE_TYPES = {
    "decimal": pa.string(),
    "date": pa.int32(),
    "timestamp": pa.int64(),
    "bool": pa.int64(),
}


def _from_sqlite(relation: Relation, rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in relation.columns)
    arrays = []
    for c, values in zip(relation.columns, columns, strict=True):
        target = arrow_type(c.type)
        arrays.append(pa.array(values, _SQLITE_TYPES.get(c.type.kind, target)).cast(target))
    return pa.Table.from_arrays(arrays, schema=arrow_schema(relation.columns))
