"""Batches that cannot be: what guarded routines find, as an error that names the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa  # type: ignore[import-untyped]

from freshview.distributed.terms import Guard
from freshview.durable.step import Refusal
from freshview.errors import BadRow, Place
from freshview.runtime.ingest.columns import rows_of
from freshview.runtime.relations.base import not_held, two_rows
from freshview.spark.nodes.node import PAYLOAD, Node


@dataclass(frozen=True, slots=True)
class Wrong:
    """What a batch does that cannot be: rows that are not there, or keys with two rows.

    The columns of `rows` are called as those of the relation are; those of keys are the key's.
    """

    relation: str
    rows: pa.RecordBatch
    doubled: bool

    def reason(self, at: int = 0) -> BadRow:
        """The complaint about one of them, as a database makes it."""
        [row] = rows_of(pa.Table.from_batches([self.rows.slice(at, 1)]))
        if self.doubled:
            return two_rows(self.relation, row[:-1])
        return not_held(self.relation, row[:-1], -self.rows.column(PAYLOAD)[at].as_py())


class Refused(Refusal):
    """A batch that would take away rows that are not there, or give a key two rows.

    `wrong` are all of them that were found.
    """

    def __init__(
        self, what: str, *, instead: str = "", at: Place | None = None, wrong: Sequence[Wrong] = ()
    ) -> None:
        super().__init__(what, instead=instead, at=at)
        self.wrong = tuple(wrong)

    def together(self, others: Sequence[Refusal]) -> Refused:
        """All the rows that several workers refuse."""
        return refused([w for other in others if isinstance(other, Refused) for w in other.wrong])


def check(node: Node, routine: str, guards: Iterable[Guard]) -> None:
    """Refuse the batch of a routine whose checks have run, if they have found anything."""
    wrong = []
    for g in guards:
        for name, doubled in ((g.missing, False), (g.doubled, True)):
            rows = node.send(routine, name) if name else None
            if rows is not None and rows.num_rows:
                wrong.append(
                    Wrong(g.relation.name, rows.rename_columns(_names(g, doubled)), doubled)
                )
    if wrong:
        raise refused(wrong)


def refused(wrong: Sequence[Wrong]) -> Refused:
    """The error about these."""
    first = wrong[0].reason()
    return Refused(first.what, instead=first.instead, wrong=wrong)


def _names(g: Guard, doubled: bool) -> list[str]:
    key = {k.lower() for k in g.relation.key}
    names = [c.name for c in g.relation.columns if not doubled or c.name.lower() in key]
    return [*names, PAYLOAD]
