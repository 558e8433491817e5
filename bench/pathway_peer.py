"""Pathway on the join-and-sum stream, in a virtual environment that is made for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from bench.data import BUILD, Stream
from bench.report import as_rows

HOME = BUILD / "pathway-env"
NAME = "Pathway, its Python connector, 100 ms commits"


def measure(stream: Stream) -> dict[str, tuple[float, Counter[tuple[object, ...]]]]:
    """Its seconds and rows under its name, or nothing (and the reason printed) if it cannot run."""
    try:
        python = _environment()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "events.npz"
            np.savez(path, **{name: _numbered(stream, name) for name in stream.rows})
            done = subprocess.run(
                [str(python), str(Path(__file__).with_name("pathway_program.py")), str(path)],
                capture_output=True,
                text=True,
                timeout=300,
                env={**os.environ, "PATHWAY_THREADS": "1"},
            )
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        answer = json.loads(done.stdout.splitlines()[-1])
        return {NAME: (answer["seconds"], as_rows(answer["rows"]))}
    except (OSError, RuntimeError, subprocess.SubprocessError, ValueError) as e:
        print(f"Pathway is left out: {e}")
        return {}


def is_ready() -> bool:
    """Whether the environment is there, so that nothing needs to be fetched."""
    return (HOME / "ready").exists()


def _environment() -> Path:
    """The Python of an environment that has Pathway; made if it is not there."""
    python = HOME / "bin" / "python"
    if not is_ready():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(HOME)], check=True)
        words = ["-m", "pip", "--disable-pip-version-check", "--quiet", "install", "pathway"]
        subprocess.run([str(python), *words], check=True, timeout=600)
        (HOME / "ready").touch()
    return python


def _numbered(stream: Stream, name: str) -> np.ndarray:
    """The events of a relation: sign, number of the row, values.

    A deletion has the number of an insertion of an equal row.
    """
    values = [c.to_pylist() for c in stream.rows[name].columns]
    live: dict[tuple[object, ...], list[int]] = {}
    events = []
    counts = stream.counts[name].tolist()
    for number, (row, n) in enumerate(zip(zip(*values, strict=True), counts, strict=True)):
        if n > 0:
            live.setdefault(row, []).append(number)
            events.append((n, number, *row))
        else:
            events.append((n, live[row].pop(), *row))
    return np.array(events, dtype=np.int64)
