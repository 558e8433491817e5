"""What a running join says of itself, as numbers and in Prometheus's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass
class Metrics:
    """Counters since the start, and gauges of now.

    `load` is what the fullest joiner holds in bytes; `optimum` what it would hold under the
    best mapping (by hash: the mean); `skew` the fullest joiner's bytes to the mean.
    """

    batches: int = 0
    tuples: dict[str, int] = field(default_factory=dict)
    late: dict[str, int] = field(default_factory=dict)
    pairs: int = 0
    received_bytes: int = 0
    migrations: int = 0
    migrating: bool = False
    moved_bytes: int = 0
    purged_bytes: int = 0
    longest_move: int = 0
    spilled_bytes: int = 0
    storage: dict[int, int] = field(default_factory=dict)
    optimum: float = 0.0
    mapping: str = ""
    seconds: float = 0.0
    latency: float = 0.0

    @property
    def load(self) -> int:
        """Bytes of the fullest joiner."""
        return max(self.storage.values(), default=0)

    @property
    def load_ratio(self) -> float:
        """The load to its optimum; 1 where there is nothing."""
        return self.load / self.optimum if self.optimum else 1.0

    @property
    def skew(self) -> float:
        """The fullest joiner to the mean; 1 where there is nothing."""
        total = sum(self.storage.values())
        return self.load * len(self.storage) / total if total else 1.0

    @property
    def throughput(self) -> float:
        """Tuples a second of work."""
        return sum(self.tuples.values()) / self.seconds if self.seconds else 0.0


Labelled: TypeAlias = dict[tuple[tuple[str, str], ...], float]
"""Values by their labels."""


def prometheus(metrics: Metrics, join: str) -> str:
    """The metrics as a scrape shows them.

    >>> print(prometheus(Metrics(storage={0: 10, 1: 30}), "matches").splitlines()[-1])
    freshview_theta_storage_bytes{join="matches",joiner="1"} 30
    """
    lines: list[str] = []

    def put(
        name: str, kind: str, what: str, values: dict[tuple[tuple[str, str], ...], float]
    ) -> None:
        full = f"freshview_theta_{name}"
        lines.extend((f"# HELP {full} {what}", f"# TYPE {full} {kind}"))
        for labels, value in values.items():
            inside = ",".join(f'{k}="{_escaped(v)}"' for k, v in (("join", join), *labels))
            lines.append(f"{full}{{{inside}}} {_shown(value)}")

    def one(name: str, kind: str, what: str, value: float) -> None:
        put(name, kind, what, {(): value})

    m = metrics
    one("batches_total", "counter", "Batches that were joined.", m.batches)
    put("tuples_total", "counter", "Tuples that came.", _by("source", m.tuples))
    put("late_tuples_total", "counter", "Tuples behind their watermark.", _by("source", m.late))
    one("pairs_total", "counter", "Pairs that came out.", m.pairs)
    one("received_bytes_total", "counter", "Bytes that joiners received.", m.received_bytes)
    one("migrations_total", "counter", "Migrations that began.", m.migrations)
    one("migrating", "gauge", "Whether state is on its way.", m.migrating)
    one("moved_bytes_total", "counter", "Bytes that joiners exchanged.", m.moved_bytes)
    one("purged_bytes_total", "counter", "Bytes that windows let go.", m.purged_bytes)
    one("load_bytes", "gauge", "Bytes of the fullest joiner.", m.load)
    one("load_ratio", "gauge", "The load to that of the best mapping.", m.load_ratio)
    one("skew_ratio", "gauge", "The fullest joiner to the mean.", m.skew)
    one("latency_seconds", "gauge", "The time of the last batch.", m.latency)
    one("busy_seconds_total", "counter", "The time of all batches.", m.seconds)
    one("spilled_bytes", "gauge", "Bytes of joiners that are in files.", m.spilled_bytes)
    put("storage_bytes", "gauge", "Bytes that a joiner stores.", _by("joiner", m.storage))
    return "\n".join(lines) + "\n"


def _by(label: str, values: Mapping[str, int] | Mapping[int, int]) -> Labelled:
    return {((label, str(name)),): float(n) for name, n in values.items()}


def _shown(value: float) -> str:
    """All its digits: the rate of a counter is that of its last ones."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
