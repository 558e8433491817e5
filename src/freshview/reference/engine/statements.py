"""Statements as closures: evaluate the whole right side, then write.

The right side may read the target itself, so nothing is written before all of it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from freshview.algebra import Number
from freshview.calculus.functions import Functions
from freshview.calculus.rows import Row
from freshview.program.terms import Statement
from freshview.reference.engine.closures import compile_term
from freshview.reference.engine.scope import Work
from freshview.reference.engine.store import Cache, Store, Stores, picker

Step: TypeAlias = Callable[[Row], None]
Write: TypeAlias = Callable[[Store, Mapping[Row, Number], Row], None]


def compile_statement(
    s: Statement,
    params: tuple[str, ...],
    stores: Stores,
    functions: Functions,
    work: Work,
) -> Step:
    """A function of the trigger's parameters that carries out a statement."""
    inputs = params + tuple(v for v in s.target.inputs if v not in params)
    rows_of = compile_term(s.term, stores, inputs, s.target.vars, functions, work)
    write = _add(work) if s.op == "+=" else _replace(s, params, work)
    if s.target.inputs:
        return _on_cache(s, params, stores.cache(s.target.name), rows_of, write)
    store = stores.map(s.target.name)

    def run(row: Row) -> None:
        write(store, rows_of(row), row)

    return run


def _add(work: Work) -> Write:
    def write(store: Store, rows: Mapping[Row, Number], _: Row) -> None:
        work.writes += len(rows)
        for key, m in rows.items():
            store.add(key, m)

    return write


def _replace(s: Statement, params: tuple[str, ...], work: Work) -> Write:
    """M[p, x] := q replaces the slice of M that the trigger's parameters choose."""
    known = tuple(i for i, v in enumerate(s.target.vars) if v in params)
    values = picker([params.index(s.target.vars[i]) for i in known])

    def write(store: Store, rows: Mapping[Row, Number], row: Row) -> None:
        work.writes += len(rows)
        store.replace(rows, (known, values(row)))

    return write


def _on_cache(
    s: Statement,
    params: tuple[str, ...],
    cache: Cache,
    rows_of: Callable[[Row], dict[Row, Number]],
    write: Write,
) -> Step:
    """A statement on a view cache runs for every valuation of its inputs that is kept.

    Inputs that the trigger binds choose among them.
    """
    names = s.target.inputs
    chosen = [(i, params.index(v)) for i, v in enumerate(names) if v in params]
    fresh = picker([i for i, v in enumerate(names) if v not in params])

    def due(inputs: Row, row: Row) -> bool:
        return all(inputs[i] == row[j] for i, j in chosen)

    def run(row: Row) -> None:
        done: dict[Row, dict[Row, Number]] = {}
        # The right side may ask the cache for new inputs: those are due as well.
        while pending := [v for v in cache.stores if v not in done and due(v, row)]:
            for inputs in pending:
                done[inputs] = rows_of(row + fresh(inputs))
        for inputs, rows in done.items():
            write(cache.stores[inputs], rows, row)

    return run
