"""Single transformer form (Nikolic 2016, 5.3.2): every transformer is a step over one map.

    M[a] += Sum[a](M1[a, b] * Repart[a](Sum[a, b]((DELTA R)(a, b, c))))

becomes

    send[a, b] := Sum[a, b]((DELTA R)(a, b, c));        each worker its part
    got := Repart[a](send);
    M[a] += Sum[a](M1[a, b] * got[a, b]);
"""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.check import Schema, infer
from freshview.calculus.functions import Functions
from freshview.calculus.schema import Column
from freshview.calculus.terms import View
from freshview.calculus.types import Type
from freshview.calculus.walk import Names
from freshview.distributed.terms import (
    Compute,
    Everywhere,
    Location,
    MapPlacement,
    Move,
    Placed,
    PlacedStatement,
    Replicated,
    Slice,
    Step,
    Transfer,
    keys_of,
)
from freshview.program.terms import Program, Statement

_COPIES = (Replicated, Everywhere)


class SingleTransformer:
    """Turns statements into steps; `held` collects the temporary maps that they need."""

    def __init__(
        self,
        program: Program,
        functions: Functions,
        names: Names,
        kept: Iterable[MapPlacement] = (),
    ) -> None:
        self.names = names
        self.temporaries: list[MapPlacement] = []
        self._maps: dict[str, tuple[tuple[Type, ...], Type]] = {
            m.name: (tuple(c.type for c in m.keys), m.payload) for m in program.maps
        }
        self._maps |= {t.name: (tuple(c.type for c in t.keys), t.payload) for t in kept}
        self._schema = Schema({r.name: r.types for r in program.relations}, self._maps, functions)

    def steps(self, statements: Iterable[PlacedStatement], at: Iterable[Location]) -> list[Step]:
        """The steps of statements whose targets are at these locations."""
        steps: list[Step] = []
        for s, place in zip(statements, at, strict=True):
            steps += self._before(s.source)
            steps.append(Compute(Statement(s.target, s.op, s.source.term), place))
        return steps

    def _before(self, p: Placed) -> list[Step]:
        """The steps that must run before a term can be evaluated."""
        steps: list[Step] = []
        for move in p.moves:
            steps += self._before(move.body)
            source = self._source(move, steps)
            types, payload = self._maps[source]
            name, columns = move.view.name, move.view.vars
            self._declare(name, columns, types, payload, move.to)
            by, copies = _positions(move.to, columns), isinstance(move.body.at, _COPIES)
            slices = move.body.at if isinstance(move.body.at, Slice) else None
            steps.append(Transfer(move.kind, source, name, move.to, by, copies, slices))
        return steps

    def _source(self, move: Move, before: list[Step]) -> str:
        """The map to move: an existing one, or a new one."""
        body, columns = move.body, move.view.vars
        if isinstance(body.term, View) and body.term.vars == columns:
            return body.term.name
        name = self.names.fresh("send")
        payload, types = infer(body.term, self._schema)
        at = Replicated() if isinstance(body.at, Everywhere) else body.at
        self._declare(name, columns, tuple(types[c] for c in columns), payload, at)
        before.append(Compute(Statement(View(name, columns), ":=", body.term), at))
        return name

    def _declare(
        self,
        name: str,
        columns: tuple[str, ...],
        types: tuple[Type, ...],
        payload: Type,
        at: Location,
    ) -> None:
        keys = tuple(Column(c, t) for c, t in zip(columns, types, strict=True))
        self._maps[name] = types, payload
        self.temporaries.append(MapPlacement(name, keys, payload, at, temporary=True))


def _positions(to: Location, columns: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(columns.index(k) for k in keys_of(to))
