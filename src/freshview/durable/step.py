"""A step of a part: its name, what came of it, and why it may not be done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from freshview.durable.batch_log import Entry, version_of
from freshview.durable.storage.blocks import frame, unframe
from freshview.errors import BadRow, FreshviewError


class StaleStep(FreshviewError):
    """An attempt of a step that is long done: nobody waits for it."""


class LostState(FreshviewError):
    """Maps cannot be rebuilt: a file is damaged or gone."""


class LostRedo(LostState):
    """What others sent to a part in one step is damaged or gone; they can send it again."""

    def __init__(self, part: int, entry: Entry, step: int) -> None:
        super().__init__(f"what part {part} received in step {step} of {entry.mark} is lost")
        self.args = (part, entry, step)
        self.part, self.entry, self.step = part, entry, step


class Refusal(BadRow):
    """A step that a part refuses before it has changed a map that stays."""

    def merge(self, others: Sequence[Refusal]) -> Refusal:
        """What several parts refuse, as one refusal; it is itself among the others."""
        return self


@dataclass
class Clock:
    """Seconds of steps: all of them, and those in the maps themselves; the rest is Arrow."""

    total: float = 0.0
    native: float = 0.0

    def __call__(self, work: Callable[..., None], *args: Any) -> None:
        """Have the maps do something."""
        began = perf_counter()
        work(*args)
        self.native += perf_counter() - began


@dataclass(frozen=True, slots=True)
class SentBlocks:
    """What a step sends: a block for each worker, and one for the driver."""

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
    """A step: of which version, after which other one, and who asks."""

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
    """What a step sent, and what it took."""

    sent: SentBlocks
    seconds: float = 0.0
    rebuilt: int = 0
    """Versions that were done again to rebuild the maps; -1 if the step itself was done before."""
    state: int = 0
    base: int = -1
    """The version of the snapshot before which this part needs no log."""
    clock: Clock = field(default_factory=Clock)
    reached: int = -1
    """The version up to which versions were followed."""
    gathered: Mapping[int, bytes] = field(default_factory=dict)
    """By version, what those sent to the driver that were followed."""

    def and_then(self, other: Outcome) -> Outcome:
        """What both of them took, and what the later one told."""
        clock = Clock(self.clock.total + other.clock.total, self.clock.native + other.clock.native)
        seconds = self.seconds + other.seconds
        return replace(other, seconds=seconds, rebuilt=self.rebuilt + other.rebuilt, clock=clock)
