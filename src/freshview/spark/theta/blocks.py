"""Batches, parcels and the state of joiners as bytes: Arrow, and JSON for what is small."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from freshview.calculus.schema import Column as Declared
from freshview.durable.storage.blocks import frame, pack, unframe, unpack
from freshview.temporal import Horizon
from freshview.theta.local.columns import Tuples
from freshview.theta.operator.block import from_block, numbers_of, to_block
from freshview.theta.operator.joiner import SIDES
from freshview.theta.operator.partition import BatchOrder, Mail, Parcels, together
from freshview.theta.operator.placement_text import Json, read_placement, show_placement
from freshview.theta.terms import Side

Schemas: TypeAlias = Mapping[Side, Sequence[Declared]]
"""The columns of both sides."""

_PARCEL = ("at", "why", "owner")

SHARE = 512
"""Rows of a batch that are worth the share of a partition: fewer go to fewer partitions."""


def pack_order(order: BatchOrder) -> bytes:
    """An order as bytes."""
    h = order.horizon
    value = {
        "horizon": [h.watermark_r, h.watermark_s, h.count_r, h.count_s],
        "settle": order.settle,
        "ended": order.ended,
        "begin": None if order.begin is None else show_placement(order.begin),
        "at_once": order.at_once,
        "retiring": {side: list(hosts) for side, hosts in order.retiring.items()},
    }
    return json.dumps(value).encode()


def unpack_order(data: bytes) -> BatchOrder:
    """The inverse of `pack_order`.

    >>> order = BatchOrder(Horizon(3, 4.5, 1, 2), float("inf"), retiring={"R": (1, 2)})
    >>> unpack_order(pack_order(order)) == order
    True
    """
    value = json.loads(data)
    value["horizon"] = Horizon(*value["horizon"])
    if value["begin"] is not None:
        value["begin"] = read_placement(value["begin"])
    value["retiring"] = {side: tuple(hosts) for side, hosts in value["retiring"].items()}
    return BatchOrder(**value)


def pack_shares(
    order: BatchOrder, batch: Mapping[Side, Tuples], schemas: Schemas, parts: int, first: int
) -> list[bytes]:
    """An order and the rows of a batch for every partition: equal shares, from the `first` one on.

    Any partition can route any row; where the rows are few, some partitions get none.
    """
    head = pack_order(order)
    shares: list[dict[str, list[pa.RecordBatch]]] = [{} for _ in range(parts)]
    for side, tuples in batch.items():
        block = to_block(tuples, schemas[side])
        used = min(parts, -(-len(tuples) // SHARE))
        ends = [len(tuples) * k // used for k in range(used + 1)] if used else [0]
        for k, (start, end) in enumerate(pairwise(ends)):
            shares[(first + k) % parts][side] = [block.slice(start, end - start)]
    return [frame([head, pack(share)]) for share in shares]


def unpack_share(
    data: bytes | memoryview, schemas: Schemas
) -> tuple[BatchOrder, dict[Side, Tuples]]:
    """What `pack_shares` made for one partition."""
    head, rows = unframe(bytes(data))
    blocks = unpack(rows)
    batch = {side: from_block(blocks[side][0], schemas[side]) for side in SIDES if side in blocks}
    return unpack_order(head), batch


def pack_mail(mail: Mail, schemas: Schemas, parts: int) -> tuple[bytes, ...]:
    """Parcels as a block for every partition; those of a joiner keep their order."""
    by_part: list[dict[str, list[pa.RecordBatch]]] = [{} for _ in range(parts)]
    for side, parcels in mail.items():
        part = parcels.at % parts
        order = np.argsort(part, kind="stable")
        sorted_parcels = parcels.take(order)
        marks = {name: getattr(sorted_parcels, name) for name in _PARCEL}
        block = to_block(sorted_parcels.tuples, schemas[side], marks)
        ends = np.searchsorted(part[order], np.arange(parts + 1)).tolist()
        for k in range(parts):
            by_part[k][side] = [block.slice(ends[k], ends[k + 1] - ends[k])]
    return tuple(pack(blocks) for blocks in by_part)


def unpack_mail(blocks: Sequence[bytes], schemas: Schemas) -> dict[Side, Parcels]:
    """What all the partitions sent to one, in their order."""
    by_side: dict[str, list[Parcels]] = {}
    for data in blocks:
        for name, batches in unpack(data).items():
            side: Side = "R" if name == "R" else "S"
            for block in batches:
                marks = [numbers_of(block, mark) for mark in _PARCEL]
                parcels = Parcels(from_block(block, schemas[side]), *marks)
                by_side.setdefault(side, []).append(parcels)
    return {side: together(by_side[side]) for side in SIDES if side in by_side}


def pack_table(table: pa.Table) -> bytes:
    """A table as an Arrow stream; no bytes for one without rows."""
    if not len(table):
        return b""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def unpack_table(data: bytes) -> pa.Table:
    """The inverse of `pack_table`, for one with rows."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()


def pack_report(status: Json, pairs: pa.Table) -> bytes:
    """What a partition tells the driver at the end of a batch."""
    return frame([json.dumps(status).encode(), pack_table(pairs)])


def unpack_report(data: bytes) -> tuple[Json, bytes]:
    """The status of a partition, and its pairs as a stream."""
    status, pairs = unframe(data)
    return json.loads(status), pairs
