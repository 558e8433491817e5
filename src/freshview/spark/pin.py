"""Pinned partitions: calls into the JVM that PySpark does not offer.

An RDD of `makeRDD` has a preferred location for each partition. Spark follows it if it can; workers
check versions for the other case. If these calls fail, partitions run anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from py4j.java_gateway import JavaObject
from pyspark import RDD, SparkContext
from pyspark.serializers import NoOpSerializer, PairDeserializer, Serializer


def executors(sc: SparkContext) -> dict[str, str]:
    """The executors with their preferred locations; none in local mode."""
    if _is_alone(sc):
        return {}
    listed = sc._jsc.sc().statusStore().executorList(True)
    places = {}
    for i in range(listed.size()):
        one = listed.apply(i)
        if one.id() != "driver":
            host = one.hostPort().rpartition(":")[0]
            places[str(one.id())] = f"executor_{host}_{one.id()}"
    return places


def executor_names(sc: SparkContext) -> str:
    """The executors' names in one text, with few calls, since it is read before every job."""
    if _is_alone(sc):
        return ""
    return str(sc._jsc.sc().getExecutorIds().mkString(" "))


def assign(parts: int, before: Sequence[str], alive: Sequence[str]) -> list[str]:
    """An executor for every part: its last one if it is alive, else the one with the fewest parts.

    >>> assign(4, ["1", "2", "1", "2"], ["2", "3"])
    ['3', '2', '3', '2']
    """
    if not alive:
        return []
    most = -(-parts // len(alive))
    load = dict.fromkeys(sorted(alive), 0)
    staying: list[str | None] = []
    for part in range(parts):
        old = before[part] if part < len(before) else None
        stays = old if old in load and load[old] < most else None
        staying.append(stays)
        if stays is not None:
            load[stays] += 1
    done = []
    for name in staying:
        if name is None:
            name = min(load, key=lambda n: load[n])
            load[name] += 1
        done.append(name)
    return done


def pinned(sc: SparkContext, places: Sequence[str]) -> RDD[bytes]:
    """An RDD of one small item for every place; its partitions prefer these places."""
    jvm: JavaObject = sc._jvm
    to_seq = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    tag = jvm.scala.reflect.ClassTag.apply(jvm.java.lang.Class.forName("[B"))
    items = jvm.java.util.ArrayList()
    for place in places:
        wishes = jvm.java.util.ArrayList()
        wishes.add(place)
        items.add(jvm.scala.Tuple2(bytearray(b"x"), to_seq(wishes)))
    rdd = sc._jsc.sc().makeRDD(to_seq(items), tag)
    return RDD(jvm.org.apache.spark.api.java.JavaRDD(rdd, tag), sc, NoOpSerializer())


def anchor(sc: SparkContext, pins: RDD[bytes]) -> JavaObject:
    """A JVM RDD to zip with: in every pinned partition as many items as there are partitions."""
    jvm: JavaObject = sc._jvm
    tokens = jvm.java.util.ArrayList()
    for i in range(pins.getNumPartitions()):
        tokens.add(i)
    return pins._jrdd.cartesian(sc._jsc.parallelize(tokens, 1)).keys()


def anchored(
    at: JavaObject, shuffled: JavaObject, reads: Serializer
) -> tuple[JavaObject, Serializer]:
    """A shuffled JavaRDD whose partitions prefer the locations of the anchor's.

    Spark takes the preferred locations of a zip's first parent. Each partition must have as many
    items as the anchor's: one per sender. Python reads pairs, of which the second item counts.
    """
    pairs: Any = PairDeserializer  # its initializer has no types
    return at.zip(shuffled), pairs(NoOpSerializer(), reads)


def _is_alone(sc: SparkContext) -> bool:
    """Whether the driver runs all the tasks."""
    master = sc.master or ""
    return master == "local" or master.startswith("local[")
