"""TPC-DS at test time: an environment with its generator, and what that writes.

Nothing of it is copied into this repository: texts and data are read from the wheel.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
LOCK = ROOT / "requirements-tpcds.lock"
EXTRACT = Path(__file__).with_name("extract.py")
HOME = ROOT / ".cache" / "tpcds"


class NotInstalled(Exception):
    """The packages cannot be installed here."""


@dataclass(frozen=True)
class Tpcds:
    """Columns by table (name, type, whether it may be NULL), some rows, and the query texts."""

    columns: dict[str, list[tuple[str, str, bool]]]
    rows: dict[str, list[list[Any]]]
    texts: dict[int, str]


@cache
def tpcds() -> Tpcds:
    """The benchmark, read from the cache or from the packages, which are installed first."""
    key = hashlib.sha256(LOCK.read_bytes() + EXTRACT.read_bytes()).hexdigest()[:16]
    path = HOME / f"{key}.json"
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # processes of one run install it once
        if not path.exists():
            part = path.with_suffix(".part")
            _run(str(_python()), str(EXTRACT), str(part))
            part.rename(path)
    whole = json.loads(path.read_text())
    texts = {int(n): text for n, text in whole["texts"].items()}
    return Tpcds(whole["columns"], whole["rows"], texts)


def _python() -> Path:
    """The Python of an environment with what the lock file names."""
    home = HOME / "environment"
    python = home / "bin" / "python"
    ready = home / LOCK.name
    if not ready.exists() or ready.read_bytes() != LOCK.read_bytes():
        _run(sys.executable, "-m", "venv", "--clear", str(home))
        _run(str(python), "-m", "pip", "install", "--quiet", "--requirement", str(LOCK))
        ready.write_bytes(LOCK.read_bytes())
    return python


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise NotInstalled(f"{' '.join(command)}: {done.stderr.strip()[-300:]}")
