"""The options of a pipeline, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from freshview.durable.settings import FlowSettings
from freshview.plan.options import Strategy
from freshview.plan.switches import Switches


@dataclass(frozen=True)
class PipelineOptions:
    """The options of a pipeline; `pipeline` documents each."""

    master: str = "local[*]"
    checkpoint: Path | None = None
    workers: int | None = None
    batch: int = 100_000
    trigger: str = ""
    strategy: Strategy = "auto"
    strict: bool = False
    packages: tuple[str, ...] = ()
    dead_letters: Path | None = None
    log: Path | None = None
    settings: FlowSettings | None = None
    upserts: tuple[str, ...] = ()
    trusted: bool | tuple[str, ...] = ()
    switches: Switches = field(default_factory=Switches)
    changes: tuple[str, ...] = ()
