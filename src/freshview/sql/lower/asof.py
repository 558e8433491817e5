"""ASOF JOIN: beside a row on the left the nearest one on the right, a Top of those that match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freshview.calculus.build import sum_, top
from freshview.calculus.terms import Op, Order, Var
from freshview.errors import UnsupportedSql
from freshview.sql.lower.env import Env
from freshview.sql.lower.joined import Joined
from freshview.sql.lower.products import assign, product
from freshview.sql.terms import Compare, Join, Ref, Scalar
from freshview.sql.walk import inside

_LARGEST: dict[Op, bool] = {">": True, ">=": True, "<": False, "<=": False}
"""Whether the nearest value is the largest one: it is if left > right."""


def nearest(j: Join, right: Joined, tests: Sequence[Scalar], env: Env) -> Joined:
    """The right side with the nearest of the rows that meet the tests; ties go by its columns.

    Of the tests the first one with <, <=, > or >= says what is near; others only restrict.
    """
    value, largest = _match(j, right, tests)
    names = env.names
    v = env.value(value)
    held = v.term if isinstance(v.term, Var) and not v.prefix else Var(names.fresh("near"))
    bound = () if held is v.term else assign(held.name, v, env.catalog.functions)
    rows = product(*right.factors, *bound, *(env.condition(t, True) for t in tests))
    ties = (Order(c.var, False, True) for i in right.items for c in i.columns)
    order = (Order(held.name, largest), *(o for o in ties if o.var != held.name))
    chosen = top((), order, 1, sum_(tuple(dict.fromkeys((*right.vars, held.name))), rows))
    return replace(right, factors=(sum_(right.vars, chosen),))


def _match(j: Join, right: Joined, tests: Sequence[Scalar]) -> tuple[Scalar, bool]:
    """What is compared on the right, and whether its largest value is the nearest one."""
    theirs = set(right.vars)
    for test in tests:
        if not isinstance(test, Compare) or test.op not in _LARGEST:
            continue
        sides = [{x.var for x in inside(e) if isinstance(x, Ref)} for e in (test.left, test.right)]
        largest = _LARGEST[test.op]
        if sides[1] and sides[1] <= theirs and not sides[0] & theirs:
            return test.right, largest
        if sides[0] and sides[0] <= theirs and not sides[1] & theirs:
            return test.left, not largest
    raise UnsupportedSql(
        "ASOF JOIN without a comparison of both sides by <, <=, > or >= is not supported",
        instead="write MATCH_CONDITION (a.time >= b.time)",
        at=j.at,
    )
