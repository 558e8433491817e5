"""LIKE with a pattern that is known: its pieces are looked for, the pattern is not read again."""

from __future__ import annotations

from freshview.calculus.scalars import ESCAPE, like_parts
from freshview.codegen.cpp.types import quote_bytes

ANY_TEXT, ANY_POINT = b"\xff", b"\xfe"
"""What stands for % and _ where a pattern is followed: bytes of no text."""


def like(text: str, pattern: str, escape: str = ESCAPE) -> str:
    r"""The C++ test whether a text has the pieces between the pattern's %, one after another.

    Each is taken where it comes first, so that most is left for the others. Pieces with _ in them
    would have to be tried everywhere: then all of the pattern is followed.

    >>> like("t", "PROMO%")
    '[&](Str rest) { return text_starts(rest, Str{"PROMO", 5}); }(t)'
    >>> like("t", "%a%b")
    '[&](Str rest) { return text_passes(rest, Str{"a", 1}) && text_ends(rest, Str{"b", 1}); }(t)'
    >>> like("t", "a_")
    'text_like(t, Str{"a\\376", 2})'
    >>> like("t", r"a\%")
    'text_equal(t, Str{"a%", 2})'
    """
    parts = like_parts(pattern, escape)
    if None in parts:
        kinds = {None: ANY_POINT, "": ANY_TEXT}
        return f"text_like({text}, {_str(b''.join(kinds.get(c) or _bytes(c) for c in parts))})"
    first, *others = _split(parts)
    if not others:
        return f"text_equal({text}, {_str(first)})"
    tests = [f"text_starts(rest, {_str(first)})"] if first else []
    tests += [f"text_passes(rest, {_str(piece)})" for piece in others[:-1] if piece]
    tests += [f"text_ends(rest, {_str(others[-1])})"] if others[-1] else []
    return f"[&](Str rest) {{ return {' && '.join(tests) or 'true'}; }}({text})"


def _split(parts: list[str | None]) -> list[bytes]:
    """The pieces between the places where any text may stand."""
    pieces = [b""]
    for c in parts:
        if c == "":
            pieces.append(b"")
        else:
            pieces[-1] += _bytes(c)
    return pieces


def _bytes(c: str | None) -> bytes:
    return (c or "").encode()


def _str(piece: bytes) -> str:
    return f"Str{{{quote_bytes(piece)}, {len(piece)}}}"
