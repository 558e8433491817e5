"""A step of a part: its name, what came of it, and why it may not be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from freshview.durable.batch_log import Entry, version_of
from freshview.errors import FreshviewError
from freshview.spark.nodes.perform import Clock, Sent


class Stale(FreshviewError):
    """An attempt of a step that is long done: nobody waits for it."""


class Lost(FreshviewError):
    """Maps cannot be rebuilt: a file is damaged or gone."""


class RedoLost(Lost):
    """What others sent to a part in one step is damaged or gone; they can send it again."""

    def __init__(self, part: int, entry: Entry, step: int) -> None:
        super().__init__(f"what part {part} received in step {step} of {entry.mark} is lost")
        self.args = (part, entry, step)
        self.part, self.entry, self.step = part, entry, step


@dataclass(frozen=True, slots=True)
class At:
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

    sent: Sent
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
