"""How to factorize: one frozen value that all passes of the compiler take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from freshview.factorized.order import VariableOrder
from freshview.factorized.products import Groups
from freshview.program.statistics import Statistics
from freshview.program.updates import Mode


@dataclass(frozen=True, slots=True)
class ViewTreeOptions:
    """The choices of the compiler.

    - `mode`: triggers for single rows, or for batches.
    - `orders`: variable orders by the name of the query; the others are searched for.
    - `statistics`: sizes that the search for an order reckons with.
    - `compact`: views in a chain become one.
    - `products`: relations that change by products of factors as well, and the columns of each
      factor (`products.py`).
    - `indicators`: views over part of a cycle are kept small by indicators of the rest of it.
    """

    mode: Mode = "batch"
    orders: Mapping[str, VariableOrder] = field(default_factory=dict)
    statistics: Statistics = field(default_factory=Statistics)
    compact: bool = True
    indicators: bool = True
    products: Groups = field(default_factory=dict)
