"""Streams of events in memory, as Arrow batches: nothing of their making is measured."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from freshview.calculus.schema import Relation
from freshview.calculus.types import Type

BUILD = Path(__file__).resolve().parent.parent / "build" / "bench"
"""Where data, results and environments of peers are kept; git ignores it."""

_KINDS = {
    "int": pa.int64(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "bool": pa.bool_(),
    "string": pa.string(),
}


@dataclass(frozen=True, slots=True)
class Window:
    """Successive events of one relation: rows, each with +1 (inserted) or -1 (deleted)."""

    relation: str
    rows: pa.RecordBatch
    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.counts)


class Exported:
    """A batch as the structs of Arrow's C interface, made beforehand; kernels only look at them."""

    def __init__(self, batch: pa.RecordBatch, schema: object) -> None:
        self._schema = schema
        self._array = batch.__arrow_c_array__()[1]

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._schema, self._array


@dataclass(frozen=True, slots=True)
class Stream:
    """Events of several relations in one order.

    `rows[r]` and `counts[r]` are the events of relation r, and `at[r]` their places among all.
    """

    rows: Mapping[str, pa.RecordBatch]
    counts: Mapping[str, np.ndarray]
    at: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return sum(map(len, self.at.values()))

    def windows(self, size: int, start: int = 0, stop: int | None = None) -> Iterator[list[Window]]:
        """Runs of `size` events, from place `start` to `stop`, each split by relation."""
        stop = len(self) if stop is None else min(stop, len(self))
        edges = np.append(np.arange(start, stop, size), stop)
        cuts = {name: np.searchsorted(at, edges) for name, at in self.at.items()}
        for n in range(len(edges) - 1):
            yield [
                Window(name, self.rows[name].slice(a, b - a), self.counts[name][a:b])
                for name, cut in cuts.items()
                if (a := int(cut[n])) < (b := int(cut[n + 1]))
            ]


def interleave(tables: Mapping[str, pa.Table], deletes: float = 0.1, seed: int = 1) -> Stream:
    """Insert all the rows, every table at its own steady pace; delete a share of them later.

    A deletion comes at a random place between the row's insertion and the end.
    """
    rng = np.random.default_rng(seed)
    drawn = {}
    for name, table in tables.items():
        n = len(table)
        gone = np.sort(rng.choice(n, int(n * deletes), replace=False))
        born = (np.arange(n) + 0.5) / n
        died = born[gone] + rng.random(len(gone)) * (1 - born[gone])
        row = np.concatenate([np.arange(n), gone])
        count = np.concatenate([np.ones(n, np.int64), np.full(len(gone), -1, np.int64)])
        when = np.concatenate([born, died])
        order = np.argsort(when, kind="stable")
        drawn[name] = row[order], count[order], when[order]
    every = np.concatenate([when for _, _, when in drawn.values()])
    places = np.empty(len(every), np.int64)
    places[np.argsort(every, kind="stable")] = np.arange(len(every))
    ends = np.cumsum([len(row) for row, _, _ in drawn.values()])
    at = dict(zip(drawn, np.split(places, ends[:-1]), strict=True))
    rows = {name: one_batch(tables[name].take(row)) for name, (row, _, _) in drawn.items()}
    return Stream(rows, {name: count for name, (_, count, _) in drawn.items()}, at)


def in_turn(tables: Mapping[str, pa.Table], size: int) -> list[list[Window]]:
    """Insert all the rows: `size` of one table, then of the next, and round again."""
    whole = {name: one_batch(table) for name, table in tables.items()}
    return [
        [Window(name, part, np.ones(len(part), np.int64))]
        for first in range(0, max(map(len, whole.values())), size)
        for name, rows in whole.items()
        if len(part := rows.slice(first, size))
    ]


def only(stream: Stream, names: Iterable[str]) -> Stream:
    """The events of some relations, in the same order."""
    kept = sorted(names)
    every = np.sort(np.concatenate([stream.at[n] for n in kept]))
    return Stream(
        {n: stream.rows[n] for n in kept},
        {n: stream.counts[n] for n in kept},
        {n: np.searchsorted(every, stream.at[n]) for n in kept},
    )


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """A table in one piece."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], table.schema)


def arrow_type(t: Type) -> pa.DataType:
    """The type of a column as Arrow has it."""
    return pa.decimal64(15, t.scale) if t.kind == "decimal" else _KINDS[t.kind]


def arrow_schema(relation: Relation) -> pa.Schema:
    """The columns of a relation, in order."""
    return pa.schema([(c.name, arrow_type(c.type)) for c in relation.columns])


def tpch(scale: float, relations: Sequence[Relation]) -> dict[str, pa.Table]:
    """TPC-H's own rows at a scale factor, with the columns as the relations name and type them."""
    folder = BUILD / f"tpch-{scale:g}"
    names = [r.name.lower() for r in relations]
    missing = [n for n in names if not (folder / f"{n}.parquet").exists()]
    if missing:
        _generate(scale, folder, missing)
    tables = {}
    for r in relations:
        table = pq.read_table(folder / f"{r.name.lower()}.parquet")
        tables[r.name] = table.rename_columns([c.name for c in r.columns]).cast(arrow_schema(r))
    return tables


