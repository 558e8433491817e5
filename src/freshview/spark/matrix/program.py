"""A maintained matrix program whose large matrices are partitioned over the workers of Spark."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from freshview.distributed.matrix.communication_cost import NOMINAL, moved, seconds
from freshview.distributed.matrix.row_ranges import RowRanges
from freshview.distributed.matrix.spread import SpreadRule
from freshview.distributed.matrix.terms import COLS, ROWS, VALUES
from freshview.distributed.matrix.text import show_steps
from freshview.durable.checkpoint import CheckpointProblem, Description
from freshview.durable.settings import FlowSettings
from freshview.errors import FreshviewError
from freshview.linear.compile.kept_views import kept_views, pruned
from freshview.linear.compile.options import Strategy
from freshview.linear.compile.trigger import Trigger
from freshview.linear.compile.trigger_compiler import candidates, rank_name
from freshview.linear.execute.bind import listed
from freshview.linear.execute.changes import Move
from freshview.linear.execute.evaluate import Singular
from freshview.linear.execute.program import Program
from freshview.linear.kernels.semiring import Array
from freshview.linear.language.expression import Matrix
from freshview.linear.language.show import show_source
from freshview.linear.language.terms import Source
from freshview.linear.language.walk import free
from freshview.linear.strategy.choose import Choice, choose
from freshview.spark.checkpointed import Checkpointed
from freshview.spark.matrix.flow import MatrixFlow, read_description
from freshview.spark.matrix.plan import (
    LEFT,
    RECOMPUTE,
    RIGHT,
    PlanInput,
    following,
    plan_matrices,
    recomputing,
    replacing,
)
from freshview.spark.matrix.remote import RemoteMatrix
from freshview.spark.matrix.work import MatrixPlan
from freshview.spark.session import session

DRIVER_CELLS = 1 << 18
"""The most cells of a matrix that stays on the driver."""

DRIVER_INVERSE = 1 << 24
"""The most cells of a matrix that the driver inverts: 4,096 rows, 128 MB."""

SNAPSHOT_EVERY = 64
"""Versions between snapshots of a worker: redo files are narrow, snapshots are not."""


class SparkProgram(Checkpointed, Program):
    """Results of a matrix program that follow their inputs, on Spark.

    As `linear.Program`, with the same triggers.

    - `spark` is the session to use; by default the active one, or a new one on `master`.
    - `checkpoint` is the folder from which `restart` continues, the same on all machines; without
      one, the state is discarded when the program is closed.
    - `workers` is how many parts a matrix is split into: by default the number of cores.
    - Matrices of more than `driver_cells` cells are spread by rows. `copies` decides whether those
      that a trigger multiplies on both sides are copied by columns as well (`auto`: by cost).
    - `driver_inverse` is the most cells of a spread matrix that the driver inverts.

    An update is logged before it is applied, and applied exactly once, even if processes die.
    """

    _flow: MatrixFlow

    def __init__(
        self,
        what: str | Source | Matrix | Mapping[str, Matrix],
        values: Mapping[str, object] | None = None,
        *,
        spark: Any = None,
        master: str = "local[*]",
        checkpoint: str | Path | None = None,
        workers: int | None = None,
        copies: Literal["auto"] | bool = "auto",
        driver_cells: int = DRIVER_CELLS,
        driver_inverse: int = DRIVER_INVERSE,
        settings: FlowSettings | None = None,
        **options: Any,
    ) -> None:
        if "backend" in options:
            raise FreshviewError(
                "workers of Spark compute with NumPy", instead="leave out `backend`"
            )
        spark = spark or session(master)
        self._scratch = tempfile.mkdtemp(prefix="freshview-") if checkpoint is None else ""
        checkpoint = checkpoint or Path(self._scratch) / "checkpoint"
        self._description = read_description(checkpoint) if options.pop("_restart", False) else None
        self._plan: MatrixPlan | None = None
        self._deltas: dict[str, dict[Strategy, Trigger]] = {}
        self._rule = driver_cells, driver_inverse
        self.copies = copies
        self.workers = _workers(spark, workers, self._description)
        super().__init__(what, values, **options)
        flow_settings = settings or FlowSettings(snapshot_every=SNAPSHOT_EVERY)
        plan = self._spread()
        if self._description is not None:
            if self._description["matrices"] != self._digest():
                raise CheckpointProblem(
                    f"the checkpoint in {checkpoint} belongs to another matrix program",
                    instead="restart with the same program and options, or start in another folder",
                )
            self._flow = MatrixFlow.restart(
                plan, spark, checkpoint=checkpoint, settings=flow_settings
            )
        else:
            self._flow = MatrixFlow.start(
                plan,
                spark,
                workers=self.workers,
                checkpoint=checkpoint,
                inputs=self.values,
                settings=flow_settings,
                note={"matrices": self._digest(), "sizes": self.sizes},
            )
        # From here on only the workers have the spread matrices.
        self.values = {n: RemoteMatrix(self._flow, n, self._size(n)) for n in self._kept}  # type: ignore[misc]

    @classmethod
    def restart(
        cls,
        what: str | Source | Matrix | Mapping[str, Matrix],
        *,
        checkpoint: str | Path,
        **options: Any,
    ) -> Self:
        """Continue from a checkpoint of the same program, however the driver before ended."""
        return cls(what, checkpoint=checkpoint, _restart=True, **options)

    # ---------------------------------------------------------------- compiling

    def _bind(self, matrices: Mapping[str, object]) -> dict[str, Array]:
        if self._description is None:
            return super()._bind(matrices)
        if matrices:
            raise FreshviewError(
                "a restart uses the matrices of its checkpoint", instead="update them"
            )
        self.sizes = {n: float(s) for n, s in self._description["sizes"].items()}
        return {}

    def _count(self) -> None:
        """Nothing is measured: see `_spread`."""

    def _keep(self) -> None:
        self._spread()

    def _spread(self) -> MatrixPlan:
        """The plan: one trigger by deltas for each input, and recomputation.

        Nothing in it is measured: a restart must derive the same plan.
        """
        if self._plan is None:
            triggers: dict[str, Trigger | None] = {}
            for i in self.normal.inputs:
                if i.dynamic:
                    triggers_by_strategy = candidates(self.normal, i.name, self.options)
                    deltas: dict[Strategy, Trigger] = {**triggers_by_strategy}
                    deltas.pop("reevaluate", None)
                    best = choose(deltas, self.sizes, 1) if deltas else None
                    self._deltas[i.name] = (
                        triggers_by_strategy
                        if best is None
                        else _only(triggers_by_strategy, best.strategy)
                    )
                    triggers[i.name] = best.trigger if best else None
            every = [t for t in triggers.values() if t is not None]
            self._kept = kept_views(self.normal, every, frozenset())
            ready = {n: pruned(t, self._kept) if t else None for n, t in triggers.items()}
            rank = rank_name(self.normal)
            rule = SpreadRule({**self.sizes, rank: 1.0}, rank, *self._rule)
            wanted = PlanInput(self.normal, self._kept, ready, rank)
            self._plan = plan_matrices(wanted, rule, self.workers, self.copies)
            for name, triggers_by_strategy in self._deltas.items():
                for t in triggers_by_strategy.values():
                    self._running[id(t)] = ready[name] or t if t is triggers[name] else t
        return self._plan

    def choice(self, name: str, rank: int = 1) -> Choice:
        """The trigger for updates of an input of this rank, and why it was chosen.

        There is one trigger by deltas for all ranks. The alternative is recomputation; the cost
        model compares the operations, the jobs, and the cells moved.
        """
        plan = self._spread()
        triggers = self._deltas[name]
        if len(triggers) == 1:
            (strategy, only), *_ = triggers.items()
            return Choice(only, strategy, "it was asked for")
        sizes = {**self.sizes, plan.rank: float(rank)}
        price = {
            s: seconds(
                self._running[id(t)],
                plan.schedules[self._routine(name, s)],
                sizes,
                self.workers,
                self.rates or NOMINAL,
            )
            for s, t in triggers.items()
        }
        best = min(price, key=lambda s: price[s])
        prices = ", ".join(f"{s} {p:.3g} s" for s, p in price.items())
        why = f"{best} is expected to be fastest for an update of rank {rank}: {prices}"
        return Choice(triggers[best], best, why)

    def _routine(self, name: str, strategy: Strategy) -> str:
        return recomputing(name) if strategy == "reevaluate" else following(name)

    def _size(self, name: str) -> tuple[int, int]:
        m = self.normal.scope[name]
        return int(m.rows.at(self.sizes)), int(m.cols.at(self.sizes))

    def _digest(self) -> str:
        """A hash of the program's text and of the placement of its matrices."""
        plan = self._spread()
        steps = "".join(f"{r}:\n{show_steps(c.steps)}" for r, c in sorted(plan.schedules.items()))
        spread = f"{sorted(plan.spread)} {sorted(plan.copied)} {self.sizes}"
        text = show_source(self.source) + spread + steps
        return hashlib.sha256(text.encode()).hexdigest()

    # ---------------------------------------------------------------- running

    def _commit(self, moves: Sequence[Move]) -> None:
        if len(moves) > 1:
            raise FreshviewError(
                f"{listed(m.name for m in moves)} change at once, which is for one process only",
                instead="update one after the other, or use linear.Program",
            )
        (m,) = moves
        why = self._reason_to_recompute(m)
        if not why:
            try:
                self._run(self._running[id(self.choice(m.name, m.rank).trigger)], m)
                return
            except Singular:
                why = f"an update of {m.name} made an inverse too sensitive"
        if m.lost is None:
            self._flow.change(recomputing(m.name), {LEFT: m.left, RIGHT: m.right}, m.rank)
        else:
            places = RowRanges.of(m.lost.index)
            cells = {ROWS: places.rows, COLS: places.cols, VALUES: m.lost.values}
            self._flow.change(replacing(m.name), cells, 0)
        self._report_reevaluation(why)

    def _measure(self, moves: Sequence[Move]) -> None:
        """The matrices are elsewhere: their drift is measured from time to time only."""

    def _shrunk(self, moves: Sequence[Move]) -> bool:
        return False

    def _run(self, t: Trigger, m: Move) -> None:
        self._flow.change(following(t.input), {t.left: m.left, t.right: m.right}, m.rank)

    def _all_again(self, why: str) -> None:
        self._flow.change(RECOMPUTE, {}, 0)
        self._report_reevaluation(why)

    def __getitem__(self, name: str) -> Array:
        """A copy of an input, a result, or an intermediate matrix, gathered to the driver."""
        if name in self._kept:
            return self.values[name].copy()
        self._known(name)
        return self._compute(name, {n: self.values[n].copy() for n in self._reads(name)})

    def _reads(self, name: str) -> frozenset[str]:
        """The stored matrices from which a matrix is computed."""
        if name in self._kept:
            return frozenset({name})
        names = free(self._definitions[name].term)
        return frozenset().union(*(self._reads(n) for n in names))

    def explain(self, name: str, rank: int = 1) -> str:
        """The strategy for updates of an input, its reason, its steps, and the cells moved."""
        self._input(name)
        plan, chosen = self._spread(), self.choice(name, rank)
        schedule = plan.schedules[self._routine(name, chosen.strategy)]
        copies = {n: 2 if n in plan.copied else 1 for n in plan.spread}
        spread = {n: 8 * r * c * copies[n] for n, (r, c) in plan.spread.items()}
        return (
            f"{name}: {chosen.strategy}, since {chosen.why}\n"
            f"cost: {self.trigger(name, rank).cost()}\n"
            f"moves: {moved(schedule.steps, self.workers)} cells between {self.workers} workers "
            f"and the driver, in {len(schedule.jobs)} jobs of {len(schedule.stages)} stages\n"
            f"spread by rows: {', '.join(spread) or 'none'} ({sum(spread.values()):,} bytes)\n"
            f"by columns too: {', '.join(sorted(plan.copied)) or 'none'}\n"
            f"with the driver: {', '.join(plan.on_driver) or 'none'}\n"
            f"{show_steps(schedule.steps)}"
        )


def _only(triggers: Mapping[Strategy, Trigger], best: Strategy) -> dict[Strategy, Trigger]:
    """The best trigger by deltas, and the one that recomputes."""
    return {s: t for s, t in triggers.items() if s in (best, "reevaluate")}


def _workers(spark: Any, wanted: int | None, before: Description | None) -> int:
    if before is not None:
        if wanted is not None and wanted != before["workers"]:
            raise CheckpointProblem(
                f"the checkpoint has {before['workers']} workers, not {wanted}",
                instead=f"restart with {before['workers']}, or start over in another folder",
            )
        return int(before["workers"])
    count = spark.sparkContext.defaultParallelism if wanted is None else wanted
    if count < 1:
        raise FreshviewError(f"a program cannot have {count} workers", instead="use 1 or more")
    return int(count)
