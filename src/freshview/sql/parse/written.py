"""What refused constructs are called, and what to write: the words of users, not the parser's."""

from __future__ import annotations

CLAUSES: dict[str, tuple[str, str]] = {
    "windows": ("WINDOW", "write the window behind OVER"),
    "qualify": ("QUALIFY", "filter in a SELECT around this one"),
    "laterals": ("LATERAL VIEW", "join a table that has a row for every element"),
    "sample": ("TABLESAMPLE", "a view has one answer; choose rows by a condition in WHERE"),
    "pivots": ("PIVOT here", "put it into a subquery in FROM"),
    "hints": ("a hint", "leave it out: it changes no row"),
    "locks": ("FOR UPDATE", "leave it out: it changes no row"),
    "kind": ("SELECT AS", "name the columns with AS"),
    "rollup": ("ROLLUP here", "write it behind GROUP BY"),
    "cube": ("CUBE here", "write it behind GROUP BY"),
    "grouping_sets": ("GROUPING SETS here", "write it behind GROUP BY"),
    "all": ("GROUP BY ALL here", "name the columns"),
    "recursive": ("WITH RECURSIVE", "there is no other way yet"),
    "except_": ("* EXCEPT here", "name the columns"),
    "replace": ("* REPLACE", "name the columns"),
    "rename": ("* RENAME", "name the columns with AS"),
    "by_name": ("BY NAME", "list the columns in one order on both sides"),
    "db": ("a qualified name here", "write the name alone"),
    "catalog": ("a qualified name here", "write the name alone"),
    "version": ("a version of a table", "name the table alone: a view follows what is there now"),
    "when": ("a version of a table", "name the table alone: a view follows what is there now"),
    "with_": ("WITH here", "write it before the whole query"),
    "order": ("ORDER BY here", "order a query around this one"),
    "limit": ("LIMIT here", "limit a query around this one"),
    "offset": ("OFFSET here", "put it into a query around this one"),
    "joins": ("a join here", "put it into a subquery"),
    "having": ("HAVING here", "write it behind GROUP BY"),
    "distinct": ("DISTINCT here", "put it into a subquery"),
    "ordinality": ("WITH ORDINALITY", "keep the position in a column"),
    "connect": ("CONNECT BY", "there is no other way yet"),
    "match": ("MATCH_RECOGNIZE", "there is no other way yet"),
    "into": ("SELECT INTO", "write CREATE VIEW or INSERT INTO"),
    "match_condition": ("MATCH_CONDITION", "write the condition in ON"),
}
"""Clauses by what the parser calls them."""

EXPRESSIONS: dict[str, tuple[str, str]] = {
    "window": ("OVER", "a GROUP BY, or a join with a grouped subquery,"),
    "star": ("*", "COUNT(*)"),
    "bracket": ("an element of an array or map", "columns of their own"),
    "dot": ("a field of a struct", "columns of their own"),
    "lambda": ("a function of an element", ""),
    "attimezone": ("AT TIME ZONE", ""),
    "collate": ("COLLATE", ""),
    "withingroup": ("WITHIN GROUP", ""),
    "ignorenulls": ("IGNORE NULLS", "a FILTER (WHERE x IS NOT NULL)"),
    "respectnulls": ("RESPECT NULLS", "the same without these words, which change nothing,"),
    "bitwiseand": ("&", "arithmetic"),
    "bitwiseor": ("|", "arithmetic"),
    "bitwisexor": ("^", "arithmetic"),
    "bitwisenot": ("~", "arithmetic"),
    "bitwiseleftshift": ("<<", "a product"),
    "bitwiserightshift": (">>", "a quotient"),
    "parameter": ("a parameter", "the value"),
    "placeholder": ("a parameter", "the value"),
    "tuple": ("(a, b) as one value", "a column for each"),
    "order": ("ORDER BY in an aggregate", ""),
    "hexstring": ("a constant of bytes", "a text"),
    "jsonextract": ("a path into JSON", "columns of their own"),
    "lateral": ("LATERAL here", "a join"),
    "unnest": ("UNNEST", "a join with a table of the elements"),
    "similarto": ("SIMILAR TO", ""),
    "any": ("ANY here", "ANY behind a comparison"),
    "all": ("ALL here", "ALL behind a comparison"),
    "kwarg": ("a named argument", "the arguments in their order"),
}
"""Expressions by their kind in the parser's tree, and what to write in their places."""


def clause(name: str) -> tuple[str, str]:
    """What a clause is called, and what to do about it."""
    return CLAUSES.get(name, (name.strip("_").upper().replace("_", " "), ""))