def _generate(scale: float, folder: Path, names: Sequence[str]) -> None:
    beside_python = Path(sys.executable).parent / "tpchgen-cli"
    tool = str(beside_python) if beside_python.exists() else shutil.which("tpchgen-cli")
    if tool is None:
        raise FileNotFoundError("tpchgen-cli is not installed: pip install tpchgen-cli")
    folder.mkdir(parents=True, exist_ok=True)
    command = [tool, "parquet", "-q", "-s", str(scale), "-o", str(folder)]
    subprocess.run([*command, "-T", ",".join(names)], check=True)


def order_book(live: int, steps: int, seed: int = 1) -> Stream:
    """Two sides of a book: `live` orders on each, then `steps` times one comes and one goes.

    Prices have 64 ticks a unit, so that most live orders have a price of their own, and volumes
    are log-uniform, so that some lie above any small share of the total.
    """
    rng = np.random.default_rng(seed)
    n = live + steps
    rows, counts, at = {}, {}, {}
    for side, name in enumerate(("Bids", "Asks")):
        mid = 2000 + np.cumsum(rng.normal(0, 0.2, n)).clip(-800, 800)
        gap = np.where(rng.random(n) < 0.15, 1000, 0) + rng.gamma(2.0, 100.0, n)
        price = np.round((mid + (2 * side - 1) * gap).clip(1, 4000) * 64) / 64
        table = pa.table(
            {
                "t": np.arange(n, dtype=np.float64),
                "id": np.arange(n, dtype=np.int64) * 2 + side,
                "broker_id": (10 * rng.random(n) ** 1.5).astype(np.int64),
                "volume": np.floor(2 ** (20 * rng.random(n))),
                "price": price,
            }
        )
        row = np.concatenate([np.arange(live), _replaced(live, steps, rng)])
        count = np.concatenate([np.ones(live, np.int64), np.tile([1, -1], steps)])
        rows[name] = one_batch(table.take(row))
        counts[name] = count.astype(np.int64)
        at[name] = 2 * np.arange(len(row)) + side
    return Stream(rows, counts, at)


def _replaced(live: int, steps: int, rng: np.random.Generator) -> np.ndarray:
    """The next new row and a random live one, in turn."""
    slots = list(range(live))
    chosen = rng.integers(0, live, steps).tolist()
    events = []
    for new, slot in enumerate(chosen, start=live):
        events += [new, slots[slot]]
        slots[slot] = new
    return np.array(events, dtype=np.int64)


def join_sum(
    orders: int = 100_000, lines: int = 1_000_000, groups: int = 1000, seed: int = 1
) -> Stream:
    """`O(oid, g, w)` and `L(oid, price)`; a tenth of L and a hundredth of O go again."""
    rng = np.random.default_rng(seed)
    o = pa.table(
        {
            "oid": np.arange(orders),
            "g": rng.integers(0, groups, orders),
            "w": rng.integers(1, 10, orders),
        }
    )
    line = pa.table({"oid": rng.integers(0, orders, lines), "price": rng.integers(1, 1000, lines)})
    kept = interleave({"O": o}, 0.01, seed)
    more = interleave({"L": line}, 0.1, seed + 1)
    return merge(kept, more)


def merge(a: Stream, b: Stream) -> Stream:
    """Two streams over other relations at proportional pace."""
    at: dict[str, np.ndarray] = {}
    share = [(s, name, (s.at[name] + 0.5) / len(s)) for s in (a, b) for name in s.at]
    every = np.concatenate([when for _, _, when in share])
    places = np.empty(len(every), np.int64)
    places[np.argsort(every, kind="stable")] = np.arange(len(every))
    ends = np.cumsum([len(when) for _, _, when in share])
    for (_, name, _), place in zip(share, np.split(places, ends[:-1]), strict=True):
        at[name] = place
    return Stream({**a.rows, **b.rows}, {**a.counts, **b.counts}, at)
