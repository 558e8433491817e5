"""The outputs of steps and the inputs of reads, kept in a part's shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from freshview.durable.step import LostState, SentBlocks
from freshview.durable.storage.blocks import frame, unframe
from freshview.durable.storage.files import LocalFolder, TornFile


class StepStore:
    """Files beside the maps of a part; a damaged one counts as missing.

    Their names contain the part, so that files of different parts are never confused.
    """

    def __init__(self, memory: Path) -> None:
        self._part = memory.name
        self._files = LocalFolder(memory.parent)

    def keep_sent(self, mark: str, step: int, sent: SentBlocks) -> None:
        """Store the blocks that a step sent."""
        self._files.write(self._out(mark, step), sent.dump())

    def sent(self, mark: str, step: int) -> SentBlocks | None:
        """The blocks that a step sent, if they are still there."""
        data = self._whole(self._out(mark, step))
        return None if data is None else SentBlocks.load(data)

    def drop_sent(self, before: str) -> None:
        """Delete the blocks of versions before one."""
        self._drop(lambda n: n.startswith("out-") and n[4:16] < before[:12])

    def keep_inputs(self, reading: str, step: int, inputs: Sequence[bytes]) -> None:
        """Store the inputs of a step of a read."""
        self._files.write(self._read(reading, step), frame(inputs))

    def inputs(self, reading: str, step: int) -> list[bytes]:
        """The inputs of a step of a read; `LostState` if they are missing."""
        data = self._whole(self._read(reading, step))
        if data is None:
            raise LostState(f"the inputs of step {step} of a read are lost", instead="read again")
        return unframe(data)

    def drop_readings(self, but: str) -> None:
        """Delete the inputs of all the reads but one."""
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
