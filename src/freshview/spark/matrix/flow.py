"""The matrices of a program on Spark, version after version."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import reduce
from pathlib import Path

import numpy as np

from freshview.distributed.matrix.row_ranges import RowRanges, span
from freshview.distributed.matrix.terms import COLS, ROWS
from freshview.durable.batch_log import NO_VERSION, Note
from freshview.durable.checkpoint import (
    Description,
    check_new,
    checkpoint_errors,
    described,
    new_checkpoint,
    place_of,
)
from freshview.durable.commit import Commit
from freshview.durable.commit_log import PackedBatch
from freshview.durable.coordinator import Coordinator
from freshview.durable.settings import FlowSettings
from freshview.durable.step import StepId
from freshview.durable.storage.folders import folder_at
from freshview.durable.versions import Versions
from freshview.linear.kernels.semiring import Array, Index, semiring
from freshview.spark.matrix.arrays import pack, unpack
from freshview.spark.matrix.work import BY, READ, READY, MatrixPlan, MatrixWork, request
from freshview.spark.runner import runner_of


class MatrixCoordinator(Coordinator):
    """Runs versions of a matrix program, and reads its matrices."""

    def ask(self, asked: bytes, now: Commit) -> list[bytes]:
        """The answers of the workers to a request."""
        return self._with_repairs(lambda: self._ask(asked, now))

    def ask_driver(self, asked: bytes, now: Commit) -> bytes:
        """The answer of the driver to a request."""
        at = StepId(self.epoch, NO_VERSION, now.driver_after, READ, 0)
        return self._with_repairs(lambda: self.driver.read(uuid.uuid4().hex, at, [asked]).gathered)

    def _ask(self, asked: bytes, now: Commit) -> list[bytes]:
        at = StepId(self.epoch, NO_VERSION, now.after, READ, 0)
        scattered = (asked,) * self.work.workers
        stage = self.work.schedules[READ].stages[0]
        order = self._order("read", at, stage, scattered, uuid.uuid4().hex)
        return [r.gathered for r in self._job([order])]

    def _scattered_so_far(
        self, before: tuple[bytes, ...], now: tuple[bytes, ...]
    ) -> tuple[bytes, ...]:
        """Workers keep scattered matrices during a version."""
        return now


class MatrixFlow(Versions):
    """The matrices of a plan, on the workers of a Spark session."""

    coordinator_type = MatrixCoordinator
    _coordinator: MatrixCoordinator

    def __init__(self, work: MatrixWork, spark: object, inputs: Mapping[str, Array]) -> None:
        """Use `start` or `restart`."""
        super().__init__(work, runner_of(spark, work.workers))
        self.plan = work.plan
        blocks = [[pack(b)] for b in self._shares(work, inputs)]
        self._open_at(READY, blocks)

    @classmethod
    def start(
        cls,
        plan: MatrixPlan,
        spark: object,
        *,
        workers: int,
        checkpoint: str | Path,
        inputs: Mapping[str, Array],
        settings: FlowSettings,
        note: Note,
    ) -> MatrixFlow:
        """Start in an empty folder; `note` is stored with it, for restarts."""
        place = place_of(checkpoint)
        with checkpoint_errors(place):
            check_new(folder_at(place), place)
            work = MatrixWork.of(uuid.uuid4().hex, place, workers, plan, settings)
            description = {"name": work.name, "workers": workers, **note}
            with new_checkpoint(work.folder, description):
                return cls(work, spark, inputs)

    @classmethod
    def restart(
        cls, plan: MatrixPlan, spark: object, *, checkpoint: str | Path, settings: FlowSettings
    ) -> MatrixFlow:
        """Continue from a checkpoint, however the driver before ended."""
        place = place_of(checkpoint)
        with checkpoint_errors(place):
            description = read_description(place)
            work = MatrixWork.of(description["name"], place, description["workers"], plan, settings)
            return cls(work, spark, {})

    def change(self, routine: str, matrices: Mapping[str, Array], rank: int) -> int:
        """Run a routine with matrices for the driver as the next version; its number."""
        self._finish()
        blocks = [[b""]] * self.work.workers
        blocks.append([pack({f"local {n}": a for n, a in matrices.items()})])
        batch = self._commit_log.append_rows(PackedBatch(routine, blocks, rank), self.version + 1)
        self._run_batch(batch, {}, 0.0)
        return self.version

    # ---------------------------------------------------------------- reading

    def matrix(self, name: str) -> Array:
        """All of a matrix."""
        if name not in self.plan.spread:
            self._finish()
            asked = request("all", name)
            block = self._safely(
                lambda: self._coordinator.ask_driver(asked, self._commit_log.commit)
            )
            return np.array(unpack(block)[name])
        return np.vstack(self._ask_workers(name, request("all", name)))

    def cells(self, name: str, index: Index) -> Array:
        """Some rows, columns or cells of a matrix, by an index of NumPy."""
        if name not in self.plan.spread:
            values: Array = self.matrix(name)[index]
            return values
        places = RowRanges.of(index)
        pieces = self._ask_workers(
            name, request("cells", name, **{ROWS: places.rows, COLS: places.cols})
        )
        if pieces[0].ndim == 2:
            return np.vstack(pieces)  # rows are in order, and so are workers
        out = np.empty(len(places.rows), dtype=pieces[0].dtype)
        height = self.plan.spread[name][0]
        for part, values in enumerate(pieces):
            out[places.here(span(height, self.work.workers, part))] = values
        return out

    def times(self, name: str, by: Array, *, transposed: bool = False) -> Array:
        """A matrix, or its transpose, times a narrow one."""
        if name not in self.plan.spread:
            whole = self.matrix(name)
            product: Array = (whole.T if transposed else whole) @ by
            return product
        asked = request("turned" if transposed else "times", name, **{BY: np.ascontiguousarray(by)})
        pieces = self._ask_workers(name, asked)
        return reduce(semiring(self.plan.ring).plus, pieces) if transposed else np.vstack(pieces)

    def _ask_workers(self, name: str, asked: bytes) -> list[Array]:
        self._finish()
        blocks = self._safely(lambda: self._coordinator.ask(asked, self._commit_log.commit))
        return [unpack(block)[name] for block in blocks]

    @staticmethod
    def _shares(work: MatrixWork, inputs: Mapping[str, Array]) -> list[dict[str, Array]]:
        shares: list[dict[str, Array]] = [{} for _ in range(work.workers + 1)]
        for name, values in inputs.items():
            for mine, more in zip(shares, work.shares(name, values), strict=True):
                mine |= more
        return shares


def read_description(checkpoint: str | Path) -> Description:
    """The description in a checkpoint of a matrix program."""
    return described(place_of(checkpoint), "matrices", "matrix program")
