"""Partitions that stay on their executor: calls into the JVM that PySpark does not offer.

An RDD made by `makeRDD` tells Spark where each partition would like to run. Spark follows if it
can; that is why workers check versions, and why this file may fail without harm: then partitions
run anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark import RDD, SparkContext
from pyspark.serializers import NoOpSerializer, PairDeserializer, Serializer


def executors(sc: SparkContext) -> dict[str, str]:
    """The executors with what Spark calls their place; none where the driver does all."""
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
    """The executors' names in one text: asked for before every job, so in few calls."""
    if _is_alone(sc):
        return ""
    return str(sc._jsc.sc().getExecutorIds().mkString(" "))


def assign(parts: int, before: Sequence[str], alive: Sequence[str]) -> list[str]:
    """An executor for every part: the one before if it is alive, else the one with the least.

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
    """An RDD of one small item for every place; its partitions would like to run there."""
    jvm: Any = sc._jvm
    to_seq = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    tag = jvm.scala.reflect.ClassTag.apply(jvm.java.lang.Class.forName("[B"))
    items = jvm.java.util.ArrayList()
    for place in places:
        wishes = jvm.java.util.ArrayList()
        wishes.add(place)
        items.add(jvm.scala.Tuple2(bytearray(b"x"), to_seq(wishes)))
    rdd = sc._jsc.sc().makeRDD(to_seq(items), tag)
    return RDD(jvm.org.apache.spark.api.java.JavaRDD(rdd, tag), sc, NoOpSerializer())


def anchor(sc: SparkContext, pins: RDD[bytes]) -> Any:
    """As many items in every pinned partition as there are partitions: a JVM RDD to zip with."""
    jvm: Any = sc._jvm
    tokens = jvm.java.util.ArrayList()
    for i in range(pins.getNumPartitions()):
        tokens.add(i)
    return pins._jrdd.cartesian(sc._jsc.parallelize(tokens, 1)).keys()


def anchored(at: Any, shuffled: Any, reads: Serializer) -> tuple[Any, Serializer]:
    """A shuffled JavaRDD whose partitions would like to run where the anchor's do.

    Spark asks the first parent of a zip first. Each partition must have as many items as the
    anchor's: one a sender. What Python reads are pairs then, of which the second one counts.
    """
    pairs: Any = PairDeserializer  # its initializer has no types
    return at.zip(shuffled), pairs(NoOpSerializer(), reads)


def _is_alone(sc: SparkContext) -> bool:
    """Whether the driver does all the work."""
    master = sc.master or ""
    return master == "local" or master.startswith("local[")
