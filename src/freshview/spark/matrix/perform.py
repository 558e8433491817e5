"""One step of a matrix program on a node: receive blocks, compute, send blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

import numpy as np

from freshview.distributed.matrix.row_ranges import RowRanges, span
from freshview.distributed.matrix.terms import (
    COLS,
    ROWS,
    TEMPORARY,
    VALUES,
    AtDriver,
    AtWorkers,
    Begin,
    Evaluate,
    Exchange,
    Fill,
    Follow,
    Gather,
    Grow,
    Join,
    Keep,
    Multiply,
    Operand,
    Plus,
    Replace,
    Scatter,
    Stage,
    Total,
    Turn,
)
from freshview.durable.step import SentBlocks
from freshview.linear.compile.trigger import names
from freshview.linear.execute.evaluate import evaluate
from freshview.linear.kernels.semiring import Array, Semiring
from freshview.linear.language.terms import Expr
from freshview.spark.matrix.arrays import pack, unpack
from freshview.spark.matrix.node import MatrixNode


@dataclass(frozen=True)
class PartExecutor:
    """Executes the turns or stages of one part on its node."""

    node: MatrixNode
    ring: Semiring
    part: int
    workers: int
    sizes: Mapping[str, float]
    shapes: Mapping[str, tuple[int, int]]
    """The whole shapes of spread matrices."""

    # ---------------------------------------------------------------- the driver

    def turn(self, turn: Turn, inputs: Sequence[bytes]) -> SentBlocks:
        """Run a turn of the driver: receive gathered blocks, run the statements, scatter."""
        received = [unpack(block) for block in inputs]
        for g in turn.receives:
            pieces = [block[g.name] for block in received]
            whole = reduce(self.ring.plus, pieces) if _is_sum(g) else np.vstack(pieces)
            self.node.put("local", g.name, whole)
        sent: dict[str, Array] = {}
        for s in turn.blocks:
            if isinstance(s, Scatter):
                sent[f"local {s.name}"] = self.node.get("local", s.name)
            else:
                self._run_on_driver(s)
        block = pack(sent)
        return SentBlocks(
            tuple(block for _ in range(self.workers))
        )  # one object: it is pickled once

    def _run_on_driver(self, s: AtDriver) -> None:
        match s:
            case Begin():
                pass
            case Evaluate(name, term, limit):
                value = self._value(term, limit)
                self.node.put("local", name, value.copy() if names(term) else value)
            case Follow(view, left, None):
                into = self.node.get("local", view)
                self.ring.plus(into, self._value(left), out=into)
            case Follow(view, left, right):
                assert right is not None
                into = self.node.get("local", view)
                self.ring.accumulate(into, self._value(left), self._value(right))
            case Replace(view, _):
                into = self.node.get("local", view)
                self._places().write(into, self.node.get("local", VALUES), slice(0, len(into)))
            case _:
                assert_never(s)

    def _value(self, term: Expr, limit: float = math.inf) -> Array:
        return evaluate(term, _DriverMatrices(self.node), self.ring, self.sizes, limit)

    # ---------------------------------------------------------------- workers

    def stage(self, stage: Stage, inputs: Sequence[bytes]) -> SentBlocks:
        """Run a stage of a worker: receive blocks, run the statements, send and gather."""
        received = [unpack(block) for block in inputs]
        for r in stage.receives:
            if isinstance(r, Exchange):
                self._receive(r, received)
        for block in received:
            for key, values in block.items():
                if key.startswith("local "):
                    self.node.put("local", key.removeprefix("local "), values)
        sent: list[dict[str, Array]] = [{} for _ in range(self.workers)]
        for s in stage.blocks:
            if isinstance(s, Exchange):
                for target in range(self.workers):
                    if target != self.part:
                        sent[target] |= dict(self._pieces(s, target))
            else:
                self._run_on_worker(s)
        gathered = {g.name: self._piece(g.source) for g in stage.gathers}
        return SentBlocks(_packed(sent), pack(gathered))

    def _run_on_worker(self, s: AtWorkers) -> None:
        match s:
            case Begin():
                pass
            case Multiply(name, left, right, into):
                product = self.ring.product(self._piece(left), self._piece(right))
                self.node.put(into, name, product)
            case Total(name, items):
                self.node.put("rows", name, self._total(items))
            case Join(name, parts):
                self.node.put("rows", name, np.hstack([self._piece(p) for p in parts]))
            case Grow(view, left, right):
                self._grow(view, self.node.get("local", left), self.node.get("local", right))
            case Plus(view, by, columns):
                rows = self.node.get("rows", view)
                self.ring.plus(rows, self._piece(by), out=rows)
                if columns is not None:
                    copy = self.node.get("columns", view)
                    self.ring.plus(copy, self._piece(columns), out=copy)
            case Keep(view, by):
                self._keep(view, by)
            case Replace(view, _):
                self._replace(view)
            case _:
                assert_never(s)

    def _piece(self, o: Operand) -> Array:
        if o.form == "slice":
            whole = self.node.get("local", o.name)
            piece = whole[span(len(whole), self.workers, self.part)]
        else:
            piece = self.node.get(o.form, o.name)
        return piece.T if o.transposed else piece

    def _total(self, items: Sequence[tuple[float, Operand | Fill]]) -> Array:
        total: Array | None = None
        for by, item in items:
            term = self._filled(item) if isinstance(item, Fill) else self._piece(item)
            term = term if by == 1 else by * term
            if total is None:
                total = np.array(term, order="C", copy=True)
            else:
                self.ring.plus(total, term, out=total)
        assert total is not None
        return total

    def _filled(self, f: Fill) -> Array:
        share = span(f.rows, self.workers, self.part)
        value = self.ring.one if f.kind == "ones" else self.ring.zero
        rows = np.full((share.stop - share.start, f.cols), value, dtype=self.ring.dtype)
        if f.kind == "eye":
            i = np.arange(len(rows))
            rows[i, i + share.start] = self.ring.one
        return rows

    def _grow(self, view: str, left: Array, right: Array) -> None:
        share = span(len(left), self.workers, self.part)
        self.ring.accumulate(self.node.get("rows", view), left[share], right)
        if ("columns", view) in self.node.kept:
            share = span(len(right), self.workers, self.part)
            self.ring.accumulate(self.node.get("columns", view), left, right[share])

    def _keep(self, view: str, by: Operand) -> None:
        if by.form == "rows" and not by.transposed and by.name.startswith(TEMPORARY):
            self.node.rename("rows", by.name, view)
        else:
            self.node.put("rows", view, self._piece(by))

    def _replace(self, view: str) -> None:
        places, values = self._places(), self.node.get("local", VALUES)
        rows = self.node.get("rows", view)
        places.write(rows, values, span(self.shapes[view][0], self.workers, self.part))
        if ("columns", view) in self.node.kept:
            share = span(self.shapes[view][1], self.workers, self.part)
            transposed = values.T if values.ndim == 2 else values
            places.transposed.write(self.node.get("columns", view).T, transposed, share)

    def _places(self) -> RowRanges:
        return RowRanges(self.node.get("local", ROWS), self.node.get("local", COLS))

    # ---------------------------------------------------------------- exchanges

    def _pieces(self, e: Exchange, target: int) -> Iterator[tuple[str, Array]]:
        """The blocks of this worker for another one, with their positions."""
        piece = self._piece(e.source)
        match e.how:
            case "whole":
                yield f"{e.how} {e.name} 0", piece
            case "reduce":
                yield f"{e.how} {e.name} 0", piece[span(len(piece), self.workers, target)]
            case "columns":
                yield f"{e.how} {e.name} 0", piece[:, span(piece.shape[1], self.workers, target)]
            case "place":
                rows = self.shapes[e.source.name][e.source.transposed]
                first = e.at + span(rows, self.workers, self.part).start
                share = span(e.rows, self.workers, target)
                low, high = max(first, share.start), min(first + len(piece), share.stop)
                if low < high:
                    yield f"{e.how} {e.name} {low}", piece[low - first : high - first]
            case _:
                assert_never(e.how)

    def _receive(self, e: Exchange, received: Sequence[Mapping[str, Array]]) -> None:
        pieces: list[tuple[int, Array]] = []
        for sender in range(self.workers):
            blocks = received[sender] if sender != self.part else dict(self._pieces(e, self.part))
            for key, values in blocks.items():
                what, _, at = key.rpartition(" ")
                if what == f"{e.how} {e.name}":
                    pieces.append((int(at), values))
        match e.how:
            case "whole" | "columns":
                self.node.put(e.how, e.name, np.vstack([p for _, p in pieces]))
            case "reduce":
                self.node.put("rows", e.name, reduce(self.ring.plus, [p for _, p in pieces]))
            case "place":
                self._put_places(e, pieces)
            case _:
                assert_never(e.how)

    def _put_places(self, e: Exchange, pieces: Sequence[tuple[int, Array]]) -> None:
        share = span(e.rows, self.workers, self.part)
        if not self.node.has("rows", e.name):
            shape = (share.stop - share.start, self.shapes[e.name][1])
            self.node.create("rows", e.name, shape, np.dtype(self.ring.dtype))
        into = self.node.get("rows", e.name)
        for at, values in pieces:
            into[at - share.start : at - share.start + len(values)] = values


class _DriverMatrices(dict[str, Array]):
    """The matrices of the driver, by name."""

    def __init__(self, node: MatrixNode) -> None:
        super().__init__()
        self._node = node

    def __missing__(self, name: str) -> Array:
        return self._node.get("local", name)


def _is_sum(g: Gather) -> bool:
    return g.source.form == "partial"


def _packed(sent: Sequence[Mapping[str, Array]]) -> tuple[bytes, ...]:
    """A block for each worker; equal ones are one object, pickled once."""
    packed: dict[tuple[int, ...], bytes] = {}
    blocks = []
    for block in sent:
        key = tuple(id(a) for a in block.values())
        if key not in packed:
            packed[key] = pack(block)
        blocks.append(packed[key])
    return tuple(blocks)
