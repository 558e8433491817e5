"""The rows of relations by primary key, in one SQLite file that knows its version.

Events are written here as expected before their batch goes to the views, and taken over when it
is there. The batch carries their token: if the pipeline is stopped between the two, what the views
carry tells whether the events came to pass, and later, whether this file is the one they go with.

The file has the epoch of its driver: an older driver cannot write to it any more.
"""

from __future__ import annotations

import io
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from freshview.calculus.schema import Relation
from freshview.calculus.types import Type, Value
from freshview.durable.epoch import DriverFenced
from freshview.errors import FreshviewError
from freshview.runtime.ingest.columns import arrow_schema, arrow_type
from freshview.spark.io.upsert import DELETED, key_of

UNCHANGED = "nothing is changed; fix the cause and apply it again"
LATER = "fix the cause: applied batches are in the views, and the next call continues"


class KeyStore:
    """Rows by key.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> r = Relation("r", (Column("k", INT), Column("v", INT)), key=("k",))
    >>> store = KeyStore(":memory:", [r])
    >>> store.commit("1", {"r": pa.table({"k": [1, 2], "v": [5, 6], DELETED: [False, False]})})
    >>> store.find(r, pa.table({"k": [2, 3]})).to_pylist(), store.token
    ([{'k': 2, 'v': 6}], '1')
    """

    def __init__(self, path: Path | str, relations: Iterable[Relation], epoch: int = 0) -> None:
        """Open the file for the driver of an epoch; older ones are fenced from here on."""
        self.path = path
        self.epoch = epoch
        self.relations = {r.name: r for r in relations}
        with self._errors("fix the cause, restore the file, or start over with another checkpoint"):
            # Batches come from a thread of Spark's, one at a time.
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS at (token TEXT NOT NULL)")
            self._db.execute("CREATE TABLE IF NOT EXISTS expected (token, relation, events)")
            self._db.execute("CREATE TABLE IF NOT EXISTS driver (epoch INTEGER NOT NULL)")
            for r in self.relations.values():
                self._declare(self._table(r.name), r)
        with self._writing("fix the cause and start again; the file is unchanged") as db:
            db.execute("DELETE FROM driver")
            db.execute("INSERT INTO driver VALUES (?)", (epoch,))

    @property
    def token(self) -> str | None:
        """The token of the last committed events; None without any."""
        row = self._db.execute("SELECT token FROM at").fetchone()
        return None if row is None else str(row[0])

    @contextmanager
    def _errors(self, instead: str) -> Iterator[None]:
        """While the file is used: report errors of SQLite as `FreshviewError`."""
        try:
            yield
        except sqlite3.Error as e:
            raise FreshviewError(
                f"the rows by key in '{self.path}' cannot be read or written: {e}", instead=instead
            ) from e

    @contextmanager
    def _writing(self, instead: str = UNCHANGED) -> Iterator[sqlite3.Connection]:
        """A transaction that no other driver writes in; refused if a newer one has the file."""
        with self._transaction(instead, "BEGIN IMMEDIATE") as db:
            newest = db.execute("SELECT MAX(epoch) FROM driver").fetchone()[0]
            if newest is not None and newest > self.epoch:
                raise DriverFenced(
                    "another driver has taken this pipeline over",
                    instead="stop this one, or restart it",
                )
            yield db

    @contextmanager
    def _transaction(
        self, instead: str = UNCHANGED, begin: str = "BEGIN"
    ) -> Iterator[sqlite3.Connection]:
        """A transaction of SQLite, rolled back after an error."""
        db = self._db
        with self._errors(instead):
            db.execute(begin)
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def find(self, relation: Relation, keys: pa.Table) -> pa.Table:
        """The rows of these keys; nothing for a key without a row."""
        types = {c.name: c.type for c in relation.columns}
        names = key_of(relation)
        stored = [_to_sqlite(keys.column(n), types[n]) for n in names]
        table = self._table(relation.name)
        on = " AND ".join(f"t.{_q(n)} = w.{_q(n)}" for n in names)
        columns = ", ".join(f"t.{_q(c.name)}" for c in relation.columns)
        marks = ", ".join("?" * len(names))
        with self._transaction() as db:
            db.execute("DROP TABLE IF EXISTS temp.wanted")
            db.execute(f"CREATE TEMP TABLE wanted ({', '.join(map(_q, names))})")
            db.executemany(
                f"INSERT INTO temp.wanted VALUES ({marks})",
                zip(*(c.to_pylist() for c in stored), strict=True),
            )
            cursor = db.execute(f"SELECT {columns} FROM temp.wanted w JOIN {table} t ON {on}")
            rows = cursor.fetchall()
        return _from_sqlite(relation, rows)

    def expect(self, events: Mapping[str, pa.Table]) -> str:
        """Store the last events of keys until their batch is in the views; their token."""
        token = uuid.uuid4().hex
        with self._writing() as db:
            kept = [(token, name, _bytes(table)) for name, table in events.items()]
            db.executemany("INSERT INTO expected VALUES (?, ?, ?)", kept)
        return token

    def resume(self, token: str | None) -> None:
        """Commit the expected events with the token of the views, and discard all others.

        Refuse a file without the last events of the views.
        """
        with self._writing(LATER) as db:
            if token is not None and token != self.token:
                query = "SELECT relation, events FROM expected WHERE token = ?"
                expected = db.execute(query, (token,)).fetchall()
                if expected:
                    self._take_over(token, {name: _unpacked(data) for name, data in expected})
            db.execute("DELETE FROM expected")
            if self.relations and self.token != token:
                raise FreshviewError(
                    f"the rows by key in '{self.path}' do not match the views: the file was "
                    "lost, or is outdated",
                    instead="restore it, or start over with another checkpoint",
                )

    def commit(self, token: str, events: Mapping[str, pa.Table]) -> None:
        """Apply the last events of keys: their batch is in the views."""
        with self._writing(LATER):
            self._take_over(token, events)

    def _take_over(self, token: str, events: Mapping[str, pa.Table]) -> None:
        for name, table in events.items():
            self._write(self.relations[name], table)
        self._db.execute("DELETE FROM expected")
        self._db.execute("DELETE FROM at")
        self._db.execute("INSERT INTO at VALUES (?)", (token,))

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


def _tuples(
    table: pa.Table, names: list[str], types: Mapping[str, Type]
) -> Iterable[tuple[Value, ...]]:
    return zip(*(_to_sqlite(table.column(n), types[n]).to_pylist() for n in names), strict=True)


_SQLITE_TYPES = {
    "decimal": pa.string(),
    "date": pa.int32(),
    "timestamp": pa.int64(),
    "bool": pa.int64(),
}


def _from_sqlite(relation: Relation, rows: list[tuple[Value, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in relation.columns)
    arrays = []
    for c, values in zip(relation.columns, columns, strict=True):
        target = arrow_type(c.type)
        arrays.append(pa.array(values, _SQLITE_TYPES.get(c.type.kind, target)).cast(target))
    return pa.Table.from_arrays(arrays, schema=arrow_schema(relation.columns))
