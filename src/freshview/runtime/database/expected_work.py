"""What a change is expected to cost the reference engine: rows alone do not say it.

A view that compares all rows with all makes a thousand rows as dear as a million of another view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freshview.program.statistics import Statistics
from freshview.runtime.ingest.change import Change
from freshview.runtime.relations.stored_base import AnyBase
from freshview.runtime.views.group import ViewGroup

WAIT_WORK = 250_000.0
"""Rows to visit that take the reference engine a second or two: as long as a kernel is compiled."""

FEW_ROWS = 32
"""The work of a change of fewer rows is not estimated."""

BATCH_ROWS = 1000
"""Rows of a change that more such changes are expected to follow."""


def is_slow(
    group: ViewGroup, changes: Sequence[Change], bases: Mapping[str, AnyBase], many: int
) -> bool:
    """Whether the reference engine would take longer for a change than a kernel is compiled.

    That is so, too, of the next one of batches that bring `many` rows together: a load in batches
    waits for the compiler as one in a single change does. Single rows never wait.
    """
    if sum(c.size for c in changes) < FEW_ROWS:
        return False
    rows = sum(c.size for c in changes if group.reads(c.relation.name))
    if rows >= BATCH_ROWS and group.rows_seen + rows >= many:
        return True
    return expected_work(group, changes, bases) >= WAIT_WORK


def is_busy(group: ViewGroup, changes: Sequence[Change], bases: Mapping[str, AnyBase]) -> bool:
    """Whether what a group has seen, few rows maybe, was as much work as a kernel is.

    What rows cost is estimated whenever twice as many have come as the last time.
    """
    rows = sum(c.size for c in changes if group.reads(c.relation.name))
    if not rows or group.rows_seen < max(FEW_ROWS, 2 * group.rows_estimated):
        return False
    group.rows_estimated = group.rows_seen
    return group.rows_seen / rows * expected_work(group, changes, bases) >= WAIT_WORK


def expected_work(
    group: ViewGroup, changes: Sequence[Change], bases: Mapping[str, AnyBase]
) -> float:
    """The rows that the reference engine is expected to visit for changes of a group's relations.

    The sizes are those that the relations have after the change.
    """
    # A process whose kernels come from the cache asks nothing of the cost model.
    from freshview.program.cost import program_cost

    arriving = {c.relation.name: float(c.size) for c in changes if group.reads(c.relation.name)}
    if not arriving:
        return 0.0
    sizes = {
        r.name: max(1.0, bases[r.name].size + arriving.get(r.name, 0)) for r in group.relations
    }
    rates = {r.name: arriving.get(r.name, 0.0) for r in group.relations if not r.static}
    # As many batches a unit of time as one: the cost is that of this change.
    batch = sum(arriving.values()) / len(rates)
    return program_cost(group.reference_program(), Statistics(sizes, rates, batch, reads=0.0))
