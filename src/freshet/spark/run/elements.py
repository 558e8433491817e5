"""Elements of rings on their way between nodes and to readers.

Numbers are Arrow columns of their own types. An element of a ring (a cofactor, a pair, a relation)
has no Arrow type: it goes from node to node as the bytes of a pickle, in blocks, logs and
answers alike. What users read are the numbers that a cofactor is made of (`runtime/payloads.py`).
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from freshet.calculus.functions import Functions
from freshet.calculus.schema import Column, Query
from freshet.calculus.terms import Lift, View
from freshet.calculus.types import Type
from freshet.calculus.walk import subterms
from freshet.errors import NotNative
from freshet.program.terms import Program
from freshet.runtime.payloads import Payloads, Variable, variables_of
from freshet.spark.run.node import Role
from freshet.spark.terms import Distributed

PROTOCOL = 5
"""Of the pickles: every Python that runs us knows it."""


def refuse_elements(made: Distributed, role: Role) -> None:
    """Kernels hold elements, but take none from other nodes: then Python keeps the maps."""
    held = [h for r in made.routines for h in r.held]
    held += [h for q in made.readouts for h in q.held]
    for h in (*made.held, *held):
        if is_element(h.payload):
            raise NotNative(
                f"the {role} would receive elements of {h.payload} for the map '{h.name}', which "
                "nodes on the reference engine do"
            )


def is_element(t: Type) -> bool:
    """Whether values of a type travel as bytes."""
    return t.kind == "ring"


def encoded(cells: Iterable[Any]) -> pa.Array:
    """Elements as a column of bytes.

    >>> from freshet.algebra import Cofactor
    >>> decoded(encoded([Cofactor.of("x", 3), 0]))
    [Cofactor(1, {'x': 3}, {('x', 'x'): 9}), 0]
    """
    return pa.array([pickle.dumps(x, PROTOCOL) for x in cells], pa.binary())


def decoded(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The inverse of `encoded`."""
    return [pickle.loads(data) for data in column.to_pylist()]


def values_of(column: pa.Array | pa.ChunkedArray, t: Type) -> list[Any]:
    """The Python values of a column."""
    values: list[Any] = decoded(column) if is_element(t) else column.to_pylist()
    return values


def payloads_of(query: Query, program: Program, functions: Functions) -> Payloads:
    """How the elements of a program's query lie in Arrow columns.

    The query reads maps; which variables these lift is in their definitions.
    """
    rings = {v: c for v, c in zip(query.vars, query.columns, strict=True) if is_element(c.type)}
    maps = {m.name: m for m in program.maps}
    found: dict[str, dict[str, Variable]] = {}
    for e in subterms(query.term):
        if isinstance(e, Lift) and e.var in rings:
            lifted = found.setdefault(rings[e.var].name, {})
            for view in (x for x in subterms(e.body) if isinstance(x, View)):
                m = maps[view.name]
                one = Query("", (Column("p", m.payload),), ("p",), Lift("p", m.definition))
                some = variables_of(one, program.relations, functions)
                lifted.update({v.name: v for v in some.get("p", ())})
    return Payloads(query, {name: tuple(lifted.values()) for name, lifted in found.items()})
