"""Python stages as RDDs of the JVM, with few calls.

`RDD.mapPartitionsWithIndex`, `partitionBy` and `collect` make two dozen calls into the JVM for a
job of one stage, which take most of its time. Most of their results never change and are cached.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from py4j.java_collections import ListConverter, MapConverter
from py4j.java_gateway import JavaObject
from pyspark import Broadcast, SparkContext
from pyspark.core.rdd import _wrap_function
from pyspark.serializers import CPickleSerializer, NoOpSerializer, Serializer

from freshview.spark.releases import collected

StageFunction: TypeAlias = Callable[[int, Iterable[Any]], Iterator[object]]
"""The function of a stage over its partition; it can be pickled by name."""

LARGE_COMMAND = 1 << 20
"""Bytes of a command above which Spark broadcasts it."""


class StageSubmitter:
    """Creates and collects RDDs of the JVM."""

    def __init__(self, sc: SparkContext, partitions: int) -> None:
        self.sc = sc
        jvm: JavaObject = sc._jvm
        client = jvm._gateway_client
        self._function, self._python, self._pairs = (
            jvm.SimplePythonFunction,
            jvm.PythonRDD,
            jvm.PairwiseRDD,
        )
        self._environment = MapConverter().convert(sc.environment, client)
        self._includes: tuple[list[str], JavaObject] = ([], ListConverter().convert([], client))
        self._broadcasts: tuple[Broadcast[bytes] | None, JavaObject] = (
            None,
            jvm.java.util.ArrayList(),
        )
        self._partitioner = jvm.PythonPartitioner(partitions, id(self))

    def stage(
        self,
        before: JavaObject,
        reads: Serializer,
        work: StageFunction,
        uses: Broadcast[bytes],
        *,
        last: bool,
    ) -> JavaObject:
        """The RDD of `work` over the partitions of the one before; it `uses` a broadcast.

        The `last` one returns items to collect; the others return bytes for `shuffled`.
        """
        writes: Serializer = CPickleSerializer() if last else NoOpSerializer()
        return self._python(before, self._wrapped(work, reads, writes, uses), False, False)

    def shuffled(self, before: JavaObject) -> JavaObject:
        """The items of a stage shuffled by `keyed_by_partition`, as a JavaRDD."""
        pairs = self._pairs(before).asJavaPairRDD().partitionBy(self._partitioner)
        return self._python.valueOfPair(pairs)

    def collect(self, rdd: JavaObject) -> list[Any]:
        """All the items of the last stage."""
        return collected(self._python.collectAndServe(rdd), CPickleSerializer())

    def _wrapped(
        self, work: StageFunction, reads: Serializer, writes: Serializer, uses: Broadcast[bytes]
    ) -> JavaObject:
        command = pickle.dumps((work, None, reads, writes), pickle.HIGHEST_PROTOCOL)
        self.sc._pickled_broadcast_vars.clear()  # pickling has recorded the broadcast
        if len(command) > LARGE_COMMAND:
            return _wrap_function(self.sc, work, reads, writes)
        if self._broadcasts[0] is not uses:
            self._broadcasts = uses, self._listed([uses._jbroadcast])
        if self._includes[0] != self.sc._python_includes:
            includes = list(self.sc._python_includes or ())
            self._includes = includes, self._listed(includes)
        return self._function(
            bytearray(command),
            self._environment,
            self._includes[1],
            self.sc.pythonExec,
            self.sc.pythonVer,
            self._broadcasts[1],
            self.sc._javaAccumulator,
        )

    def _listed(self, items: Sequence[object]) -> JavaObject:
        jvm: JavaObject = self.sc._jvm
        return ListConverter().convert(items, jvm._gateway_client)


def keyed_by_partition(items: Iterable[tuple[int, object]]) -> Iterator[bytes]:
    """Items with their target partition, as `shuffled` reads them."""
    for target, item in items:
        yield struct.pack("!q", target)
        yield pickle.dumps((target, item), pickle.HIGHEST_PROTOCOL)
