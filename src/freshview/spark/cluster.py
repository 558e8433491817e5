"""Jobs on Spark: one RDD job for the stages of a list of orders, pinned where Spark permits it."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark import RDD, Broadcast, SparkContext, cloudpickle
from pyspark.serializers import CPickleSerializer

from freshview.durable.task import Parcel, StageOrder, WorkerReport, provide, run_stage
from freshview.durable.work import Work
from freshview.errors import FreshviewWarning
from freshview.spark.freeze_modules import freeze_modules
from freshview.spark.pin import anchor, anchored, assign, executor_names, executors, pinned
from freshview.spark.probe import check_workers
from freshview.spark.submit import StageSubmitter, keyed_by_partition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkRunner:
    """Runs jobs on a Spark session.

    Before each job it checks whether executors were added or lost; workers of lost executors move
    to others, where their maps are rebuilt.
    """

    def __init__(self, spark: SparkSession, workers: int, *, pin: bool = True) -> None:
        check_workers(spark)
        self.sc: SparkContext = spark.sparkContext
        self.workers = workers
        self.pin = pin
        self.repins = 0
        self._known: str | None = None
        self._names: list[str] = []
        self._first: RDD[int] | RDD[bytes] | None = None
        self._anchor: JavaObject = None
        self._submit = StageSubmitter(self.sc, workers)
        self._work: Broadcast[bytes] | None = None

    def provide(self, work: Work) -> None:
        """See `Runner`: the work is broadcast once, functions of the user included."""
        data: bytes = cloudpickle.dumps(work)  # type: ignore[no-untyped-call]
        self._work = self.sc.broadcast(data)

    def run(self, orders: Sequence[StageOrder]) -> list[WorkerReport]:
        """See `Runner`."""
        base = self._base()
        rdd, reads = base._jrdd.rdd(), base._jrdd_deserializer
        for number, order in enumerate(orders):
            if number:
                moved, reads = self._submit.shuffled(rdd), CPickleSerializer()
                if self._anchor is not None:
                    moved, reads = anchored(self._anchor, moved, reads)
                rdd = moved.rdd()
            zipped = bool(number) and self._anchor is not None
            assert self._work is not None, "there is no work yet"
            work = partial(_stage, order, self._work, number == 0, zipped)
            last = number + 1 == len(orders)
            rdd = self._submit.stage(rdd, reads, work, self._work, last=last)
        return [report for _, (_, _, report) in self._submit.collect(rdd)]

    def close(self) -> None:
        """See `Runner`; the session belongs to its owner, and may be stopped."""
        if self._work is not None:
            with suppress(Exception):
                self._work.unpersist()
            self._work = None

    def _base(self) -> RDD[int] | RDD[bytes]:
        """An RDD with one partition for every worker, on the executor that has its maps."""
        names = self._executors()
        if self._first is None or names != self._known:
            self._known = names
            self._place()
        assert self._first is not None
        return self._first

    def _executors(self) -> str:
        """The names of the live executors."""
        try:
            return executor_names(self.sc) if self.pin else ""
        except Py4JError:
            return ""

    def _place(self) -> None:
        self.repins += 1
        self._first = self.sc.parallelize(range(self.workers), self.workers)
        self._anchor = None
        try:
            places = executors(self.sc) if self._known else {}
            self._names = assign(self.workers, self._names, list(places))
            if self._names:
                pins = pinned(self.sc, [places[n] for n in self._names])
                self._anchor = anchor(self.sc, pins)
                self._first = pins
        except (Py4JError, TypeError) as e:  # calls that another release of Spark may not have
            self.pin, self._anchor = False, None
            warnings.warn(
                f"partitions cannot be pinned on this Spark: {e}", FreshviewWarning, stacklevel=2
            )


def _stage(
    order: StageOrder,
    work: Broadcast[bytes],
    first: bool,
    zipped: bool,
    part: int,
    items: Iterable[Any],
) -> Iterator[object]:
    """A stage as Spark calls it; the input of a job's first stage is ignored."""
    received = list(items)
    parcels: list[Parcel] = []
    if not first:
        sent = [item for _, item in received] if zipped else received
        senders = sorted(sender for _, (sender, _, _) in sent)
        assert senders == list(range(order.workers)), f"blocks of {senders} came to {part}"
        assert all(target == part for target, _ in sent), f"blocks of others came to {part}"
        parcels = [parcel for _, parcel in sent]
    provide(order.place, lambda: pickle.loads(work.value))
    results = run_stage(order, part, parcels)
    yield from results if order.last else keyed_by_partition(results)
    freeze_modules(order.place)
