"""What stands between the name of a view and AS: its policy; `explain` says what is ignored."""

from __future__ import annotations

from freshview.calculus.schema import POLICIES
from freshview.errors import SyntaxProblem, UnsupportedSql
from freshview.sql.ddl.cursor import Cursor, shown

IGNORED = (
    *("COMMENT", "PARTITIONED BY", "PARTITIONED", "CLUSTER BY", "CLUSTERED", "USING", "STORED"),
    *("LOCATION", "OPTIONS", "SCHEDULE", "DEFAULT", "WITH"),
)
"""Clauses about how the rows of a view are stored, by their first words."""

POLICY = ("policy", "freshview.policy")
"""The property that says how far a view may be recomputed."""


def view_clauses(cursor: Cursor) -> tuple[tuple[str, ...], str]:
    """COMMENT and TBLPROPERTIES of a view: what is ignored, and its policy."""
    ignored: list[str] = []
    policy = ""
    while cursor.peek().word in ("TBLPROPERTIES", *IGNORED):
        word = cursor.next().word
        if word in IGNORED:
            ignored.append(word)
            _skip(cursor)
            continue
        cursor.expect("(")
        while not cursor.accept(")"):
            name, value = _property(cursor)
            if name in POLICY:
                policy = value
            else:
                ignored.append(f"TBLPROPERTIES ({name})")
            cursor.accept(",")
    return tuple(ignored), policy


def _skip(cursor: Cursor) -> None:
    """The words of a clause up to the next one."""
    depth = 0
    while cursor.peek().kind != "end":
        token = cursor.peek()
        if depth == 0 and token.word in ("AS", "TBLPROPERTIES", *IGNORED):
            return
        cursor.next()
        sign = "" if token.kind == "string" else token.text
        depth += (sign == "(") - (sign == ")")


def column_names(cursor: Cursor) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(name [COMMENT 'text'], ...): the names, and what is ignored."""
    cursor.expect("(")
    names, ignored = [cursor.name()], []
    while True:
        if cursor.accept("COMMENT"):
            cursor.next()
            ignored.append("COMMENT")
        if not cursor.accept(","):
            break
        names.append(cursor.name())
    cursor.expect(")")
    return tuple(names), tuple(dict.fromkeys(ignored))


def _property(cursor: Cursor) -> tuple[str, str]:
    """A name and its value: 'policy' = 'strict'."""
    token = cursor.peek()
    name = cursor.next().text if token.kind == "string" else cursor.path()
    cursor.accept("=")
    value = cursor.next()
    if value.kind in ("sign", "end"):
        raise SyntaxProblem(f"expected a value but found {shown(value)}", at=value.at)
    if name.lower() in POLICY and value.text.lower() not in POLICIES:
        raise UnsupportedSql(
            f"the policy '{value.text}' is not supported",
            instead=f"use one of {', '.join(POLICIES)}",
            at=value.at,
        )
    text = value.text.lower() if name.lower() in POLICY else value.text
    return name.lower(), text
