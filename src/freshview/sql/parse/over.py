"""Window functions: fn(...) OVER (PARTITION BY ... ORDER BY ... frame), and named windows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal as OneOf

from freshview.calculus.types import INT
from freshview.errors import UnknownName
from freshview.sql.parse.node import Node, Readers
from freshview.sql.terms import Aggregate, Edge, Frame, Interval, Literal, OrderKey, Over, Scalar

FUNCTIONS = {
    "rownumber": ("row_number", 0, 0),
    "rank": ("rank", 0, 0),
    "denserank": ("dense_rank", 0, 0),
    "percentrank": ("percent_rank", 0, 0),
    "cumedist": ("cume_dist", 0, 0),
    "ntile": ("ntile", 1, 1),
    "lag": ("lag", 1, 3),
    "lead": ("lead", 1, 3),
    "nthvalue": ("nth_value", 2, 2),
}
"""Functions of a window alone: what the parser calls them, their names, how many arguments."""

_EXCLUDED: dict[str, OneOf["", "current row", "group", "ties"]] = {
    "": "",
    "NO OTHERS": "",
    "CURRENT ROW": "current row",
    "GROUP": "group",
    "TIES": "ties",
}
_UNITS: dict[str, OneOf["rows", "range", "groups"]] = {
    "ROWS": "rows",
    "RANGE": "range",
    "GROUPS": "groups",
}
CURRENT = Literal(0, INT)


@dataclass(frozen=True, slots=True)
class _Window:
    """What stands behind OVER, or behind a name in WINDOW."""

    partition: tuple[Scalar, ...] = ()
    order: tuple[OrderKey, ...] = ()
    frame: Frame | None = None


def order_keys(node: Node | None) -> tuple[OrderKey, ...]:
    """The keys of an ORDER BY."""
    if node is None:
        return ()
    node.only("expressions")
    keys = []
    for key in node.all("expressions"):
        key.only("this", "desc", "nulls_first")
        expr = key["this"].scalar()
        keys.append(OrderKey(expr, key.flag("desc"), key.flag("nulls_first"), key.at))
    return tuple(keys)


def _over(node: Node) -> Scalar:
    node.only("this", "partition_by", "order", "spec", "alias", "over", "first")
    call = _function(node["this"])
    window = _window(node)
    return replace(
        call, partition=window.partition, order=window.order, frame=window.frame, at=node.at
    )


def _function(node: Node) -> Over:
    """The function, its window left open."""
    if node.key in ("ignorenulls", "respectnulls"):
        node.only("this")
        return replace(_function(node["this"]), ignore_nulls=node.key == "ignorenulls")
    if node.key in FUNCTIONS:
        fn, low, high = FUNCTIONS[node.key]
        names = [n for n in node.raw.arg_types if n != "expressions" and node.flag(n)]
        operands = [*(node[n] for n in names), *node.all("expressions")]
        if not low <= len(operands) <= high:
            node.refuse(f"{fn.upper()} of {len(operands)} arguments", f"give it {high}")
        return Over(fn, tuple(x.scalar() for x in operands), at=node.at)
    call = node.scalar()
    if not isinstance(call, Aggregate):
        node.refuse("OVER here", "write it behind an aggregate or a window function")
    return Over(call.fn, call.args, distinct=call.distinct, at=node.at)


def _window(node: Node) -> _Window:
    """The window of a node, on top of the one that it names."""
    named = _Window() if node.get("alias") is None else _named(node["alias"], node)
    partition = tuple(n.scalar() for n in node.all("partition_by"))
    order, spec = order_keys(node.get("order")), node.get("spec")
    frame = named.frame if spec is None else _frame(spec)
    return _Window(partition or named.partition, order or named.order, frame)


def _named(name: Node, node: Node) -> _Window:
    """The window that WINDOW of the same SELECT declares by a name."""
    select = node.raw.parent_select
    for raw in (select.args.get("windows") if select is not None else None) or ():
        if raw.name.lower() == name.name.lower() and raw is not node.raw:
            return _window(node.beside(raw))
    raise UnknownName(
        f"there is no window '{name.name}'", instead="declare it with WINDOW", at=node.at
    )


def _frame(spec: Node) -> Frame:
    spec.only("kind", "start", "start_side", "end", "end_side", "exclude")
    unit = _UNITS[spec.word("kind")]
    start = _edge(spec, "start")
    end = _edge(spec, "end") if spec.flag("end") else Edge(CURRENT, True)
    frame = Frame(unit, start, end, _EXCLUDED[spec.word("exclude")])
    if (start.offset is None and start.following) or (end.offset is None and not end.following):
        spec.refuse("a frame from its end to its beginning", "turn it around")
    return frame


def _edge(spec: Node, name: str) -> Edge:
    following = spec.word(f"{name}_side") == "FOLLOWING"
    word = spec.word(name)
    if word == "UNBOUNDED":
        return Edge(None, following)
    if word == "CURRENT ROW":
        return Edge(CURRENT, True)
    node = spec[name]
    offset = node.scalar()
    if not isinstance(offset, Literal | Interval) or _is_below_zero(offset):
        node.refuse("this offset of a frame", "write a number that is not below 0, or an interval")
    return Edge(offset, following)


def _is_below_zero(offset: Literal | Interval) -> bool:
    amount = offset.count if isinstance(offset, Interval) else offset.value
    return not isinstance(amount, int | float | Decimal) or amount < 0


def _alone(node: Node) -> Scalar:
    fn = FUNCTIONS[node.key][0].upper()
    node.refuse(f"{fn} without OVER", f"write {fn}(...) OVER (ORDER BY ...)")


READERS: Readers = {"window": _over, **dict.fromkeys(FUNCTIONS, _alone)}
