"""What stands between the name of a view and AS: its policy; `explain` says what is ignored."""

from __future__ import annotations

from freshview.calculus.schema import POLICIES
from freshview.errors import SyntaxProblem, UnsupportedSql
from freshview.sql.ddl.cursor import Cursor, shown

POLICY = ("policy", "freshview.policy")
"""The property that says how far a view may be recomputed."""


def view_clauses(cursor: Cursor) -> tuple[tuple[str, ...], str]:
    """COMMENT and TBLPROPERTIES of a view: what is ignored, and its policy."""
    ignored: list[str] = []
    policy = ""
    while cursor.peek().word in ("COMMENT", "TBLPROPERTIES"):
        if cursor.accept("COMMENT"):
            cursor.next()
            ignored.append("COMMENT")
            continue
        cursor.next()
        cursor.expect("(")
        while not cursor.accept(")"):
            name, value = _property(cursor)
            if name in POLICY:
                policy = value
            else:
                ignored.append(f"TBLPROPERTIES ({name})")
            cursor.accept(",")
    return tuple(ignored), policy


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
