"""What changed in a query, from the rows that batches have collected."""

from __future__ import annotations

import decimal
from collections.abc import Iterable, Mapping

from freshview.algebra import EXACT
from freshview.calculus.functions import BUILTINS, Functions
from freshview.distributed.terms import ChangePart
from freshview.program.engine import Multiset, added
from freshview.reference.engine.closures import compile_term
from freshview.reference.engine.run import out_of_range
from freshview.reference.engine.store import Store, Stores


def change_of(
    query: str,
    parts: Iterable[ChangePart],
    rows: Mapping[str, Multiset],
    functions: Functions = BUILTINS,
) -> Multiset:
    """The rows of a query that came or, negative, went; `rows` are those of the parts, by map."""
    change: Multiset = {}
    try:
        with decimal.localcontext(EXACT):
            for part in parts:
                if part.query == query and rows.get(part.map):
                    stores = Stores({}, {}, {part.map: Store(dict(rows[part.map]))})
                    run = compile_term(part.term, stores, (), part.vars, functions)
                    change = added(change, run(()).items())
    except (decimal.DecimalException, OverflowError) as e:
        raise out_of_range(str(e)) from e
    return change
