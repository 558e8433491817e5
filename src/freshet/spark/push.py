"""Fewer and cheaper transformers in a statement (thesis 5.3.1)."""

from __future__ import annotations

from freshet.calculus.walk import Names
from freshet.program.terms import Statement
from freshet.spark.locate import placed
from freshet.spark.places import Places
from freshet.spark.prices import Prices
from freshet.spark.search import Search
from freshet.spark.simplify import simplify
from freshet.spark.terms import PlacedStatement


def push(s: Statement, places: Places, prices: Prices, names: Names) -> PlacedStatement:
    """A statement with the cheapest transformers that the search finds.

    What it moves of a batch is free for the statements after it: they will share it.
    """
    search = Search(places, prices, lookahead=True)
    plan = search.best(s.term, s.target, places.atom(s.target))
    if plan is not None:
        prices.pay(plan.bill)
    return simplify(placed(s, plan, names))
