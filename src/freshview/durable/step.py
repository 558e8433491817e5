"""A step of a part: its identity, its outcome, and its errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from freshview.durable.batch_log import Entry, version_of
from freshview.durable.storage.blocks import frame, unframe
from freshview.errors import BadRow, FreshviewError


class StaleStep(FreshviewError):
    """An attempt of a step whose version is finished: nobody waits for it."""


class LostState(FreshviewError):
    """Maps cannot be rebuilt: a file is damaged or gone."""


class LostRedo(LostState):
    """The redo file of a step is damaged or missing; the senders can repeat its blocks."""

    def __init__(self, part: int, entry: Entry, step: int) -> None:
        super().__init__(f"what part {part} received in step {step} of {entry.mark} is lost")
        self.args = (part, entry, step)
        self.part, self.entry, self.step = part, entry, step


class Refusal(BadRow):
    """A batch that a part refuses before it has changed a permanent map."""

    def merge(self, others: Sequence[Refusal]) -> Refusal:
        """The refusals of several parts, itself included, as one."""
        return self


@dataclass
class Clock:
    """Seconds of steps: in all, and in the maps themselves; the rest is Arrow."""

    total: float = 0.0
    native: float = 0.0

    def __call__(self, work: Callable[..., None], *args: object) -> None:
        """Run an operation of the maps."""
        began = perf_counter()
        work(*args)
        self.native += perf_counter() - began


@dataclass(frozen=True, slots=True)
class SentBlocks:
    """The blocks that a step sends: one for each worker, and one for the driver."""

    blocks: tuple[bytes, ...]
    gathered: bytes = b""

    def dump(self) -> bytes:
        """As bytes."""
        return frame([self.gathered, *self.blocks])

    @classmethod
    def load(cls, data: bytes) -> SentBlocks:
        """The inverse of `dump`."""
        gathered, *blocks = unframe(data)
        return cls(tuple(blocks), gathered)


@dataclass(frozen=True, slots=True)
class StepId:
    """The identity of a step: its version, the version before, and the epoch of the driver."""

    epoch: int
    mark: str
    after: str
    routine: str
    step: int

    @property
    def version(self) -> int:
        """The number of the version."""
        return version_of(self.mark)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The blocks that a step sent, and its metrics."""

    sent: SentBlocks
    seconds: float = 0.0
    rebuilt: int = 0
    """Versions that were replayed to rebuild the maps; -1 if the step was finished before."""
    state: int = 0
    base: int = -1
    """The version of the snapshot before which this part needs no log."""
    clock: Clock = field(default_factory=Clock)
    reached: int = -1
    """The last version that was followed."""
    gathered: Mapping[int, bytes] = field(default_factory=dict)
    """By followed version, the block for the driver."""

    def and_then(self, other: Outcome) -> Outcome:
        """The outcome of the later step, with the metrics of both."""
        clock = Clock(self.clock.total + other.clock.total, self.clock.native + other.clock.native)
        seconds = self.seconds + other.seconds
        return replace(other, seconds=seconds, rebuilt=self.rebuilt + other.rebuilt, clock=clock)
