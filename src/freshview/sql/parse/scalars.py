"""Scalar expressions and conditions of the parser's tree, as our own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from math import isfinite

from freshview.calculus.casts import MOST_DIGITS
from freshview.calculus.domain import is_decimal, is_int
from freshview.calculus.terms import Op
from freshview.calculus.types import (
    BOOL,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    decimal,
    type_of,
)
from freshview.errors import SyntaxProblem, TypeProblem
from freshview.sql.parse import selects as read_select
from freshview.sql.parse.node import Node
from freshview.sql.terms import (
    Aggregate,
    And,
    Arith,
    Call,
    Case,
    Cast,
    Compare,
    ExistsQuery,
    InList,
    Interval,
    IsNull,
    IsTruth,
    Lifted,
    Literal,
    Name,
    Not,
    Or,
    Quantified,
    Same,
    Scalar,
    ScalarQuery,
    Select,
)

COMPARISONS: dict[str, Op] = {
    "eq": "=",
    "neq": "<>",
    "lt": "<",
    "lte": "<=",
    "gt": ">",
    "gte": ">=",
}
LIFTS = ": "
"""What stands between a lifting function and its ring, in the one name that the parser sees."""

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}
AGGREGATES = frozenset({"sum", "count", "avg", "min", "max"})
# Functions whose name in the parser's tree is not the one of our registry.
RENAMED = {
    "tsordstodate": "date",
    "datediff": "days_between",
    "pow": "power",
    "dayofmonth": "day",
}
NARROW = 18
"""Decimals that are declared with no more digits have 64 bits in a kernel, until more come."""

UNITS: dict[str, tuple[str, int]] = {
    "SECOND": ("seconds", 1),
    "MINUTE": ("seconds", 60),
    "HOUR": ("seconds", 3600),
    "DAY": ("days", 1),
    "WEEK": ("days", 7),
    "MONTH": ("months", 1),
    "QUARTER": ("months", 3),
    "YEAR": ("months", 12),
}
MOST_APART = {"months": 12 * 10_000, "days": 366 * 10_000, "seconds": 86_400 * 366 * 10_000}
TYPES: dict[str, Type] = {
    **dict.fromkeys(("INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "LONG"), INT),
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL"), DOUBLE),
    **dict.fromkeys(("STRING", "VARCHAR", "CHAR", "TEXT", "NCHAR", "NVARCHAR"), STRING),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ", "DATETIME"), TIMESTAMP),
    **dict.fromkeys(("BOOLEAN", "BOOL"), BOOL),
    **dict.fromkeys(("DECIMAL", "NUMERIC", "DEC"), decimal(0)),
    "DATE": DATE,
}


def scalar(node: Node) -> Scalar:
    """An expression; what we do not know is refused."""
    key = node.key
    if node.flag("negate"):
        node.raw.set("negate", None)
        return Not(scalar(node), node.at)
    if key in COMPARISONS:
        return _comparison(node, COMPARISONS[key])
    if key in ARITHMETIC:
        return _arithmetic(node)
    if key in AGGREGATES:
        return _aggregate(node)
    reader = _READERS.get(key)
    if reader is not None:
        return reader(node)
    return _function(node)


def read_type(name: str, sizes: list[int]) -> Type:
    """A column type by its SQL name; DECIMAL(p, s) keeps s digits after the point."""
    if name.upper() not in TYPES:
        raise TypeProblem(
            f"the type {name} is not known",
            instead="use INT, DOUBLE, DECIMAL(p, s), STRING, DATE, TIMESTAMP or BOOLEAN",
        )
    t = TYPES[name.upper()]
    if t.kind != "decimal":
        return t
    digits, scale = (*sizes, *(10, 0)[len(sizes) :])[:2]
    if not 0 < digits <= MOST_DIGITS or scale > digits or len(sizes) > 2:
        raise TypeProblem(
            f"there is no DECIMAL({', '.join(map(str, sizes))})",
            instead=f"give at most {MOST_DIGITS} digits, and not more after the point",
        )
    return replace(decimal(scale), wide=digits > NARROW)


def _name(node: Node) -> Scalar:
    node.only("this", "table")
    if node["this"].key == "star":
        node.refuse("* in an expression", "name the column")
    table = node.get("table")
    return Name(node["this"].name, None if table is None else table.name, node.at)


def _literal(node: Node) -> Scalar:
    text = node.name
    if node.flag("is_string"):
        if any("\ud800" <= c <= "\udfff" for c in text):
            node.refuse("half of a surrogate pair", "write a whole character")
        return Literal(text, STRING, node.at)
    if not _NUMBER.fullmatch(text):
        node.refuse(f"the number {text}", "write it like 1, 1.5 or 1.5e0")
    value = float(text) if "e" in text.lower() else Decimal(text) if "." in text else int(text)
    if isinstance(value, int) and not is_int(value):
        value = Decimal(value)  # as in Spark: what is no integer is a decimal without fraction
    if isinstance(value, Decimal) and not is_decimal(value):
        node.refuse(f"a number of more than {MOST_DIGITS} digits", "write a DOUBLE, like 1e40")
    if isinstance(value, float) and not isfinite(value):
        node.refuse("a number that no DOUBLE holds", "the largest one is about 1.8e308")
    return Literal(value, type_of(value), node.at)


def _negative(node: Node) -> Scalar:
    arg = scalar(node["this"])
    if isinstance(arg, Literal) and isinstance(arg.value, int | float | Decimal):
        return Literal(-arg.value, arg.type, node.at)
    return Arith("-", Literal(0, INT, node.at), arg, node.at)


def both(*conditions: Scalar) -> Scalar:
    """A AND b AND ..., flat."""
    parts = [p for c in conditions for p in (c.parts if isinstance(c, And) else (c,))]
    return And(tuple(parts), conditions[0].at)


def either(*conditions: Scalar) -> Scalar:
    """A OR b OR ..., flat."""
    parts = [p for c in conditions for p in (c.parts if isinstance(c, Or) else (c,))]
    return Or(tuple(parts), conditions[0].at)


def _arithmetic(node: Node) -> Scalar:
    """A chain of + and -, or of * and / and %, from left to right."""
    links: list[Node] = []
    while node.key in ARITHMETIC:
        node.only("this", "expression")
        links.append(node)
        node = node["this"]
    total = scalar(node)
    for link in reversed(links):
        total = Arith(ARITHMETIC[link.key], total, scalar(link["expression"]), link.at)
    return total


def _concatenation(node: Node) -> Scalar:
    return Call("concat", tuple([scalar(n) for n in node.chain()]), node.at)


def _in_parentheses(node: Node) -> Scalar:
    while node.key == "paren":
        node = node["this"]
    return scalar(node)


def _comparison(node: Node, op: Op) -> Scalar:
    node.only("this", "expression")
    left, right = node["this"], node["expression"]
    if right.key in ("any", "all"):
        query = _query(right["this"])
        return Quantified(op, right.key == "all", _tuple(left), query, node.at)
    if left.key in ("any", "all"):
        left.refuse(f"{left.key.upper()} on the left", "put the subquery on the right")
    if "tuple" in (left.key, right.key):
        node.refuse("a comparison of rows", "compare column by column")
    return Compare(op, scalar(left), scalar(right), node.at)


def _tuple(node: Node) -> tuple[Scalar, ...]:
    if node.key == "tuple":
        return tuple(scalar(n) for n in node.all("expressions"))
    return (scalar(node),)


def _query(node: Node) -> Select:
    if node.key == "subquery" and not node.alias:
        return _query(node["this"])
    if node.key == "paren":
        return _query(node["this"])
    return read_select.select(node)


def _between(node: Node) -> Scalar:
    node.only("this", "low", "high")
    arg = scalar(node["this"])
    low = Compare(">=", arg, scalar(node["low"]), node.at)
    return both(low, Compare("<=", arg, scalar(node["high"]), node.at))


def _in(node: Node) -> Scalar:
    node.only("this", "expressions", "query")
    query = node.get("query")
    if query is not None:
        return Quantified("=", False, _tuple(node["this"]), _query(query), node.at)
    items = tuple(scalar(n) for n in node.all("expressions"))
    if not items:
        node.refuse("IN with an empty list", "write FALSE")
    return InList(scalar(node["this"]), items, node.at)


def _is(node: Node) -> Scalar:
    node.only("this", "expression")
    right = node["expression"]
    if right.key == "null":
        return IsNull(scalar(node["this"]), node.at)
    if right.key == "boolean":
        return IsTruth(scalar(node["this"]), right.flag("this"), node.at)
    right.refuse(f"IS {right.key.upper()}", "use IS NULL, IS TRUE or IS FALSE")


def _same(node: Node) -> Scalar:
    return Same(scalar(node["this"]), scalar(node["expression"]), node.at)


def _like(node: Node) -> Scalar:
    node.only("this", "expression")
    if node["expression"].key in ("any", "all"):
        node.refuse("LIKE with several patterns", "join several LIKE with OR or AND")
    return Call("like", (scalar(node["this"]), scalar(node["expression"])), node.at)


def _escape(node: Node) -> Scalar:
    """X LIKE pattern ESCAPE c."""
    node.only("this", "expression")
    inner, escape = scalar(node["this"]), scalar(node["expression"])
    likes = inner.arg if isinstance(inner, Not) else inner
    if not (isinstance(likes, Call) and likes.fn == "like" and len(likes.args) == 2):
        node.refuse("ESCAPE here", "write it behind LIKE and its pattern")
    if (
        not (isinstance(escape, Literal) and isinstance(escape.value, str))
        or len(escape.value) != 1
    ):
        node.refuse("this ESCAPE", "give one character, as in ESCAPE '!'")
    whole = Call("like", (*likes.args, escape), likes.at)
    return Not(whole, inner.at) if isinstance(inner, Not) else whole


def _exists(node: Node) -> Scalar:
    return ExistsQuery(_query(node["this"]), node.at)


def _subquery(node: Node) -> Scalar:
    node.only("this")
    return ScalarQuery(_query(node), node.at)


def _case(node: Node) -> Scalar:
    node.only("this", "ifs", "default")
    operand = node.get("this")
    branches = []
    for branch in node.all("ifs"):
        when = scalar(branch["this"])
        if operand is not None:
            when = Compare("=", scalar(operand), when, branch.at)
        branches.append((when, scalar(branch["true"])))
    default = node.get("default")
    return Case(tuple(branches), None if default is None else scalar(default), node.at)


def _if(node: Node) -> Scalar:
    node.only("this", "true", "false")
    otherwise = node.get("false")
    branch = (scalar(node["this"]), scalar(node["true"]))
    return Case((branch,), None if otherwise is None else scalar(otherwise), node.at)


def _cast(node: Node) -> Scalar:
    node.only("this", "to")
    to = node["to"]
    name = str(getattr(to.raw.this, "value", to.raw.this))
    if to.flag("nested") or name.upper() not in TYPES:
        node.refuse(
            f"CAST to {to.raw.sql('spark')}",
            "cast to INT, DOUBLE, DECIMAL(p, s), STRING, DATE, TIMESTAMP or BOOLEAN",
        )
    sizes = [int(p["this"].name) for p in to.all("expressions") if p["this"].name.isdigit()]
    try:
        t, digits = read_type(name, sizes), _digits(sizes)
    except TypeProblem as problem:
        raise problem.located(node.at) from None
    return Cast(scalar(node["this"]), t, digits, node.flag("safe"), node.at)


def _digits(sizes: list[int]) -> int:
    """How many digits a DECIMAL has: as many as are given, or 10 as in Spark."""
    return sizes[0] if sizes else 10


def _interval(node: Node) -> Scalar:
    node.only("this", "unit")
    unit = node.word("unit").removesuffix("S")
    amount = node["this"]
    count = amount.raw.name.strip() if amount.key == "literal" else ""
    if unit not in UNITS or not re.fullmatch(r"[+-]?\d{1,1000}", count, re.ASCII):
        node.refuse("this INTERVAL", "write it as INTERVAL '3' MONTH, with one number and one unit")
    kind, factor = UNITS[unit]
    total = int(count) * factor
    if abs(total) > MOST_APART[kind]:
        raise TypeProblem(
            f"INTERVAL '{count[:40]}' {unit} is longer than the years 1 to 9999",
            instead="write a shorter one",
            at=node.at,
        )
    return Interval(total, kind, node.at)  # type: ignore[arg-type]


def _extract(node: Node) -> Scalar:
    node.only("this", "expression")
    return Call(node.word("this").lower(), (scalar(node["expression"]),), node.at)


def _aggregate(node: Node) -> Scalar:
    node.only("this", "expressions")
    argument = node.get("this")
    fn = node.key
    if argument is None:
        raise SyntaxProblem(
            f"{fn.upper()}() has no argument",
            instead="write COUNT(*)" if fn == "count" else "name the column",
            at=node.at,
        )
    if argument.key == "star":
        if fn != "count":
            node.refuse(f"{fn.upper()}(*)", "name the column")
        return Aggregate(fn, (), False, node.at)
    if argument.key == "distinct":
        argument.only("expressions")
        args = tuple(scalar(n) for n in argument.all("expressions"))
        if not args:
            raise SyntaxProblem(
                f"{fn.upper()}(DISTINCT) has no argument",
                instead=f"name the column, as in {fn.upper()}(DISTINCT x)",
                at=node.at,
            )
        distinct = True
    else:
        args = (scalar(argument), *(scalar(n) for n in node.all("expressions")))
        distinct = False
    if len(args) > 1 and not (fn == "count" and distinct):
        node.refuse(f"{fn.upper()} of several columns", "give it one expression")
    return Aggregate(fn, args, distinct, node.at)


def _filtered(node: Node) -> Scalar:
    """SUM(x) FILTER (WHERE p) is SUM(CASE WHEN p THEN x END)."""
    node.only("this", "expression")
    inner, when = scalar(node["this"]), scalar(node["expression"]["this"])
    if not isinstance(inner, Aggregate) or len(inner.args) > 1:
        node.refuse("FILTER here", "put the condition into a CASE inside the aggregate")
    value = inner.args[0] if inner.args else Literal(1, INT, node.at)
    return Aggregate(inner.fn, (Case(((when, value),), None, node.at),), inner.distinct, node.at)


def _add_days(node: Node) -> Scalar:
    if node.word("unit") not in ("", "DAY"):
        node.refuse("this unit", "add an INTERVAL")
    return Call("add_days", (scalar(node["this"]), scalar(node["expression"])), node.at)


def _anonymous(node: Node) -> Scalar:
    args = tuple(scalar(n) for n in node.all("expressions"))
    fn, lifts, ring = str(node.raw.this).partition(LIFTS)
    if lifts:
        return Lifted(fn, ring, args, node.at)
    return Call(fn.lower(), args, node.at)


_REMEDIES = {
    "window": ("OVER", "a GROUP BY, or a join with a grouped subquery,"),
    "star": ("*", "COUNT(*)"),
    "ilike": ("ILIKE", "LOWER(x) LIKE 'pattern in lower case'"),
    "rollup": ("ROLLUP", "one view for each grouping"),
    "cube": ("CUBE", "one view for each grouping"),
    "groupingsets": ("GROUPING SETS", "one view for each grouping"),
    "intdiv": ("DIV", "CAST(a / b AS INT)"),
}
"""What the parser reads and we do not maintain: its SQL name, and what to write."""


def _function(node: Node) -> Scalar:
    """Any other function by its own name, its arguments in their order."""
    raw = node.raw
    if not hasattr(raw, "sql_names") and node.key not in RENAMED:
        what, instead = _REMEDIES.get(node.key, (node.key.upper(), "another expression"))
        node.refuse(what, f"write {instead} instead")
    args: list[Scalar] = []
    for name in raw.arg_types:
        given = raw.args.get(name)
        if isinstance(given, list):
            args.extend(scalar(n) for n in node.all(name))
        elif getattr(given, "key", "") == "var":
            node.refuse(str(raw.sql_names()[0]), "compare with constants, or use EXTRACT")
        elif hasattr(given, "walk"):
            args.append(scalar(node[name]))
    node.only(*(name for name, given in raw.args.items() if not isinstance(given, str | bool)))
    fn = RENAMED.get(node.key) or str(raw.sql_names()[0]).lower()
    return Call(fn, tuple(args), node.at)


_READERS: dict[str, Callable[[Node], Scalar]] = {
    "column": _name,
    "identifier": lambda n: Name(n.name, None, n.at),
    "literal": _literal,
    "boolean": lambda n: Literal(n.flag("this"), BOOL, n.at),
    "null": lambda n: Literal(None, type_of(None), n.at),
    "neg": _negative,
    "paren": _in_parentheses,
    "dpipe": _concatenation,
    "and": lambda n: both(*(scalar(p) for p in n.chain())),
    "or": lambda n: either(*(scalar(p) for p in n.chain())),
    "not": lambda n: Not(scalar(n["this"]), n.at),
    "between": _between,
    "in": _in,
    "is": _is,
    "like": _like,
    "escape": _escape,
    "nullsafeeq": _same,
    "nullsafeneq": lambda n: Not(_same(n), n.at),
    "exists": _exists,
    "subquery": _subquery,
    "select": lambda n: ScalarQuery(_query(n), n.at),
    "case": _case,
    "if": _if,
    "cast": _cast,
    "trycast": _cast,
    "interval": _interval,
    "extract": _extract,
    "filter": _filtered,
    "tsordsadd": _add_days,
    "dateadd": _add_days,
    "anonymous": _anonymous,
    "alias": lambda n: n.refuse("AS here", "name columns in the SELECT list only"),
}
