"""LIKE with a pattern that is known: its pieces are looked for, the pattern is not read again."""

from __future__ import annotations

from freshet.calculus.types import STRING
from freshet.codegen.hold import constant


def like(text: str, pattern: str) -> str:
    """The C++ test whether a text has the pieces between the pattern's %, one after another.

    Each is taken where it comes first, so that most is left for the others. Pieces with _ in them
    would have to be tried everywhere: then all of the pattern is followed.

    >>> like("t", "PROMO%")
    '[&](Str rest) { return text_starts(rest, Str{"PROMO", 5}); }(t)'
    >>> like("t", "%a%b")
    '[&](Str rest) { return text_passes(rest, Str{"a", 1}) && text_ends(rest, Str{"b", 1}); }(t)'
    >>> like("t", "a_")
    'text_like(t, Str{"a_", 2})'
    """
    first, *others = pattern.split("%")
    if "_" in pattern:
        return f"text_like({text}, {_str(pattern)})"
    if not others:
        return f"text_equal({text}, {_str(pattern)})"
    tests = [f"text_starts(rest, {_str(first)})"] if first else []
    tests += [f"text_passes(rest, {_str(piece)})" for piece in others[:-1] if piece]
    tests += [f"text_ends(rest, {_str(others[-1])})"] if others[-1] else []
    return f"[&](Str rest) {{ return {' && '.join(tests) or 'true'}; }}({text})"


def _str(piece: str) -> str:
    return constant(piece, STRING).text
