"""The progress of a load, logged with each of its pieces until its caller knows of its end.

A load is many versions. If it is interrupted, the same call continues behind the finished pieces,
even if all of them are finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import pyarrow as pa

from freshview.durable.storage.blocks import pack_large
from freshview.errors import ProgramProblem

SAMPLE_ROWS = 1024
"""Rows at both ends of a table that are hashed to recognize it."""


@dataclass(frozen=True, slots=True)
class Loading:
    """A load that has begun, recognized by `what` it loads: its rows may have been corrected."""

    what: str
    sample: int
    pieces: int
    done: int = 0

    def done_before(self, last: Loading | None) -> int:
        """The number of pieces in the views, if the last load was this one.

        >>> whole = Loading("7 rows of sales in pieces of 2", 1, 4)
        >>> whole.done_before(None), whole.done_before(Loading(whole.what, 0, 4, 3))
        (0, 3)
        >>> whole.done_before(Loading("9 rows of sales", 0, 5, 3))
        Traceback (most recent call last):
          ...
        freshview.errors.ProgramProblem: a load of 9 rows of sales was interrupted ...
        """
        if last is None:
            return 0
        if last.done == last.pieces:
            return last.done if (last.what, last.sample) == (self.what, self.sample) else 0
        if last.what == self.what:
            return last.done
        raise ProgramProblem(
            f"a load of {last.what} was interrupted after {last.done} of {last.pieces} pieces",
            instead="load the same rows again, or begin another load with anew=True",
        )


def loading_from(record: Mapping[str, Any] | None) -> Loading | None:
    """The inverse of `asdict`."""
    return None if record is None else Loading(**record)


def loading_of(tables: Mapping[str, pa.Table], rows: int, pieces: int) -> Loading:
    """The identity of a load of tables in pieces of so many rows."""
    check = 0
    for name, table in sorted(tables.items()):
        ends = table.slice(0, SAMPLE_ROWS), table.slice(max(0, table.num_rows - SAMPLE_ROWS))
        for piece in pack_large({name: [b for end in ends for b in end.to_batches()]}):
            check = crc32(piece, check)
    sizes = ", ".join(f"{t.num_rows:,} rows of {name}" for name, t in sorted(tables.items()))
    return Loading(f"{sizes} in pieces of {rows:,}", check, pieces)
