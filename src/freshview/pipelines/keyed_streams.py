"""Streams whose rows are kept by key: which they are, and the changes that their events make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from freshview.calculus.schema import Relation
from freshview.errors import BadRow
from freshview.pipelines.contract import check_keyed
from freshview.spark.io.decode import DecodedBatch
from freshview.spark.io.keys import KeyStore
from freshview.spark.io.upsert import as_events, change_of_events, last_events
from freshview.sql import Catalog


def keyed_streams(
    catalog: Catalog, streams: Mapping[str, Relation], upserts: Iterable[str]
) -> list[Relation]:
    """The streams whose rows are kept by key, to look up the row that an event replaces."""
    upserted = {name.lower() for name in upserts}
    for name in upserted:
        if not catalog.relation(name).key:
            raise BadRow(f"'{name}' has no primary key", instead="declare PRIMARY KEY (...)")
    kept = []
    for r in streams.values():
        options = dict(getattr(catalog.sources.get(r.name.lower()), "options", ()))
        by_key = options.get("changes", "append") != "append"
        if r.name.lower() in upserted or (by_key and options.get("old") != "envelope"):
            kept.append(r)
    return kept


def changes_and_events(
    arrivals: Mapping[str, DecodedBatch], streams: Mapping[str, Relation], keys: KeyStore
) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """The changes of decoded batches, and the events that the key store must keep.

    Rows that contradict the stored rows of their keys are refused.
    """
    changes: dict[str, pa.Table] = {}
    events: dict[str, pa.Table] = {}
    for name, a in arrivals.items():
        relation = streams[name]
        table = a.table
        if a.keyed:
            events[name] = last_events(relation, a.table)
            table = change_of_events(relation, events[name], keys.find(relation, events[name]))
        elif name in keys.relations:
            check_keyed(relation, a.table, keys)
            events[name] = as_events(relation, a.table)
        if table.num_rows:
            changes[name] = table
    return changes, {n: e for n, e in events.items() if e.num_rows}
