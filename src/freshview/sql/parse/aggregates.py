"""Aggregate functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from freshview.errors import SyntaxProblem
from freshview.sql.parse.node import Node, Readers
from freshview.sql.terms import Aggregate, Literal, Scalar
from freshview.sql.walk import only_where

_ONE = (1, 1)
_TWO = (2, 2)

ARGUMENTS: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("sum", "count", "avg", "min", "max", "median"), _ONE),
    **dict.fromkeys(("stddev", "std", "stddev_samp", "stddev_pop"), _ONE),
    **dict.fromkeys(("variance", "var_samp", "var_pop", "skewness", "kurtosis"), _ONE),
    **dict.fromkeys(("covar_pop", "covar_samp", "corr", "min_by", "max_by"), _TWO),
    **dict.fromkeys(("regr_count", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy"), _TWO),
    **dict.fromkeys(("regr_sxy", "regr_slope", "regr_intercept", "regr_r2"), _TWO),
    **dict.fromkeys(("bool_and", "every", "bool_or", "some", "any", "count_if"), _ONE),
    **dict.fromkeys(("first", "last", "first_value", "last_value", "any_value"), _ONE),
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), _ONE),
    "regr_model": (2, 20),
    "approx_count_distinct": (1, 2),
    "percentile_cont": _TWO,
    "percentile_approx": (2, 3),
    "mode": (1, 2),
}
"""How many arguments an aggregate has."""

_BY_KEY = {
    "stddevpop": "stddev_pop",
    "stddevsamp": "stddev_samp",
    "variancepop": "var_pop",
    "covarpop": "covar_pop",
    "covarsamp": "covar_samp",
    **{name.replace("_", ""): name for name in ARGUMENTS if name.startswith("regr_")},
    "countif": "count_if",
    "bitwiseandagg": "bit_and",
    "bitwiseoragg": "bit_or",
    "bitwisexoragg": "bit_xor",
    "logicaland": "bool_and",
    "logicalor": "bool_or",
    "firstvalue": "first_value",
    "lastvalue": "last_value",
    "anyvalue": "any_value",
    "argmin": "min_by",
    "argmax": "max_by",
    "approxdistinct": "approx_count_distinct",
    "quantile": "percentile_cont",
    "approxquantile": "percentile_approx",
}
"""What the parser calls an aggregate, where that is not its name in SQL."""

_OTHER_NAMES = {
    "mean": "avg",
    "percentile": "percentile_cont",
    "approx_percentile": "percentile_approx",
    **{name: name for name in ARGUMENTS},
}
"""The aggregates that the parser takes for functions which it does not know."""


def _aggregate(node: Node) -> Scalar:
    return _called(_BY_KEY.get(node.key, node.key), node)


def named(other: Callable[[Node], Scalar]) -> Callable[[Node], Scalar]:
    """A call by a name that the parser does not know, if not of an aggregate by `other`."""

    def read(node: Node) -> Scalar:
        fn = _OTHER_NAMES.get(str(node.raw.this).lower())
        return other(node) if fn is None else _called(fn, node)

    return read


def _called(fn: str, node: Node) -> Scalar:
    operands = _operands(node)
    if not operands:
        raise SyntaxProblem(
            f"{fn.upper()}() has no argument",
            instead="write COUNT(*)" if fn == "count" else "name the column",
            at=node.at,
        )
    distinct = operands[0].key == "distinct"
    if operands[0].key == "star":
        if fn != "count":
            node.refuse(f"{fn.upper()}(*)", "name the column")
        return Aggregate(fn, (), False, node.at)
    if distinct:
        operands[0].only("expressions")
        operands = [*operands[0].all("expressions"), *operands[1:]]
        if not operands:
            raise SyntaxProblem(
                f"{fn.upper()}(DISTINCT) has no argument",
                instead=f"name the column, as in {fn.upper()}(DISTINCT x)",
                at=node.at,
            )
    args = tuple(n.scalar() for n in operands)
    low, high = ARGUMENTS[fn]
    if len(args) > high and not (fn == "count" and distinct):
        if high == 1:
            node.refuse(f"{fn.upper()} of several columns", "give it one expression")
        node.refuse(f"{fn.upper()} of {len(args)} arguments", f"give it {high}")
    if len(args) < low:
        node.refuse(f"{fn.upper()} of {len(args)} arguments", f"give it {low}")
    return _settled(Aggregate(fn, args, distinct, node.at), node)


def _operands(node: Node) -> list[Node]:
    """The arguments in order; nothing else may be said."""
    if node.key == "anonymous":
        node.only("this", "expressions")
        return node.all("expressions")
    names = [n for n in node.raw.arg_types if n != "expressions" and not node.is_option(n)]
    node.only(*names, "expressions")
    first = [node[n] for n in names if node.get(n) is not None]
    return [*first, *node.all("expressions")]


def _settled(e: Aggregate, node: Node) -> Aggregate:
    """An aggregate without the arguments that change no answer of ours."""
    match e.fn:
        case "percentile_approx":  # the exact one is within any accuracy
            return replace(e, args=e.args[:2])
        case "approx_count_distinct":
            return replace(e, args=e.args[:1], distinct=True)
        case "mode" if len(e.args) == 2:
            if not isinstance(e.args[1], Literal) or not isinstance(e.args[1].value, bool):
                node.refuse("this second argument of MODE", "write TRUE or FALSE, or leave it out")
            return replace(e, args=e.args[:1])
    return e


def _within_group(node: Node) -> Scalar:
    """PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY x), and MODE() likewise."""
    node.only("this", "expression")
    inner, keys = node["this"], node["expression"].all("expressions")
    if inner.key not in ("percentilecont", "percentiledisc", "mode"):
        node.refuse(f"WITHIN GROUP behind {inner.key.upper()}", "write PERCENTILE_CONT or MODE")
    if len(keys) != 1:
        node.refuse("WITHIN GROUP with several columns", "order by one")
    keys[0].only("this", "desc", "nulls_first")
    value, descending = keys[0]["this"].scalar(), keys[0].flag("desc")
    if inner.key == "mode":
        if inner.get("this") is not None:
            node.refuse("MODE of a column WITHIN GROUP", "write MODE() WITHIN GROUP (ORDER BY x)")
        return Aggregate("mode_desc" if descending else "mode", (value,), False, node.at)
    fn = "percentile_cont" if inner.key == "percentilecont" else "percentile_disc"
    name = f"{fn}_desc" if descending else fn
    return Aggregate(name, (value, inner["this"].scalar()), False, node.at)


def _ignoring_nulls(node: Node) -> Scalar:
    """FIRST(x) IGNORE NULLS: as an aggregate, it ignores them in any case."""
    node.only("this")
    inner = node["this"].scalar()
    if not isinstance(inner, Aggregate):
        node.refuse("IGNORE NULLS here", "leave it out")
    return inner


def _filtered(node: Node) -> Scalar:
    """SUM(x) FILTER (WHERE p) is SUM(CASE WHEN p THEN x END)."""
    node.only("this", "expression")
    inner, when = node["this"].scalar(), node["expression"]["this"].scalar()
    if not isinstance(inner, Aggregate):
        node.refuse("FILTER here", "put the condition into a CASE inside the aggregate")
    return only_where(inner, when)


READERS: Readers = {
    **dict.fromkeys((*ARGUMENTS, *_BY_KEY), _aggregate),
    "withingroup": _within_group,
    "ignorenulls": _ignoring_nulls,
    "filter": _filtered,
}
