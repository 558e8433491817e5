"""Drawings: shapes and words on a sheet, described once for SVG (`svg.py`) and PDF (`pdf.py`).

Coordinates are points from the upper left corner; the y of words is their baseline. Words are
measured with the widths of Helvetica, which every PDF reader has, so both outputs agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias

Font = Literal["plain", "bold", "symbol"]

INK = "#1f2933"


@dataclass(frozen=True, slots=True)
class Words:
    """Text from a point to the right, in one font."""

    x: float
    y: float
    text: str
    size: float = 10
    font: Font = "plain"
    color: str = INK


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line; an arrow points to its end."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float = 1
    color: str = INK
    arrow: bool = False


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle; several fills share it as sectors, the first one starting at the top."""

    x: float
    y: float
    r: float
    fills: tuple[str, ...] = ()
    stroke: str = INK
    width: float = 1


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, its corners round by a radius."""

    x: float
    y: float
    w: float
    h: float
    radius: float = 0
    fill: str = ""
    stroke: str = INK
    width: float = 1


Item: TypeAlias = Words | Line | Circle | Box


@dataclass(frozen=True, slots=True)
class Drawing:
    """A sheet of a size with what is on it, the later over the earlier."""

    title: str
    width: float
    height: float
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Scripts:
    """What stands below and above the line at one place: V with @X above and its relations."""

    below: str = ""
    above: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a phrase that no line break parts: text and scripts."""

    parts: tuple[str | Scripts, ...]
    font: Font = "plain"


SYMBOLS = {"\u03b4": 0x64, "\u2295": 0xC5, "\u2297": 0xC4}
"""Delta, circled plus, circled times: their places in the standard font Symbol."""

_WIDE = {"\u03b4": 494, "\u2295": 768, "\u2297": 768}
_AIR = 60
"""What a sign of another font stands apart from the next one, in thousandths of the size."""
# The advance widths of the signs from space to ~, in thousandths of the size.
_PLAIN = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 "
    "556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 "
    "722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 "
    "556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 "
    "260 334 584"
)
_BOLD = (
    "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 "
    "556 556 556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 "
    "722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556 611 556 611 "
    "556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 "
    "280 389 584"
)
_WIDTHS = {
    font: {chr(32 + i): int(w) for i, w in enumerate(text.split())}
    for font, text in (("plain", _PLAIN), ("bold", _BOLD))
}
_USUAL = 600
"""For signs beyond ASCII."""


def pt(x: float) -> str:
    """A number of a drawing as text, to a hundredth.

    >>> pt(2.5), pt(3.0), pt(1 / 3)
    ('2.5', '3', '0.33')
    """
    return f"{x:.2f}".rstrip("0").rstrip(".")


def width_of(text: str, size: float, font: Font = "plain") -> float:
    """How far a text reaches.

    >>> width_of("AB", 10), width_of("V", 10, "bold")
    (13.34, 6.67)
    """
    widths = _WIDTHS["bold" if font == "bold" else "plain"]
    total = sum(_WIDE.get(c) or widths.get(c, _USUAL) for c in text)
    return round(total * size / 1000, 4)


def reach(text: str, size: float, font: Font = "plain") -> float:
    """How far a text with signs of several fonts reaches."""
    groups = sum(1 for special, _ in groupby(text, key=lambda c: c in SYMBOLS) if special)
    return width_of(text, size, font) + groups * _AIR * size / 1000


def write(text: str, x: float, y: float, size: float = 10, font: Font = "plain",
          color: str = INK) -> Iterator[Words]:  # fmt: skip
    """A text whose signs from the font Symbol are set in it."""
    for special, group in groupby(text, key=lambda c: c in SYMBOLS):
        run = "".join(group)
        yield Words(x, y, run, size, "symbol" if special else font, color)
        x += width_of(run, size, font)
        x += _AIR * size / 1000 if special else 0


SMALL = 0.68
"""The size of scripts."""


def piece_width(p: Piece, size: float) -> float:
    """How far a piece reaches; scripts above one another as far as the longer."""
    total = 0.0
    for part in p.parts:
        if isinstance(part, Scripts):
            small = size * SMALL
            total += max(reach(part.below, small), reach(part.above, small)) + size * 0.12
        else:
            total += reach(part, size, p.font)
    return total


def write_piece(p: Piece, x: float, y: float, size: float, color: str = INK) -> Iterator[Words]:
    """A piece from a point on its baseline."""
    for part in p.parts:
        if isinstance(part, Scripts):
            small = size * SMALL
            yield from write(part.below, x, y + size * 0.28, small, "plain", color)
            yield from write(part.above, x, y - size * 0.38, small, "plain", color)
            x += max(reach(part.below, small), reach(part.above, small)) + size * 0.12
        else:
            yield from write(part, x, y, size, p.font, color)
            x += reach(part, size, p.font)


def write_phrase(
    pieces: list[Piece],
    x: float,
    y: float,
    size: float,
    right: float,
    indent: float = 24,
    color: str = INK,
) -> tuple[list[Words], float]:
    """Pieces from left to right in lines that end before `right`; also the last baseline."""
    out: list[Words] = []
    at, step = x, size * 1.75
    for p in pieces:
        width = piece_width(p, size)
        if at + width > right and at > x + indent:
            at, y = x + indent, y + step
        out.extend(write_piece(p, at, y, size, color))
        at += width
    return out, y


def tint(color: str, strength: float = 0.42) -> str:
    """A colour mixed with white.

    >>> tint("#000000", 0.5)
    '#808080'
    """
    mixed = (round(255 - (255 - v) * strength) for v in channels(color))
    return "#" + "".join(f"{v:02x}" for v in mixed)


def channels(color: str) -> tuple[int, int, int]:
    """Red, green and blue of #rrggbb."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
