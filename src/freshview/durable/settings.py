"""The settings of a flow, in one value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FlowSettings:
    """How a flow runs.

    Every worker writes a snapshot each `snapshot_every` batches, not all of them at the same one;
    one whose state is large waits up to ten times as long, until half as many bytes were logged.
    `memory` is the folder for state on every machine; without one it is `/dev/shm/freshview-USER`,
    by the number of the user, or the same in the folder for temporary files. With `sync` what is
    durable is also flushed to the disk, so that it survives the machine and not only the process.
    `native` False keeps the maps in Python.
    """

    snapshot_every: int = 10
    memory: str | None = None
    sync: bool = False
    native: bool = True
    history: int = 1000
    """The number of batches whose metrics are kept."""
