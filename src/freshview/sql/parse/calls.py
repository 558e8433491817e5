"""Arithmetic, CASE, CAST and calls of scalar functions."""

from __future__ import annotations

from collections.abc import Callable

from freshview.calculus.functions import BUILTINS
from freshview.calculus.types import DATE, STRING
from freshview.errors import Place, TypeProblem
from freshview.sql.ddl.types import BITS, TYPES, read_type
from freshview.sql.parse.functions import OF_UNITS
from freshview.sql.parse.intervals import together
from freshview.sql.parse.node import Node, Readers
from freshview.sql.parse.time_windows import FIELD
from freshview.sql.parse.written import EXPRESSIONS
from freshview.sql.terms import (
    Arith,
    Call,
    Case,
    Cast,
    Compare,
    Interval,
    Lifted,
    Literal,
    Name,
    Scalar,
)

LIFTS = ": "
"""What stands between a lifting function and its ring, in the one name that the parser sees."""

ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}

# Functions whose name in the parser's tree is not the one of our registry.
RENAMED = {
    "tsordstodate": "date",
    "datediff": "days_between",
    "pow": "power",
    "dayofmonth": "day",
}


def _arithmetic(node: Node) -> Scalar:
    """A chain of + and -, or of * and / and %, from left to right."""
    links: list[Node] = []
    while node.key in ARITHMETIC:
        node.only("this", "expression")
        links.append(node)
        node = node["this"]
    total = node.scalar()
    for link in reversed(links):
        total = _linked(ARITHMETIC[link.key], total, link["expression"].scalar(), link.at)
    return total


def _linked(op: str, left: Scalar, right: Scalar, at: Place) -> Scalar:
    """Left op right; constant intervals side by side are one: INTERVAL 1 YEAR 2 MONTHS."""
    if isinstance(left, Interval) and isinstance(right, Interval) and op in ("+", "-"):
        both = together(left, right, 1 if op == "+" else -1)
        if both is not None:
            return both
    return Arith(op, left, right, at)


def _concatenation(node: Node) -> Scalar:
    return Call("concat", tuple([n.scalar() for n in node.chain()]), node.at)


def _in_parentheses(node: Node) -> Scalar:
    while node.key == "paren":
        node = node["this"]
    return node.scalar()


def _case(node: Node) -> Scalar:
    node.only("this", "ifs", "default")
    operand = node.get("this")
    branches = []
    for branch in node.all("ifs"):
        when = branch["this"].scalar()
        if operand is not None:
            when = Compare("=", operand.scalar(), when, branch.at)
        branches.append((when, branch["true"].scalar()))
    default = node.get("default")
    return Case(tuple(branches), None if default is None else default.scalar(), node.at)


def _if(node: Node) -> Scalar:
    node.only("this", "true", "false")
    otherwise = node.get("false")
    branch = (node["this"].scalar(), node["true"].scalar())
    return Case((branch,), None if otherwise is None else otherwise.scalar(), node.at)


def _cast(node: Node) -> Scalar:
    node.only("this", "to")
    to = node["to"]
    name = str(getattr(to.raw.this, "value", to.raw.this))
    if to.flag("nested") or name.upper() not in TYPES:
        node.refuse(
            f"CAST to {to.raw.sql('spark') if to.flag('nested') or name == 'None' else name}",
            "cast to INT, DOUBLE, DECIMAL(p, s), STRING, DATE, TIMESTAMP or BOOLEAN",
        )
    sizes = [int(p["this"].name) for p in to.all("expressions") if p["this"].name.isdigit()]
    try:
        t, digits = read_type(name, sizes), BITS.get(name.upper()) or _digits(sizes)
    except TypeProblem as problem:
        raise problem.located(node.at) from None
    return Cast(node["this"].scalar(), t, digits, node.flag("safe"), node.at)


def _digits(sizes: list[int]) -> int:
    """How many digits a DECIMAL has: as many as are given, or 10 as in Spark."""
    return sizes[0] if sizes else 10


def _extract(node: Node) -> Scalar:
    node.only("this", "expression")
    part = Literal(node.word("this"), STRING, node.at)
    return Call("date_part", (part, node["expression"].scalar()), node.at)


def _item(node: Node) -> Scalar:
    """SPLIT(s, p)[0], or ELEMENT_AT(SPLIT(s, p), 1): no other array is known."""
    node.only("this", "expressions", "offset")
    fn = "split_element" if node.raw.args.get("offset") else "split_item"
    return _of_split(fn, node, *(n.scalar() for n in node.all("expressions")))


def _of_split(fn: str, node: Node, *others: Scalar) -> Scalar:
    array = node["this"]
    while array.key == "paren":
        array = array["this"]
    if array.key != "regexpsplit":
        node.refuse("an element of an array or map", "write columns of their own instead")
    array.only("this", "expression", "limit")
    limit = array.get("limit")
    last = () if limit is None else (limit.scalar(),)
    texts = (array["this"].scalar(), array["expression"].scalar())
    return Call(fn, (*texts, *others, *last), node.at)


