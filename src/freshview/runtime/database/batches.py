"""What `apply` is given: changes of several streams as one batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from freshview.errors import BadRow
from freshview.runtime.database.state import State
from freshview.runtime.ingest.change import Change
from freshview.runtime.ingest.products import Combined, any_change, decomposed, factors_of

Batch: TypeAlias = Mapping[str, object]


def batch_changes(
    state: State, batch: Batch, hooked: Callable[[Change], Change], *, decompose: bool
) -> list[Change]:
    """The change of every stream, past the hooks that see its rows."""
    if not isinstance(batch, Mapping):
        raise BadRow(
            f"a batch cannot be {batch!r}",
            instead="give a mapping from the names of streams to their changes",
        )
    changes = []
    for name, rows in batch.items():
        stream = state.stream(name)
        change = hooked(any_change(stream, rows))
        if decompose and not isinstance(change, Combined):
            change = decomposed(change, factors_of(stream, state.settings.products))
        changes.append(change)
    return changes
