"""Long terms over several lines: the same tokens as `show`, with other white space."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from freshview.calculus.terms import Expr
from freshview.calculus.text import show

WIDTH = 100
STEP = 2

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|`(?:[^`]|``)*`|[(\[{]|[)\]}]| [-+*] |[^'`(\[{)\]} ]+|.", re.DOTALL
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9.$]*|`(?:[^`]|``)*`")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


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
    """The text of a term, or of something written like one, over several lines if it is long.

    The text is read once: what it takes grows with its length, not with that times its depth.
    """
    if indent + len(text) <= width:
        return text
    return _laid_out(_bracketed(text), indent, width)


@dataclass(slots=True)
class _Run:
    """Tokens and bracketed runs one after the other, and how long their text is."""

    items: list[str | _Run] = field(default_factory=list)
    length: int = 0

    def add(self, item: str | _Run) -> None:
        self.items.append(item)
        self.length += len(item) if isinstance(item, str) else item.length

    def __str__(self) -> str:
        return "".join(map(str, self.items))


def _bracketed(text: str) -> _Run:
    """Text as a run; a run in brackets has these as its first and its last token."""
    runs = [_Run()]
    for token in _TOKEN.findall(text):
        if token in _OPENING:
            runs.append(_Run())
            runs[-1].add(token)
        elif token in _CLOSING and len(runs) > 1:
            inner = runs.pop()
            inner.add(token)
            runs[-1].add(inner)
        else:
            runs[-1].add(token)
    while len(runs) > 1:  # a bracket that nothing closes
        inner = runs.pop()
        runs[-1].add(inner)
    return runs[0]


def _laid_out(run: _Run, indent: int, width: int) -> str:
    if indent + run.length <= width:
        return str(run)
    margin = "\n" + " " * indent
    signs, parts = _split(run, "+-")
    if signs:
        lines = [_laid_out(parts[0], indent + STEP, width)]
        for sign, part in zip(signs, parts[1:], strict=True):
            lines.append(f"{sign} {_laid_out(part, indent + STEP, width)}")
        return margin.join(lines)
    signs, parts = _split(run, "*")
    if signs:
        return _filled([_laid_out(part, indent, width) for part in parts], indent, width)
    return _open(run, indent, width)


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


def _open(run: _Run, indent: int, width: int) -> str:
    """Break inside the last brackets of an atom: Sum[..](body), (x := body), Exists(body)."""
    last = run.items[-1] if run.items else ""
    if isinstance(last, str):
        return str(run)
    first, *inside, close = last.items
    head, bound = "".join(map(str, run.items[:-1])) + str(first), _binding(inside)
    body = _Run()
    for item in inside[bound:]:
        body.add(item)
    if bound:
        head += "".join(map(str, inside[:bound])).rstrip()
    elif len(run.items) == 1:
        return f"{head}{_laid_out(body, indent + 1, width)}{close}"
    inner = indent + STEP
    is_list = bool(body.items) and isinstance(body.items[-1], str)
    if is_list and not any(_split(body, signs)[0] for signs in ("+-", "*")):
        return str(run)  # nothing to break but a list of names
    return f"{head}\n{' ' * inner}{_laid_out(body, inner, width)}{close}"


def _binding(items: list[str | _Run]) -> int:
    """How many of the tokens are `x := `, with which an assignment begins."""
    match items[:4]:
        case [str(name), " ", ":=", " "] if _NAME.fullmatch(name):
            return 4
    return 0


def _split(run: _Run, signs: str) -> tuple[list[str], list[_Run]]:
    """The operators outside of all brackets, and what stands between them."""
    operators: list[str] = []
    parts = [_Run()]
    for item in run.items:
        if isinstance(item, str) and len(item) == 3 and item[0] == item[2] == " ":
            if item[1] in signs:
                operators.append(item[1])
                parts.append(_Run())
                continue
        parts[-1].add(item)
    return operators, parts
