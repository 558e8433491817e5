"""Well-formed statements, bottom-up (Nikolic 2016, 5.2): transformers wherever locations clash.

Each part is settled before its context is looked at, so the result may move too much:

    M[a]^[a] += Repart[a](Sum[a](Repart[b](M1[a, b]) * M2[a, b]))      two rounds

`push_transformers.py` finds the one with a single round.
"""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.terms import Expr, View
from freshview.calculus.text import show
from freshview.calculus.walk import Names, bottom_up
from freshview.distributed.communication_cost import CommunicationCostModel
from freshview.distributed.location_rules import PartitionLocal
from freshview.distributed.locations import AtomLocations
from freshview.distributed.search import PlacedTerm, Search
from freshview.distributed.terms import Placed, PlacedStatement, PlacementProblem
from freshview.program.terms import Statement


def locate(
    s: Statement, places: AtomLocations, cost_model: CommunicationCostModel, names: Names
) -> PlacedStatement:
    """A statement with the transformers that it needs, found without looking ahead."""
    at = places.atom(s.target)
    plan = Search(places, cost_model, lookahead=False).best(s.term, s.target, at)
    if plan is None:
        # A part was decided too early: only its context determines what can be moved.
        plan = Search(places, cost_model, lookahead=True).best(s.term, s.target, at)
    return placed(s, plan, names)


def placed(s: Statement, plan: PlacedTerm | None, names: Names) -> PlacedStatement:
    """A plan as a statement, its transformers under fresh names."""
    if plan is None:
        raise PlacementProblem(
            f"no plan computes {show(s.target)} from the locations of its maps: {show(s.term)}",
            instead="place the maps that it reads on the driver, or replicate them",
        )
    assert not isinstance(plan.tag, PartitionLocal), (
        "no statement may write what is right in part only"
    )
    return PlacedStatement(
        s.target, s.op, with_fresh_views(Placed(plan.term, plan.tag, plan.moves), names)
    )


def with_fresh_views(p: Placed, names: Names) -> Placed:
    """The same with fresh names for the views of transformers, in the order of the text."""
    moves = []
    term = p.term
    for move in {m.view.name: m for m in p.moves}.values():  # a part may stand twice in a term
        body = with_fresh_views(move.body, names)
        view = View(names.fresh("got"), move.view.vars)
        term = _with(term, move.view.name, view.name)
        moves.append(replace(move, view=view, body=body))
    return Placed(term, p.at, tuple(moves))


def _with(e: Expr, old: str, new: str) -> Expr:
    def swap(t: Expr) -> Expr | None:
        return replace(t, name=new) if isinstance(t, View) and t.name == old else None

    return bottom_up(e, swap)
