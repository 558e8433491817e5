"""The checks of changes of streams: the contract of `connect`, and which streams are exempt.

No multiplicity is negative, and no primary key has two rows. How that is checked depends on what
the pipeline knows of a stream anyway.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Relation
from freshview.errors import BadRow, FreshviewError, UnknownName
from freshview.runtime.ingest.columns import COUNT, rows_of, table_of
from freshview.runtime.ingest.counted_rows import by_number
from freshview.runtime.relations.base import two_rows
from freshview.spark.io.decode import DecodedBatch
from freshview.spark.io.keys import KeyStore
from freshview.spark.io.rows import RejectedRow, names_of
from freshview.spark.io.upsert import RESERVED, key_of
from freshview.spark.nodes.node import PAYLOAD
from freshview.spark.nodes.violations import Violation, refusal_of
from freshview.sql import Catalog

Trusted = bool | tuple[str, ...]
"""The streams whose changes are not checked: all, or these."""


@dataclass(frozen=True)
class Contract:
    """The streams of a pipeline, by how their changes are checked."""

    guarded: tuple[Relation, ...] = ()
    """The workers keep their rows."""
    keyed: frozenset[str] = frozenset()
    """The key store keeps their rows anyway."""
    append_only: frozenset[str] = frozenset()
    """Their source only inserts, and they have no key: nothing to check."""
    trusted: frozenset[str] = frozenset()

    def words(self) -> list[str]:
        """One sentence a stream."""
        sentences = {}
        for r in self.guarded:
            key = f" by {', '.join(key_of(r))}" if r.key else ""
            sentences[r.name] = f"checked, its rows are kept{key} on the workers"
        sentences |= dict.fromkeys(self.keyed, "checked against the rows that are kept by key")
        sentences |= dict.fromkeys(
            self.append_only, "append-only and without a key: nothing to check"
        )
        sentences |= dict.fromkeys(
            self.trusted,
            "trusted: a deletion of what is not there, or a second row of a key, is not noticed",
        )
        return [f"{name}: {how}" for name, how in sorted(sentences.items())]

    def refuse_deletions(self, relation: Relation, change: pa.Table) -> None:
        """Refuse deletions from a stream whose rows are not kept."""
        if relation.name in self.append_only and _has_deletions(change):
            raise BadRow(
                f"'{relation.name}' is read from a source that only adds rows: they are not kept",
                instead="declare its PRIMARY KEY, or push its rows without a FROM clause",
            )


def contract_of(
    catalog: Catalog, streams: Mapping[str, Relation], keyed: Iterable[Relation], trusted: Trusted
) -> Contract:
    """How the changes of each stream are checked."""
    for r in streams.values():
        for c in r.columns:
            if c.name.lower() in RESERVED:
                raise FreshviewError(
                    f"the name of the column '{c.name}' of '{r.name}' is reserved for pipelines",
                    instead="choose another name",
                )
    excused_names = (
        set(catalog.relations) if trusted is True else {t.lower() for t in trusted or ()}
    )
    for name in excused_names:
        if name not in catalog.relations:
            raise UnknownName(f"there is no stream '{name}' to trust", instead="name a stream")
    by_key = frozenset(r.name for r in keyed)
    excused = (
        frozenset(r.name for r in streams.values() if r.name.lower() in excused_names) - by_key
    )
    appended = frozenset(
        r.name
        for r in streams.values()
        if r.name not in by_key | excused and not r.key and _is_appended(catalog, r)
    )
    rest = by_key | excused | appended
    guarded = tuple(r for r in streams.values() if r.name not in rest)
    return Contract(guarded, by_key, appended, excused)


def _is_appended(catalog: Catalog, relation: Relation) -> bool:
    source = catalog.sources.get(relation.name.lower())
    if source is None or source.kind == "delta":
        return False
    return dict(source.options).get("changes", "append") == "append"


def _has_deletions(change: pa.Table) -> bool:
    return bool(pc.any(pc.less(change.column(COUNT), 0), min_count=0).as_py())


def check_keyed(relation: Relation, change: pa.Table, store: KeyStore) -> None:
    """Refuse a change that deletes rows missing in the key store, or gives a key two rows."""
    names, keys = names_of(relation), key_of(relation)
    numbered, by = by_number(change.select(keys))
    asked = numbered.group_by(by, use_threads=False).aggregate([]).rename_columns(keys)
    stored = Counter(rows_of(store.find(relation, asked).select(names)))
    net: Counter[Row] = Counter()
    counts = change.column(COUNT).to_pylist()
    for row, n in zip(rows_of(change.select(names)), counts, strict=True):
        net[row] += n
    missing = {row: n for row, n in net.items() if stored[row] + n < 0}
    at = [names.index(k) for k in keys]
    sizes: Counter[Row] = Counter()
    for row in {*net, *stored}:
        sizes[tuple(row[i] for i in at)] += stored[row] + net[row]
    doubled = {key: n for key, n in sizes.items() if n > 1}
    violations = []
    if missing:
        violations.append(_violation(relation, relation.columns, missing, doubled=False))
    if doubled:
        columns = tuple(relation.columns[i] for i in at)
        violations.append(_violation(relation, columns, doubled, doubled=True))
    if violations:
        raise refusal_of(violations)


def _violation(
    relation: Relation, columns: tuple[Column, ...], rows: Mapping[Row, int], *, doubled: bool
) -> Violation:
    table = table_of(columns, list(rows), relation.name)
    numbered = table.append_column(PAYLOAD, pa.array(rows.values(), pa.int64()))
    [batch] = numbered.combine_chunks().to_batches()
    return Violation(relation.name, batch, doubled)


def without_violations(
    relation: Relation, arrival: DecodedBatch, violations: Iterable[Violation]
) -> DecodedBatch:
    """A batch without the refused rows; of a key that would have two rows, without all of them."""
    if arrival.keyed:
        return arrival
    names = names_of(relation)
    reasons: list[tuple[list[int], dict[Row, str]]] = []
    for w in violations:
        if w.relation == relation.name:
            at = [names.index(n) for n in w.rows.schema.names if n != PAYLOAD]
            rows = [row[:-1] for row in rows_of(pa.Table.from_batches([w.rows]))]
            why = {row: w.reason(i).what for i, row in enumerate(rows)}
            reasons.append((at, why))
    stays, rejected = [], list(arrival.rejected)
    for number, row in enumerate(rows_of(arrival.table.select(names))):
        matching = (why.get(tuple(row[i] for i in at)) for at, why in reasons)
        reason = next((r for r in matching if r), None)
        if reason is None:
            stays.append(number)
        else:
            text = dict(zip(names, row, strict=True))
            text[COUNT] = arrival.table.column(COUNT)[number].as_py()
            rejected.append(RejectedRow(relation.name, reason, json.dumps(text, default=str)))
    return DecodedBatch(arrival.table.take(pa.array(stays, pa.int64())), False, rejected)


def without_duplicate_keys(
    relation: Relation, table: pa.Table
) -> tuple[pa.Table, list[RejectedRow]]:
    """The rows of a static table without those that share a key, and the rejected rows."""
    keys = key_of(relation)
    if not keys or not table.num_rows:
        return table, []
    at = [i for i, name in enumerate(names_of(relation)) if name in keys]
    rows = rows_of(table.select(names_of(relation)))
    count = Counter(tuple(row[i] for i in at) for row in rows)
    stays, rejected = [], []
    for number, row in enumerate(rows):
        key = tuple(row[i] for i in at)
        if count[key] == 1:
            stays.append(number)
        else:
            text = json.dumps(dict(zip(names_of(relation), row, strict=True)), default=str)
            rejected.append(RejectedRow(relation.name, two_rows(relation.name, key).what, text))
    return (table.take(pa.array(stays, pa.int64())) if rejected else table), rejected