def _operator(fn: str) -> Callable[[Node], Scalar]:
    """An operator of two operands as a call."""

    def read(node: Node) -> Scalar:
        node.only("this", "expression")
        return Call(fn, (node["this"].scalar(), node["expression"].scalar()), node.at)

    return read


def _bit_not(node: Node) -> Scalar:
    node.only("this")
    return Call("bit_not", (node["this"].scalar(),), node.at)


def _optional(node: Node, *names: str) -> tuple[Scalar, ...]:
    node.only(*names)
    return tuple(child.scalar() for name in names if (child := node.get(name)) is not None)


def _position(node: Node) -> Scalar:
    """POSITION(a IN b), or POSITION(a, b, start)."""
    return Call("locate", _optional(node, "substr", "this", "position"), node.at)


def _overlay(node: Node) -> Scalar:
    return Call("overlay", _optional(node, "this", "expression", "from_", "for_"), node.at)


def _trim(node: Node) -> Scalar:
    """TRIM(BOTH 'x' FROM a), or TRIM(a)."""
    node.only("this", "expression", "position")
    side = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(node.word("position"), "btrim")
    characters = node.get("expression")
    if characters is None:
        return Call("trim" if side == "btrim" else side, (node["this"].scalar(),), node.at)
    operands = (node["this"].scalar(), characters.scalar())
    return Call(side, operands if side == "btrim" else operands[::-1], node.at)


def _field(node: Node) -> Scalar:
    """X.start, of a struct that is no name."""
    node.only("this", "expression")
    name = Literal(node["expression"].name.lower(), STRING, node.at)
    return Call(FIELD, (node["this"].scalar(), name), node.at)


def _present(node: Node) -> Scalar:
    """NOW() and its other names."""
    node.only("this", "sysdate")
    return Call("now", (), node.at)


def _today(node: Node) -> Scalar:
    node.only("this")
    return Cast(Call("now", (), node.at), DATE, at=node.at)


def _anonymous(node: Node) -> Scalar:
    args = tuple(n.scalar() for n in node.all("expressions"))
    fn, lifts, ring = str(node.raw.this).partition(LIFTS)
    if lifts:
        return Lifted(fn, ring, args, node.at)
    if fn.lower() == "curdate" and not args:
        return _today(node)
    if fn.lower() in OF_UNITS and len(args) == 3 and isinstance(args[0], Name):
        args = (Literal(args[0].name.upper(), STRING, args[0].at), *args[1:])
    return Call(fn.lower(), args, node.at)


def function(node: Node) -> Scalar:
    """Any other function by its own name, its arguments in their order."""
    raw = node.raw
    is_operator = node.key in EXPRESSIONS and "written" not in raw.meta
    if is_operator or (not hasattr(raw, "sql_names") and node.key not in RENAMED):
        what, instead = EXPRESSIONS.get(node.key, (node.written, "another expression"))
        node.refuse(what, f"write {instead} instead" if instead else "there is no other way yet")
    fn = RENAMED.get(node.key) or str(raw.sql_names()[0]).lower()
    if fn not in BUILTINS:  # it is known, if at all, as the user calls it
        fn = str(raw.meta.get("written", fn)).lower()
        if _has_words(node):  # nor is it known what they mean
            return Call(fn, (), node.at)
    args: list[Scalar] = []
    for name in raw.arg_types:
        child = raw.args.get(name)
        if isinstance(child, list):
            args.extend(n.scalar() for n in node.all(name))
        elif getattr(child, "key", "") == "var":
            node.refuse(f"{node.written} of a word", "compare with constants, or use EXTRACT")
        elif hasattr(child, "walk"):
            args.append(node[name].scalar())
    node.only(*(name for name, child in raw.args.items() if not isinstance(child, str | bool)))
    return Call(fn, tuple(args), node.at)


def _has_words(node: Node) -> bool:
    """Whether the parser has read more than expressions in the parentheses of a call."""
    for name, child in node.raw.args.items():
        children = child if isinstance(child, list) else [child]
        if any(
            getattr(c, "key", "") in ("var", "propertyeq", "lambda", "jsonpath") for c in children
        ):
            return True
        if child and isinstance(child, str | bool) and not node.is_of_dialect(name):
            return True
    return False


READERS: Readers = {
    **dict.fromkeys(ARITHMETIC, _arithmetic),
    "dpipe": _concatenation,
    "paren": _in_parentheses,
    "case": _case,
    "if": _if,
    "cast": _cast,
    "trycast": _cast,
    "extract": _extract,
    "bracket": _item,
    "arraysize": lambda n: _of_split("split_size", n),
    "intdiv": _operator("int_div"),
    "bitwiseand": _operator("bit_and_of"),
    "bitwiseor": _operator("bit_or_of"),
    "bitwisexor": _operator("bit_xor_of"),
    "bitwiseleftshift": _operator("shiftleft"),
    "bitwiserightshift": _operator("shiftright"),
    "bitwisenot": _bit_not,
    "regexplike": _operator("rlike"),
    "strposition": _position,
    "overlay": _overlay,
    "trim": _trim,
    "anonymous": _anonymous,
    "dot": _field,
    **dict.fromkeys(("currenttimestamp", "localtimestamp"), _present),
    "currentdate": _today,
}
