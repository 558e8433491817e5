"""The session of a pipeline: the active one, or a new one whose log goes to a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from freshview.errors import FreshviewError
from freshview.spark.java import NoJava
from freshview.spark.releases import advise_unresolved, coordinates, installed
from freshview.spark.start_session import start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS: Mapping[str, str] = {
    "spark.log.level": "ERROR",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stopTimeout": "60s",
}

DELTA: Mapping[str, str] = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
"""The settings that Delta needs."""

PROCESS = "or run in this process: --engine process"


_UNRESOLVED = re.compile(r"unresolved dependency: ([^#\s]+)#([^;\s]+);([^:\s]+): not found")


def active() -> SparkSession | None:
    """The active session, if there is one."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as e:
        raise FreshviewError(
            "pyspark is not installed", instead=f"pip install pyspark, {PROCESS}"
        ) from e
    return SparkSession.getActiveSession()


def session(
    master: str = "local[*]",
    *,
    settings: Mapping[str, str] | None = None,
    packages: Sequence[str] = (),
    log: Path | None = None,
) -> SparkSession:
    """The active session, or a new one; `packages` are Maven coordinates, kafka or delta.

    The output of the JVM goes to the file `log`, if there is one.
    """
    running = active()
    if running is not None:
        return running
    options = {**SETTINGS, **(settings or {})}
    wanted = coordinates(packages, installed())
    if wanted:
        options["spark.jars.packages"] = ",".join(wanted)
    if any(":delta-spark" in p for p in wanted):
        options = {**DELTA, **options}
    try:
        with _errors_to(log):
            return start_session(master, settings=options)
    except NoJava as e:
        raise NoJava(e.what, instead=f"{e.instead}, {PROCESS}") from e
    except Exception as e:
        said = "; ".join(_last_lines(log)) or str(e).splitlines()[0]
        if unresolved := _UNRESOLVED.findall(said):
            names = ", ".join(dict.fromkeys(":".join(u) for u in unresolved))
            raise FreshviewError(
                f"Spark does not start on '{master}': Maven cannot find {names}",
                instead=advise_unresolved(installed()),
            ) from e
        raise FreshviewError(
            f"Spark does not start on '{master}': {said}",
            instead="check the master, the packages, and that Java is 17 or later",
        ) from e


@contextmanager
def _errors_to(log: Path | None) -> Iterator[None]:
    """Redirect the standard error of child processes to a file."""
    if log is None:
        yield
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    kept = os.dup(2)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(file)


def _last_lines(log: Path | None) -> list[str]:
    if log is None or not log.exists():
        return []
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    return [line for line in lines if "Exception" in line or "rror" in line][-1:]
