"""Fewer and cheaper transformers in a statement (thesis 5.3.1)."""

from __future__ import annotations

from freshview.calculus.walk import Names
from freshview.program.terms import Statement
from freshview.spark.locate import placed
from freshview.spark.places import Places
from freshview.spark.prices import Prices
from freshview.spark.search import Search
from freshview.spark.simplify import simplify
from freshview.spark.terms import PlacedStatement


def push(s: Statement, places: Places, prices: Prices, names: Names) -> PlacedStatement:
    """A statement with the cheapest transformers that the search finds.

    What it moves of a batch is free for the statements after it: they will share it.
    """
    search = Search(places, prices, lookahead=True)
    plan = search.best(s.term, s.target, places.atom(s.target))
    if plan is not None:
        prices.pay(plan.bill)
    return simplify(placed(s, plan, names))
