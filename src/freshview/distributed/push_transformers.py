"""Fewer and cheaper transformers in a statement (Nikolic 2016, 5.3.1)."""

from __future__ import annotations

from freshview.calculus.walk import Names
from freshview.distributed.communication_cost import CommunicationCostModel
from freshview.distributed.locate import placed
from freshview.distributed.locations import AtomLocations
from freshview.distributed.search import Search
from freshview.distributed.simplify_transformers import simplify
from freshview.distributed.terms import PlacedStatement
from freshview.program.terms import Statement


def push_transformers(
    s: Statement, places: AtomLocations, cost_model: CommunicationCostModel, names: Names
) -> PlacedStatement:
    """A statement with the cheapest transformers that the search finds.

    Moved parts of a batch are free for later statements, which share them.
    """
    search = Search(places, cost_model, lookahead=True)
    plan = search.best(s.term, s.target, places.atom(s.target))
    if plan is not None:
        cost_model.share(plan.transfers)
    return simplify(placed(s, plan, names))
