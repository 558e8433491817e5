"""The runner of a session."""

from __future__ import annotations

from typing import Any

from freshview.durable.runner import Runner


def runner_of(spark: Any, workers: int) -> Runner:
    """The runner of a SparkSession; a runner is its own."""
    if hasattr(spark, "sparkContext"):
        from freshview.spark.cluster import SparkRunner

        return SparkRunner(spark, workers)
    runner: Runner = spark
    return runner
