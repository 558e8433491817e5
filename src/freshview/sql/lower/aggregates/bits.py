"""BIT_AND, BIT_OR and BIT_XOR: of how many values have each of the 64 bits.

Such counts follow deletions, as the answer itself does not. Two of them are in one sum, a bit of
the lower half and the one of the same place in the upper half, each with 31 bits.
"""

from __future__ import annotations

from freshview.calculus.build import const
from freshview.calculus.terms import Apply
from freshview.calculus.types import INT
from freshview.errors import TypeProblem
from freshview.sql.lower.aggregates.group import Computed, Group
from freshview.sql.lower.val import Val

FUNCTIONS = ("bit_and", "bit_or", "bit_xor")


def of_bits(fn: str, argument: Val, group: Group) -> Val:
    """One of `FUNCTIONS` of the integers of a group; NULL where there are none."""
    if argument.type.kind not in ("int", "null"):
        raise TypeProblem(f"{fn.upper()} needs integers, not {argument.type.kind}")
    bits = Computed(group)
    n = bits.let("count", group.total(*argument.present))
    pairs = [
        bits.let(
            "pair", group.total(*argument.present, Apply("bit_pair", (argument.term, const(i))))
        )
        for i in range(32)
    ]
    answer = Apply(f"{fn}_of_counts", (n, *pairs))
    var = bits.let(fn, Apply("when", (n, answer)))
    return Val(var, INT.or_null(), tuple(bits.prefix), (var.name,))
