"""A matrix program as versioned work: its routines, and its nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from freshview.distributed.matrix.row_ranges import RowRanges, span
from freshview.distributed.matrix.terms import (
    COLS,
    ROWS,
    Begin,
    Form,
    MatrixSchedule,
    Scatter,
    Stage,
    Turn,
)
from freshview.durable.step import Clock, SentBlocks
from freshview.durable.work import Role
from freshview.linear.kernels.semiring import Array, semiring
from freshview.linear.language.sizes import ONE
from freshview.spark.matrix.arrays import pack, unpack
from freshview.spark.matrix.node import MatrixNode, piece_of
from freshview.spark.matrix.perform import PartExecutor
from freshview.spark.nodes.node import READY
from freshview.spark.plan_work import PlanWork

READ = "read"
"""The routine of all reads; the request is its input."""

WHAT, BY = "#what", "#by"
"""The keys of a request: a matrix with the operation, and a vector to multiply it with."""


def request(what: str, name: str, **more: Array) -> bytes:
    """`all` of a matrix, some `cells` of it, it `times` a vector, or it `turned` times one."""
    asked = np.frombuffer(f"{what} {name}".encode(), np.uint8)
    return pack({WHAT: asked, **more})


@dataclass(frozen=True)
class MatrixPlan:
    """The plan of a matrix program, known to all the workers."""

    ring: str
    sizes: Mapping[str, float]
    rank: str
    """The name of the rank of an update."""
    lefts: Mapping[str, str]
    """By routine, the factor of its update whose number of columns is the rank."""
    schedules: Mapping[str, MatrixSchedule]
    shapes: Mapping[str, Mapping[str, tuple[int, int]]]
    """By routine, the shapes of its intermediate spread matrices."""
    spread: Mapping[str, tuple[int, int]]
    on_driver: tuple[str, ...]
    copied: frozenset[str]

    def kept(self, role: Role) -> frozenset[tuple[Form, str]]:
        """The permanent pieces of a node."""
        if role == "driver":
            return frozenset(("local", n) for n in self.on_driver)
        rows: frozenset[tuple[Form, str]] = frozenset(("rows", n) for n in self.spread)
        return rows | {("columns", n) for n in self.copied}


@dataclass(frozen=True)
class MatrixWork(PlanWork[MatrixPlan, MatrixSchedule]):
    """A plan on so many workers, with its checkpoint at `place`; the first version loads it."""

    @staticmethod
    def schedules_of(plan: MatrixPlan) -> Mapping[str, MatrixSchedule]:
        """See `PlanWork`: those of the plan, and that of reads."""
        asking = Stage((Scatter(WHAT, ONE),), (Begin(),))
        reading = MatrixSchedule((Turn((), (Begin(),)), Turn()), ((asking,),))
        return {**plan.schedules, READ: reading}

    def kind(self, role: Role) -> str:
        """See `Work`."""
        return "matrix"

    def node(self, role: Role, folder: Path) -> MatrixNode:
        """See `Work`."""
        return MatrixNode(folder, self.plan.kept(role))

    def perform(
        self,
        node: MatrixNode,
        part: int,
        routine: str,
        step: int,
        inputs: Sequence[bytes],
        batch: bytes | memoryview,
        clock: Clock,
    ) -> SentBlocks:
        """See `Work`."""
        if routine == READ:
            return self._answer(node, part, unpack(inputs[-1]))
        steps = self.steps(routine, part)
        if step == steps[0]:
            node.clear()
        for key, values in unpack(batch).items():
            node.put(*piece_of(key), values)
        began = perf_counter()
        executor = self._executor(node, part, routine)
        if part == self.driver:
            sent = executor.turn(self.schedules[routine].turns[step], inputs)
        else:
            sent = executor.stage(self.schedules[routine].stages[step], inputs)
        if step == steps[-1]:
            node.clear()
        clock.native += perf_counter() - began
        return sent

    def _executor(self, node: MatrixNode, part: int, routine: str) -> PartExecutor:
        plan = self.plan
        left = plan.lefts.get(routine)
        sizes = dict(plan.sizes)
        if left is not None and node.has("local", left):
            sizes[plan.rank] = float(node.get("local", left).shape[1])
        shapes = {**plan.spread, **plan.shapes.get(routine, {})}
        return PartExecutor(node, semiring(plan.ring), part, self.workers, sizes, shapes)

    def _answer(self, node: MatrixNode, part: int, asked: Mapping[str, Array]) -> SentBlocks:
        """The answer of a node to a request."""
        what, _, name = asked[WHAT].tobytes().decode().partition(" ")
        if part == self.driver:
            return SentBlocks((), pack({name: node.get("local", name)}))
        rows = node.get("rows", name)
        share = span(self.plan.spread[name][0], self.workers, part)
        if what == "cells":
            values = RowRanges(asked[ROWS], asked[COLS]).read(rows, share)
        elif what == "times":
            values = rows @ asked[BY]
        elif what == "turned":
            values = rows.T @ asked[BY][share]
        else:
            values = rows
        return SentBlocks((), pack({name: values}))

    def shares(self, name: str, values: Array) -> list[dict[str, Array]]:
        """The pieces of a matrix for every part: the workers, then the driver."""
        shares_by_part: list[dict[str, Array]] = [{} for _ in range(self.workers + 1)]
        if name not in self.plan.spread:
            shares_by_part[self.driver][f"local {name}"] = values
            return shares_by_part
        for part in range(self.workers):
            shares_by_part[part][f"rows {name}"] = values[span(values.shape[0], self.workers, part)]
            if name in self.plan.copied:
                columns = values[:, span(values.shape[1], self.workers, part)]
                shares_by_part[part][f"columns {name}"] = columns
        return shares_by_part


__all__ = ["READ", "READY", "MatrixPlan", "MatrixWork", "request"]
