"""The progress of a pipeline, batch by batch: a line for people, and Prometheus's text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Progress:
    """The metrics of one batch, and the size of the state after it."""

    version: int
    rows: int
    seconds: float
    source: float = 0.0
    """Seconds to read and decode the rows, before the views were updated."""
    stages: tuple[float, ...] = ()
    state: int = 0
    rejected: int = 0
    """Malformed rows so far, this batch included."""
    rebuilt: int = 0
    late: int = 0
    """Rows before the watermarks of their streams so far."""

    @property
    def rate(self) -> float:
        """Rows a second, all the way."""
        return self.rows / self.seconds if self.seconds > 0 else 0.0


def line(p: Progress) -> str:
    """The batch in one line.

    >>> line(Progress(7, 1000, 0.5, 0.125, (0.25, 0.0625), 3 << 20))
    'version 7: 1,000 rows in 0.50 s (2,000/s), source 0.12 s, stages 0.25 + 0.06 s, state 3.0 MB'
    """
    parts = [f"version {p.version}: {p.rows:,} rows in {p.seconds:.2f} s ({p.rate:,.0f}/s)"]
    parts.append(f"source {p.source:.2f} s")
    if p.stages:
        parts.append(f"stages {' + '.join(f'{s:.2f}' for s in p.stages)} s")
    parts.append(f"state {size(p.state)}")
    if p.rejected:
        parts.append(f"{p.rejected:,} malformed")
    if p.late:
        parts.append(f"{p.late:,} late")
    if p.rebuilt:
        parts.append(f"{p.rebuilt} rebuilt")
    return ", ".join(parts)


def size(count: float) -> str:
    """Bytes in words.

    >>> size(512), size(1536), size(5 << 30)
    ('512 B', '1.5 kB', '5.0 GB')
    """
    if count < 1024:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB"):
        count /= 1024
        if count < 1024:
            return f"{count:.1f} {unit}"
    return f"{count / 1024:.1f} TB"


@dataclass
class Totals:
    """All the batches of a run, added up."""

    batches: int = 0
    rows: int = 0
    seconds: float = 0.0
    last: Progress | None = None
    read: Counter[str] = field(default_factory=Counter)
    """Rows by relation, static tables included."""

    def add(self, p: Progress) -> None:
        """Count a batch."""
        self.batches += 1
        self.rows += p.rows
        self.seconds += p.seconds
        self.last = p


def prometheus(totals: Totals) -> str:
    """The metrics of a run in Prometheus's text format.

    >>> print(prometheus(Totals(2, 30, 1.5)).splitlines()[2])
    freshview_batches_total 2
    """
    last = totals.last or Progress(0, 0, 0.0)
    return "".join(
        _metric(*m)
        for m in (
            ("freshview_batches_total", "counter", "batches that are in the views", totals.batches),
            ("freshview_rows_total", "counter", "rows and events received", totals.rows),
            ("freshview_rejected_total", "counter", "malformed rows", last.rejected),
            ("freshview_late_total", "counter", "rows before their watermark", last.late),
            (
                "freshview_batch_seconds_total",
                "counter",
                "seconds that batches took",
                totals.seconds,
            ),
            ("freshview_version", "gauge", "version of the views", last.version),
            ("freshview_state_bytes", "gauge", "memory of all the maps", last.state),
            ("freshview_last_batch_seconds", "gauge", "seconds of the last batch", last.seconds),
            ("freshview_last_batch_rows", "gauge", "rows of the last batch", last.rows),
        )
    ) + "".join(_stages(last.stages))


def _metric(name: str, kind: str, text: str, value: float) -> str:
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n{name} {value!r}\n"


def _stages(stages: Iterable[float]) -> Iterable[str]:
    name = "freshview_stage_seconds"
    yield f"# HELP {name} seconds of the stages of the last batch\n# TYPE {name} gauge\n"
    for number, seconds in enumerate(stages):
        yield f'{name}{{stage="{number}"}} {seconds:g}\n'
