"""The progress of a load, logged with each of its pieces until its caller knows of its end.

A load is many versions. If it is interrupted, the same call continues behind the finished pieces,
even if all of them are finished.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import pyarrow as pa

from freshview.durable.storage.blocks import pack_large
from freshview.errors import ProgramProblem


@dataclass(frozen=True, slots=True)
class Loading:
    """A load that has begun, recognized by `what` it loads and the rows of its finished pieces.

    `check` is a checksum of these; the rows of the others may have been corrected.
    """

    what: str
    pieces: int
    done: int = 0
    check: int = 0

    def done_before(self, last: Loading | None, check_of: Callable[[int], int]) -> int:
        """The number of pieces in the views, if the last load was this one.

        `check_of` is the checksum of so many of its first pieces.

        >>> whole = Loading("7 rows of sales in pieces of 2", 4)
        >>> begun = Loading(whole.what, 4, 3, check=17)
        >>> whole.done_before(None, lambda n: 17), whole.done_before(begun, lambda n: 17)
        (0, 3)
        >>> whole.done_before(begun, lambda n: 18)
        Traceback (most recent call last):
          ...
        freshview.errors.ProgramProblem: a load of 7 rows ... of 4 pieces, which had other rows; ...
        """
        if last is None:
            return 0
        alike = last.what == self.what
        if alike and check_of(last.done) == last.check:
            return last.done
        if last.done == last.pieces:
            return 0
        raise ProgramProblem(
            f"a load of {last.what} was interrupted after {last.done} of {last.pieces} pieces"
            + (", which had other rows" if alike else ""),
            instead="load the same rows again, or begin another load with anew=True",
        )


def loading_from(record: Mapping[str, Any] | None) -> Loading | None:
    """The inverse of `asdict`."""
    return None if record is None else Loading(**record)


def loading_of(tables: Mapping[str, pa.Table], rows: int, pieces: int) -> Loading:
    """The beginning of a load of tables in pieces of so many rows."""
    sizes = ", ".join(f"{t.num_rows:,} rows of {name}" for name, t in sorted(tables.items()))
    return Loading(f"{sizes} in pieces of {rows:,}", pieces)


def check_of_rows(tables: Mapping[str, pa.Table], check: int = 0) -> int:
    """A checksum of the rows of a piece; `check` is that of the pieces before it.

    Equal rows have equal ones: neither chunks count, nor the bytes that lie where a NULL is.

    >>> one = pa.table({"a": [1, None, 3]})
    >>> two = pa.concat_tables([one.slice(0, 1), one.slice(1)])
    >>> check_of_rows({"t": one}) == check_of_rows({"t": two})
    True
    """
    for name, table in sorted(tables.items()):
        for column in sorted(table.column_names):
            values = table.column(column).combine_chunks()
            bare = [values]
            if values.null_count:
                bare = [values.is_valid().cast(pa.uint8()), values.drop_null()]
            for array in bare:
                rows = pa.record_batch([array], names=[column])
                for piece in pack_large({name: [rows]}):
                    check = crc32(piece, check)
    return check


def check_of_pieces(pieces: Sequence[Mapping[str, pa.Table]]) -> int:
    """The checksum of the first pieces of a load."""
    check = 0
    for tables in pieces:
        check = check_of_rows(tables, check)
    return check
