"""By which key the rows of a query are known to change: that of all the maps it is read from.

A query begins with a map, or with what exists of it, and its rows are looked up by the keys of
that. Where each other map of it has these keys, too, a record is in rows of one key only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freshview.calculus.build import factors
from freshview.calculus.schema import Query
from freshview.calculus.scope import outs, stored
from freshview.calculus.terms import Delta, Exists, Expr, Sum, View
from freshview.calculus.walk import distinct_subterms
from freshview.errors import FreshviewError

Columns = tuple[int, ...]

KeyPositions = Mapping[str, frozenset[Columns]]
"""By the maps of a query: at which of its keys a map has the key of the query's rows."""


class NotCollected(FreshviewError):
    """Why the changes of a query are known only by comparing two reads of it."""


def first_factor(e: Expr) -> Expr | None:
    """The factor with maps that a term begins with; sums around it only add up over its rows.

    >>> from freshview.calculus.text import read, show
    >>> e = read("Sum[a, x](Exists(M[a]) * (n := N[a]) * (x := {n + 1})) * (m := N[a])")
    >>> show(first_factor(e))
    'Exists(M[a])'
    """
    if isinstance(e, Sum):
        return first_factor(e.body)
    first = next((f for f in factors(e) if stored(f)), None)
    return first_factor(first) if isinstance(first, Sum) else first


def key_columns(q: Query) -> Columns:
    """The columns of a query that are keys of the map that it begins with."""
    first = first_factor(q.term)
    atom = first.body if isinstance(first, Exists) else first
    if not isinstance(atom, View) or atom.inputs:
        return ()
    visible = outs(q.term)
    return tuple(
        j for j, v in enumerate(q.vars) if v in atom.vars and v in visible and v not in q.vars[:j]
    )


def key_positions(q: Query, key: Columns, changing: Iterable[str]) -> KeyPositions:
    """Where the maps of a query have the key of its rows; NotCollected where one has not.

    A map that is not among the changing ones, since only static tables fill it, need not.
    """
    maps: dict[str, frozenset[Columns]] = {}
    for atom in distinct_subterms(q.term):
        if isinstance(atom, Delta) or (isinstance(atom, View) and atom.inputs):
            raise NotCollected(f"'{atom.name}' is not a map of its own")
        if isinstance(atom, View) and atom.name in changing:
            at = tuple(_position(q, j, atom) for j in key)
            maps[atom.name] = maps.get(atom.name, frozenset()) | {at}
    return maps


def _position(q: Query, column: int, atom: View) -> int:
    """Where a map has a key column of a query."""
    v = q.vars[column]
    if v not in atom.vars:
        name = q.columns[column].name
        raise NotCollected(f"a row of '{atom.name}' is in rows of several values of '{name}'")
    return atom.vars.index(v)
