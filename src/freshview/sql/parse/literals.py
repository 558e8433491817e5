"""Constants, names and intervals."""

from __future__ import annotations

import re
from decimal import Decimal
from math import isfinite

from freshview.calculus.casts import MOST_DIGITS
from freshview.calculus.domain import is_decimal, is_int
from freshview.calculus.types import BOOL, INT, STRING, type_of
from freshview.sql.parse.intervals import read_interval
from freshview.sql.parse.node import Node, Readers
from freshview.sql.terms import Arith, Interval, Literal, Name, Scalar

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def _name(node: Node) -> Scalar:
    node.only("this", "table", "db", "catalog")
    if node["this"].key == "star":
        node.refuse("* in an expression", "name the column")
    table, schema = node.get("table"), node.get("db")
    if table is not None and schema is not None:  # a field of a struct: x.window.start
        return Name(f"{table.name}.{node['this'].name}", schema.name, node.at)
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
        value = Decimal(value)  # as in Spark: what is not an integer is a decimal without fraction
    if isinstance(value, Decimal) and not is_decimal(value):
        node.refuse(f"a number of more than {MOST_DIGITS} digits", "write a DOUBLE, like 1e40")
    if isinstance(value, float) and not isfinite(value):
        node.refuse("a number that no DOUBLE holds", "the largest one is about 1.8e308")
    return Literal(value, type_of(value), node.at)


def _word(node: Node) -> Scalar:
    """DEFAULT, where a row of VALUES is inserted; no other word is an expression."""
    if node.word("this") != "DEFAULT":
        node.refuse(node.written, "write another expression instead")
    return Name(node.name, None, node.at)


def _raw_text(node: Node) -> Scalar:
    r"""R'a\\b': a text whose backslashes stand for themselves."""
    return Literal(node.name, STRING, node.at)


def _negative(node: Node) -> Scalar:
    arg = node["this"].scalar()
    if isinstance(arg, Literal) and isinstance(arg.value, int | float | Decimal):
        return Literal(-arg.value, arg.type, node.at)
    if isinstance(arg, Interval):
        return Interval(-arg.count, arg.unit, node.at)
    return Arith("-", Literal(0, INT, node.at), arg, node.at)


READERS: Readers = {
    "column": _name,
    "identifier": lambda n: Name(n.name, None, n.at),
    "literal": _literal,
    "rawstring": _raw_text,
    "var": _word,
    "boolean": lambda n: Literal(n.flag("this"), BOOL, n.at),
    "null": lambda n: Literal(None, type_of(None), n.at),
    "neg": _negative,
    "interval": read_interval,
}
