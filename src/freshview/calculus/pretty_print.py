"""Long terms over several lines: the same tokens as `show`, with other white space."""

from __future__ import annotations

import re

from freshview.calculus.terms import Expr
from freshview.calculus.text import show

WIDTH = 100
STEP = 2

_PIECE = re.compile(
    r"'(?:[^']|'')*'|`(?:[^`]|``)*`|[(\[{]|[)\]}]| [-+*] |[^'`(\[{)\]} ]+| ", re.DOTALL
)
_BINDING = re.compile(r"(?:[A-Za-z_][A-Za-z_0-9.$]*|`(?:[^`]|``)*`) := ")


def show_term(e: Expr, indent: int = 0, width: int = WIDTH) -> str:
    """A term as text that `read` takes back, broken where a line would pass `width`.

    The first line is meant to stand at column `indent`; no other begins left of it.

    >>> from freshview.calculus.text import read
    >>> print(show_term(read("Sum[a](R(a, b) * S(b, c) * {c < 3}) + U(a)"), width=24))
    Sum[a](
        R(a, b) * S(b, c) *
        {c < 3})
    + U(a)
    """
    return break_lines(show(e), indent, width)


def break_lines(text: str, indent: int = 0, width: int = WIDTH) -> str:
    """The text of a term, or of something written like one, over several lines if it is long."""
    if indent + len(text) <= width:
        return text
    return _broken(text, indent, width)


def _broken(text: str, indent: int, width: int) -> str:
    margin = "\n" + " " * indent
    signs, parts = _split(text, "+-")
    if signs:
        lines = [break_lines(parts[0], indent + STEP, width)]
        for sign, part in zip(signs, parts[1:], strict=True):
            lines.append(f"{sign} {break_lines(part, indent + STEP, width)}")
        return margin.join(lines)
    signs, parts = _split(text, "*")
    if signs:
        return _filled([break_lines(part, indent, width) for part in parts], indent, width)
    return _open(text, indent, width)


def _filled(parts: list[str], indent: int, width: int) -> str:
    """Factors side by side while they fit; one that was broken itself stands alone."""
    lines = [parts[0]]
    for part in parts[1:]:
        line = f"{lines[-1]} * {part}"
        if "\n" in line or indent + len(line) + 2 > width:
            lines.append(part)
        else:
            lines[-1] = line
    return f" *\n{' ' * indent}".join(lines)


def _open(text: str, indent: int, width: int) -> str:
    """Break inside the last brackets of an atom: Sum[..](body), (x := body), Exists(body)."""
    start = _last_bracket(text)
    if start is None:
        return text
    head, body, close = text[: start + 1], text[start + 1 : -1], text[-1]
    binding = _BINDING.match(body)
    if binding is not None:
        head, body = head + binding.group().rstrip(), body[binding.end() :]
    elif not head[:-1]:
        return head + break_lines(body, indent + 1, width) + close
    inner = indent + STEP
    if not any(_split(body, signs)[0] for signs in ("+-", "*")) and _last_bracket(body) is None:
        return text  # nothing to break but a list of names
    return f"{head}\n{' ' * inner}{break_lines(body, inner, width)}{close}"


def _split(text: str, signs: str) -> tuple[list[str], list[str]]:
    """The operators outside of all brackets, and what stands between them."""
    found: list[str] = []
    parts = [""]
    depth = 0
    for piece in _PIECE.findall(text):
        depth += (piece in "([{") - (piece in ")]}") if len(piece) == 1 else 0
        if depth == 0 and len(piece) == 3 and piece[1] in signs and piece[0] == piece[2] == " ":
            found.append(piece[1])
            parts.append("")
        else:
            parts[-1] += piece
    return found, parts


def _last_bracket(text: str) -> int | None:
    """Where the bracket opens that the text's last sign closes."""
    depth, start, at = 0, None, 0
    for piece in _PIECE.findall(text):
        if len(piece) == 1 and piece in "([{":
            start = at if depth == 0 else start
            depth += 1
        elif len(piece) == 1 and piece in ")]}":
            depth -= 1
        at += len(piece)
    return start if text and text[-1] in ")]}" else None
