"""The packer of batches for the log: validated, narrowed, and in a block for every part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from freshview.calculus.schema import Relation
from freshview.distributed.batches.predicate_pushdown import pushed_predicates
from freshview.distributed.terms import Random
from freshview.durable.commit_log import PackedBatch
from freshview.durable.storage.blocks import Pieces, pack_large
from freshview.errors import ProgramProblem, UnknownName
from freshview.runtime.ingest.columns import COUNT
from freshview.spark.batches.narrow_types import narrow_types
from freshview.spark.batches.split_batch import split_batch
from freshview.spark.batches.validate import Batch, validated
from freshview.spark.nodes.node import change_routine
from freshview.spark.nodes.view_work import NO_ROUTINE, ViewWork


class BatchPacker:
    """Validates and packs the batches of one pipeline."""

    def __init__(self, work: ViewWork, relations: Iterable[Relation]) -> None:
        self.work = work
        self._relations = {r.name: r for r in relations}
        """The declared relations; the workers have fewer columns."""
        self._narrow = {r.name: r for r in work.distributed.program.relations}
        self._read_by_views = {n for r in work.distributed.routines for n in r.relations}
        self._tests = pushed_predicates(work.distributed)
        """The pushed predicates, by relation."""
        self._guards = {g.relation.name: g for g in work.distributed.guards}

    def relation(self, name: str) -> Relation:
        """A relation that accepts batches."""
        relation = self._relations.get(name)
        if relation is None:
            raise UnknownName(f"there is no relation '{name}'", instead="declare it first")
        if relation.static:
            raise ProgramProblem(f"'{name}' is a static table", instead="give it to start()")
        return relation

    def pack(self, changes: Mapping[str, Batch]) -> PackedBatch:
        """Pack a batch for the log; `BadRow` if its rows do not fit."""
        rows, whole = {}, {}
        for name, batch in changes.items():
            relation = self.relation(name)
            if name in self._read_by_views and name in self._guards:
                source = self._guards[name].source
                every = validated(relation, batch)
                rows[name] = every.select([*(c.name for c in self._narrow[name].columns), COUNT])
                columns = [c.name for c in self._narrow[source].columns]
                whole[source] = every.rename_columns([*columns, COUNT])
            elif name in self._read_by_views:
                rows[name] = validated(relation, batch, self._narrow[name])
        count = sum(b.num_rows for b in rows.values())
        return PackedBatch(self.routine(rows), self._blocks({**rows, **whole}), count)

    def routine(self, relations: Iterable[str]) -> str:
        """The routine for a batch of these relations."""
        distributed = self.work.distributed
        names = [n for n in relations if n in self._read_by_views]
        return (
            change_routine(distributed.routines.index(distributed.routine(*names)))
            if names
            else NO_ROUTINE
        )

    def _blocks(self, rows: Mapping[str, pa.RecordBatch]) -> list[Pieces]:
        """The rows of every worker and of the driver."""
        workers = self.work.workers
        at = self.work.distributed.placement.batches
        parts: list[dict[str, list[pa.RecordBatch]]] = [{} for _ in range(workers + 1)]
        for name, batch in rows.items():
            there, tests = at.get(name, Random()), self._tests.get(name, ())
            pieces = split_batch(self._narrow[name], batch, there, workers, tests)
            for part, piece in zip(parts, pieces, strict=True):
                part[name] = [narrow_types(piece)]
        return [pack_large(p) for p in parts]
