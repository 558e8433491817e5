"""Transformers of transformers are one transformer (Nikolic 2016, Fig. 5.3).

    Repart . Repart => Repart       Repart . Scatter => Scatter      Gather . Repart => Gather
    Scatter . Gather => Repart      Gather . Scatter => nothing      T to where it is => nothing

All are one law: a move from p to q and then to r is a move from p to r. For replication: a copy on
all the workers of which each keeps a part is sent in parts.
"""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.terms import Expr, View
from freshview.calculus.walk import bottom_up
from freshview.distributed.search import transformer
from freshview.distributed.terms import Everywhere, Move, Placed, PlacedStatement


def simplify(s: PlacedStatement) -> PlacedStatement:
    """A statement without transformers directly around transformers."""
    return replace(s, source=_simple(s.source))


def _simple(p: Placed) -> Placed:
    term = p.term
    moves: list[Move] = []
    for move in p.moves:
        body = _simple(move.body)
        direct = _composed(replace(move, body=body))
        if isinstance(direct, Move):
            moves.append(direct)
        else:
            term = _inline(term, move.view.name, direct.term)
            moves.extend(direct.moves)
    return Placed(term, p.at, tuple(moves))


def _composed(outer: Move) -> Move | Placed:
    """One transformer for two, or none at all where the value already is."""
    inner = next((m for m in outer.body.moves if m.view == outer.body.term), None)
    source = outer.body if inner is None else inner.body
    kind = transformer(source.at, outer.to)
    if source.at == outer.to or (kind is None and isinstance(source.at, Everywhere)):
        return source
    return outer if kind is None else replace(outer, kind=kind, body=source)


def _inline(e: Expr, name: str, value: Expr) -> Expr:
    def swap(t: Expr) -> Expr | None:
        return value if isinstance(t, View) and t.name == name else None

    return bottom_up(e, swap)
