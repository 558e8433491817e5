"""Violations of the contract of streams, found by guards, as an error that names the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from freshview.distributed.terms import Guard
from freshview.durable.step import Refusal
from freshview.errors import BadRow, Place
from freshview.runtime.ingest.columns import rows_of
from freshview.runtime.relations.base import not_held, two_rows
from freshview.spark.nodes.node import PAYLOAD, ProgramNode


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of a batch: deletions of missing rows, or keys with two rows.

    The columns of `rows` are those of the relation, or of its key.
    """

    relation: str
    rows: pa.RecordBatch
    doubled: bool

    def reason(self, at: int = 0) -> BadRow:
        """The error about one of the rows, the same as that of a database."""
        [row] = rows_of(pa.Table.from_batches([self.rows.slice(at, 1)]))
        if self.doubled:
            return two_rows(self.relation, row[:-1])
        return not_held(self.relation, row[:-1], -self.rows.column(PAYLOAD)[at].as_py())


class RefusedBatch(Refusal):
    """A batch that deletes missing rows, or gives a key two rows; `violations` has all of them."""

    def __init__(
        self,
        what: str,
        *,
        instead: str = "",
        at: Place | None = None,
        violations: Sequence[Violation] = (),
    ) -> None:
        super().__init__(what, instead=instead, at=at)
        self.violations = tuple(violations)

    def merge(self, others: Sequence[Refusal]) -> RefusedBatch:
        """The violations of several workers, as one error."""
        return refusal_of(
            [w for other in others if isinstance(other, RefusedBatch) for w in other.violations]
        )


def check_guards(node: ProgramNode, routine: str, guards: Iterable[Guard]) -> None:
    """Raise `RefusedBatch` if the checks of a routine have found violations."""
    violations = []
    for g in guards:
        for name, doubled in ((g.missing, False), (g.doubled, True)):
            rows = node.send(routine, name) if name else None
            if rows is not None and rows.num_rows:
                violations.append(
                    Violation(g.relation.name, rows.rename_columns(_names(g, doubled)), doubled)
                )
    if violations:
        raise refusal_of(violations)


def refusal_of(violations: Sequence[Violation]) -> RefusedBatch:
    """The error for these violations."""
    first = violations[0].reason()
    return RefusedBatch(first.what, instead=first.instead, violations=violations)


def _names(g: Guard, doubled: bool) -> list[str]:
    key = {k.lower() for k in g.relation.key}
    names = [c.name for c in g.relation.columns if not doubled or c.name.lower() in key]
    return [*names, PAYLOAD]
