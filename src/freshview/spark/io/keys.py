"""The rows of relations by primary key, in one SQLite file that knows its version.

Events are written here as expected before their batch goes to the views, and taken over when it
is there. The batch carries their token: if the pipeline is stopped between the two, what the views
carry tells whether the events came to pass, and later, whether this file is the one they go with.
"""

from __future__ import annotations

import io
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from freshview.calculus.schema import Relation
from freshview.calculus.types import Type
from freshview.errors import FreshviewError
from freshview.runtime.ingest.columns import arrow_schema, arrow_type
from freshview.spark.io.upsert import GONE, key_of

NOTHING = "nothing is changed; apply it again when that is mended"
LATER = "mend that: what was applied is in the views, and whatever is asked next goes on"


class KeyStore:
    """Rows by key.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> r = Relation("r", (Column("k", INT), Column("v", INT)), key=("k",))
    >>> store = KeyStore(":memory:", [r])
    >>> store.commit("1", {"r": pa.table({"k": [1, 2], "v": [5, 6], GONE: [False, False]})})
    >>> store.find(r, pa.table({"k": [2, 3]})).to_pylist(), store.token
    ([{'k': 2, 'v': 6}], '1')
    """

    def __init__(self, path: Path | str, relations: Iterable[Relation]) -> None:
        self.path = path
        self.relations = {r.name: r for r in relations}
        with self._told("mend that, or bring the file back, or begin in another checkpoint"):
            # Batches come from a thread of Spark's, one at a time.
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS at (token TEXT NOT NULL)")
            self._db.execute("CREATE TABLE IF NOT EXISTS expected (token, relation, events)")
            for r in self.relations.values():
                self._declare(self._table(r.name), r)

    @property
    def token(self) -> str | None:
        """That of the last events that are here; None if there were none."""
        found = self._db.execute("SELECT token FROM at").fetchone()
        return None if found is None else str(found[0])

    @contextmanager
    def _told(self, instead: str) -> Iterator[None]:
        """While the file is used: what goes wrong is told in our words."""
        try:
            yield
        except sqlite3.Error as e:
            raise FreshviewError(
                f"the rows by key in '{self.path}' cannot be read or written: {e}", instead=instead
            ) from e

    @contextmanager
    def _whole(self, instead: str = NOTHING) -> Iterator[sqlite3.Connection]:
        """All of what is done, or nothing of it."""
        db = self._db
        with self._told(instead):
            db.execute("BEGIN")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def find(self, relation: Relation, keys: pa.Table) -> pa.Table:
        """The rows that these keys have; a key without a row has none here either."""
        types = {c.name: c.type for c in relation.columns}
        names = key_of(relation)
        stored = [_stored(keys.column(n), types[n]) for n in names]
        table = self._table(relation.name)
        on = " AND ".join(f"t.{_q(n)} = w.{_q(n)}" for n in names)
        columns = ", ".join(f"t.{_q(c.name)}" for c in relation.columns)
        marks = ", ".join("?" * len(names))
        with self._whole() as db:
            db.execute("DROP TABLE IF EXISTS temp.wanted")
            db.execute(f"CREATE TEMP TABLE wanted ({', '.join(map(_q, names))})")
            db.executemany(
                f"INSERT INTO temp.wanted VALUES ({marks})",
                zip(*(c.to_pylist() for c in stored), strict=True),
            )
            found = db.execute(f"SELECT {columns} FROM temp.wanted w JOIN {table} t ON {on}")
            rows = found.fetchall()
        return _read(relation, rows)

    def expect(self, events: Mapping[str, pa.Table]) -> str:
        """Keep the last events of keys until it is certain that they came to pass; their token."""
        token = uuid.uuid4().hex
        with self._whole() as db:
            db.execute("DELETE FROM expected")
            kept = [(token, name, _bytes(table)) for name, table in events.items()]
            db.executemany("INSERT INTO expected VALUES (?, ?, ?)", kept)
        return token

    def resume(self, token: str | None) -> None:
        """Take over what was expected, if the views have it, which carry a token; else forget it.

        A file that has the rows of other events than the last ones of the views is refused.
        """
        with self._told(LATER):
            found = self._db.execute("SELECT token, relation, events FROM expected").fetchall()
            if found and token is not None and found[0][0] == token != self.token:
                self.commit(token, {name: _unpacked(data) for _, name, data in found})
            elif found:
                self._db.execute("DELETE FROM expected")
            if self.relations and self.token != token:
                raise FreshviewError(
                    f"the rows by key in '{self.path}' are not those that the views have: the file "
                    "was lost, or is an old one",
                    instead="bring it back, or start over with another checkpoint",
                )

    def commit(self, token: str, events: Mapping[str, pa.Table]) -> None:
        """Take over the last events of keys, which came to pass."""
        with self._whole(LATER) as db:
            for name, table in events.items():
                self._write(self.relations[name], table)
            db.execute("DELETE FROM expected")
            db.execute("DELETE FROM at")
            db.execute("INSERT INTO at VALUES (?)", (token,))

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _write(self, relation: Relation, events: pa.Table) -> None:
        table, keys = self._table(relation.name), key_of(relation)
        gone = events.filter(events.column(GONE))
        kept = events.filter(pc.invert(events.column(GONE)))
        types = {c.name: c.type for c in relation.columns}
        where = " AND ".join(f"{_q(n)} = ?" for n in keys)
        self._db.executemany(f"DELETE FROM {table} WHERE {where}", _tuples(gone, keys, types))
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


def _stored(column: pa.ChunkedArray, t: Type) -> pa.ChunkedArray:
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
    return zip(*(_stored(table.column(n), types[n]).to_pylist() for n in names), strict=True)


_KEPT = {"decimal": pa.string(), "date": pa.int32(), "timestamp": pa.int64(), "bool": pa.int64()}


def _read(relation: Relation, rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in relation.columns)
    arrays = []
    for c, values in zip(relation.columns, columns, strict=True):
        target = arrow_type(c.type)
        arrays.append(pa.array(values, _KEPT.get(c.type.kind, target)).cast(target))
    return pa.Table.from_arrays(arrays, schema=arrow_schema(relation.columns))
