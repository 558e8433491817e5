"""A Spark session with the settings that flows need."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from freshview import errors
from freshview.spark.java import provide_java
from freshview.spark.releases import check_release, installed, local_sockets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Our jobs are short, and the JVM does little in them: start-up counts more than peak speed."""

SETTINGS = {
    "spark.python.worker.reuse": "true",
    "spark.speculation": "false",
    "spark.dynamicAllocation.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    **local_sockets(),
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
}


def start_session(
    master: str = "local[*]", *, name: str = "freshview", settings: Mapping[str, str] | None = None
) -> SparkSession:
    """A session on `master`; `settings` override the defaults. An existing session is reused."""
    check_release(installed())
    provide_java()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    options = {**SETTINGS, "spark.executorEnv.PYTHONPATH": _python_path()}
    if master.startswith("local"):
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in {**options, **(settings or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _python_path() -> str:
    """The Python path for workers, where this package need not be installed."""
    own = str(Path(errors.__file__).resolve().parent.parent)
    return os.pathsep.join(
        dict.fromkeys([own, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])
    )
