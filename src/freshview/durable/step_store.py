"""What a part keeps in shared memory of its steps: what they sent, and what readings were given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from freshview.durable.step import LostState, SentBlocks
from freshview.durable.storage.blocks import frame, unframe
from freshview.durable.storage.files import LocalFolder, TornFile


class StepStore:
    """Files beside the maps of a part; one that is damaged is as good as none.

    Their names have the part in them, so that those of another part are not taken for its own.
    """

    def __init__(self, memory: Path) -> None:
        self._part = memory.name
        self._files = LocalFolder(memory.parent)

    def keep_sent(self, mark: str, step: int, sent: SentBlocks) -> None:
        """Keep what a step of a version sent."""
        self._files.write(self._out(mark, step), sent.dump())

    def sent(self, mark: str, step: int) -> SentBlocks | None:
        """What a step of a version sent, if that is still known."""
        data = self._whole(self._out(mark, step))
        return None if data is None else SentBlocks.load(data)

    def drop_sent(self, before: str) -> None:
        """Forget what was sent in the versions before one."""
        self._drop(lambda n: n.startswith("out-") and n[4:16] < before[:12])

    def keep_inputs(self, reading: str, step: int, inputs: Sequence[bytes]) -> None:
        """Keep what a step of a reading took from others."""
        self._files.write(self._read(reading, step), frame(inputs))

    def inputs(self, reading: str, step: int) -> list[bytes]:
        """What a step of a reading took from others; `LostState` if that is not known."""
        data = self._whole(self._read(reading, step))
        if data is None:
            raise LostState(f"step {step} of a reading is gone", instead="read again")
        return unframe(data)

    def drop_readings(self, but: str) -> None:
        """Forget all the readings but one."""
        self._drop(lambda n: n.startswith("read-") and but not in n)

    def _whole(self, name: str) -> bytes | None:
        try:
            return self._files.read(name)
        except TornFile:
            return None

    def _drop(self, old: Callable[[str], bool]) -> None:
        names = self._files.names(self._part)
        self._files.delete(f"{self._part}/{n}" for n in names if old(n))

    def _out(self, mark: str, step: int) -> str:
        return f"{self._part}/out-{mark}-{step:03}"

    def _read(self, reading: str, step: int) -> str:
        return f"{self._part}/read-{reading}-{step:03}"
