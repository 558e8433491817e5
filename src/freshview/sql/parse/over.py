"""Window functions: fn(...) OVER (PARTITION BY ... ORDER BY ... frame), and named windows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal as OneOf

from freshview.calculus.types import NULL
from freshview.errors import UnknownName
from freshview.sql.frames import Edge, Frame, Unit
from freshview.sql.parse.node import Node, Readers
from freshview.sql.terms import Aggregate, Interval, Literal, OrderKey, Over, Scalar

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


@dataclass(frozen=True, slots=True)
class _Window:
    """What stands behind OVER, or behind a name in WINDOW."""

    partition: tuple[Scalar, ...] = ()
    order: tuple[OrderKey, ...] = ()
    frame: Frame | None = None


def order_keys(node: Node | None) -> tuple[OrderKey, ...]:
    """The keys of an ORDER BY."""
    if node is None or by_all(node) is not None:
        return ()
    node.only("expressions")
    keys = []
    for key in node.all("expressions"):
        key.only("this", "desc", "nulls_first")
        expr = key["this"].scalar()
        keys.append(OrderKey(expr, key.flag("desc"), key.flag("nulls_first"), key.at))
    return tuple(keys)


def by_all(node: Node | None) -> OrderKey | None:
    """ORDER BY ALL, which is by every column of the list."""
    keys = () if node is None else node.all("expressions")
    if len(keys) != 1 or keys[0]["this"].key != "var" or keys[0]["this"].word("this") != "ALL":
        return None
    (key,) = keys
    return OrderKey(Literal(None, NULL), key.flag("desc"), key.flag("nulls_first"), key.at)


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
    if _is_unbounded(spec, "start", "FOLLOWING") or _is_unbounded(spec, "end", "PRECEDING"):
        spec.refuse("a frame from its end to its beginning", "turn it around")
    start = _edge(spec, "start")
    end = _edge(spec, "end") if spec.flag("end") else Edge(0)
    return Frame(unit, start, end, _EXCLUDED[spec.word("exclude")])


def _is_unbounded(spec: Node, name: str, side: str) -> bool:
    return spec.word(name) == "UNBOUNDED" and spec.word(f"{name}_side") == side


def _edge(spec: Node, name: str) -> Edge:
    word = spec.word(name)
    if word == "UNBOUNDED":
        return Edge(None)
    if word == "CURRENT ROW":
        return Edge(0)
    node = spec[name]
    offset = node.scalar()
    unit: Unit | None = None
    count: int | float | Decimal | None = None
    match offset:
        case Interval(count, unit):
            pass
        case Literal(int() | float() | Decimal() as count):
            pass
    if count is None or count < 0:
        node.refuse("this offset of a frame", "write a number that is not below 0, or an interval")
    return Edge(count if spec.word(f"{name}_side") == "FOLLOWING" else -count, unit)


def _alone(node: Node) -> Scalar:
    fn = FUNCTIONS[node.key][0].upper()
    node.refuse(f"{fn} without OVER", f"write {fn}(...) OVER (ORDER BY ...)")


READERS: Readers = {"window": _over, **dict.fromkeys(FUNCTIONS, _alone)}
