"""Spellings that the parser library does not read, made into others that it does."""

from __future__ import annotations

from typing import Any, TypeAlias

from freshview.errors import SyntaxProblem
from freshview.sql.parse.calls import LIFTS
from freshview.sql.script import Script

RawToken: TypeAlias = Any
"""A token of the library, whose types only `statements.py` knows."""


def _kind(token: RawToken) -> str:
    return str(token.token_type.name)


def respelled(raw: list[RawToken], script: Script) -> list[RawToken]:
    """The tokens of a query as the library reads them."""
    return _selected_first(_in_list(_matched(lifted(raw, script))))


def lifted(raw: list[RawToken], script: Script) -> list[RawToken]:
    """The tokens with every [f: Ring] as one name, so that [f: Ring](x) is a function call."""
    out: list[RawToken] = []
    at = 0
    while at < len(raw):
        kinds = [_kind(t) for t in raw[at : at + 3]]
        if kinds[0] == "L_BRACKET" and kinds[2:] == ["COLON"]:
            words = raw[at + 1 : at + 6]
            closed = [_kind(t) for t in words[3:]] == ["R_BRACKET", "L_PAREN"]
            names = [t.text for t in words[:3:2]]
            if not closed or not all(n.isidentifier() for n in names):
                raise SyntaxProblem(
                    "this is not a lifting function",
                    instead="write [function: Ring](column, ...)",
                    at=script.place(raw[at].start),
                )
            end, name = words[3], LIFTS.join(names)
            place = (raw[at].line, raw[at].col, raw[at].start, end.end)
            out.append(_token(raw[at], "VAR", name, *place))
            at += 5
        else:
            out.append(raw[at])
            at += 1
    return out


def _matched(raw: list[RawToken]) -> list[RawToken]:
    """MATCH_CONDITION (p) ON q as ON (p) AND q: the library reads it in another dialect only."""
    out = list(raw)
    for at, token in enumerate(raw):
        if token.text.upper() != "MATCH_CONDITION" or _kind(token) == "IDENTIFIER":
            continue
        out[at] = instead(token, "ON", "ON")
        end = at + 1
        if end < len(raw) and _kind(raw[end]) == "L_PAREN":
            end = _closing(raw, end) + 1
        if end < len(raw) and _kind(raw[end]) == "ON":
            out[end] = instead(raw[end], "AND", "AND")
    return out


def _closing(raw: list[RawToken], at: int) -> int:
    """Where the parenthesis closes that opens here; the end where none does."""
    depth = 0
    for end in range(at, len(raw)):
        kind = _kind(raw[end])
        depth += (kind == "L_PAREN") - (kind == "R_PAREN")
        if depth == 0:
            return end
    return len(raw)


def _in_list(raw: list[RawToken]) -> list[RawToken]:
    """IN LIST (a, b), as DBToaster writes it, as IN (a, b)."""
    return [
        token
        for before, token, after in zip([None, *raw], raw, [*raw[1:], None], strict=False)
        if not (
            token.text.upper() == "LIST"
            and before is not None
            and _kind(before) == "IN"
            and after is not None
            and _kind(after) == "L_PAREN"
        )
    ]


_BEFORE_FROM = frozenset(("L_PAREN", "ALIAS", "UNION"))


def _selected_first(raw: list[RawToken]) -> list[RawToken]:
    """FROM t SELECT a WHERE b, as Hive and Spark let it stand, as SELECT a FROM t WHERE b."""
    for at, token in enumerate(raw):
        before = _kind(raw[at - 1]) if at else None
        if _kind(token) == "FROM" and (before is None or before in _BEFORE_FROM):
            select = _own(raw, at + 1, ("SELECT",))
            if select is None:
                continue
            end = _own(raw, select + 1, _BEHIND_FROM) or _end_of_query(raw, select + 1)
            moved = [*raw[:at], *raw[select:end], *raw[at:select], *raw[end:]]
            return _selected_first(moved)
    return raw


_BEHIND_FROM = (
    *("WHERE", "GROUP_BY", "HAVING", "QUALIFY"),
    *("ORDER_BY", "LIMIT", "OFFSET", "WINDOW"),
    *("UNION", "EXCEPT", "INTERSECT", "LATERAL"),
)


def _own(raw: list[RawToken], at: int, kinds: tuple[str, ...]) -> int | None:
    """Where one of these stands next, outside of parentheses and before they close."""
    depth = 0
    for i in range(at, len(raw)):
        kind = _kind(raw[i])
        if depth == 0 and kind in kinds:
            return i
        depth += (kind == "L_PAREN") - (kind == "R_PAREN")
        if depth < 0:
            return None
    return None


def _end_of_query(raw: list[RawToken], at: int) -> int:
    depth = 0
    for i in range(at, len(raw)):
        kind = _kind(raw[i])
        depth += (kind == "L_PAREN") - (kind == "R_PAREN")
        if depth < 0:
            return i
    return len(raw)


def instead(token: RawToken, kind: str, text: str) -> RawToken:
    """Another token in the place of one."""
    return _token(token, kind, text, token.line, token.col, token.start, token.end)


def _token(like: RawToken, kind: str, text: str, *place: int) -> RawToken:
    return type(like)(getattr(type(like.token_type), kind), text, *place)
