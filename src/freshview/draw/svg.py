"""A drawing as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import assert_never

from freshview.draw.drawing import Box, Circle, Drawing, Item, Line, Words, width_of


def show_svg(d: Drawing) -> str:
    """The text of an SVG file; words keep their measured widths whatever font is at hand."""
    size = (
        f'width="{_n(d.width)}" height="{_n(d.height)}" viewBox="0 0 {_n(d.width)} {_n(d.height)}"'
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        f"<title>{escape(d.title)}</title>",
        f'<rect width="{_n(d.width)}" height="{_n(d.height)}" fill="#ffffff"/>',
        "<g font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">",
    ]
    for item in d.items:
        lines.extend(_shape(item))
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _n(x: float) -> str:
    return f"{x:.2f}".rstrip("0").rstrip(".")


def _shape(item: Item) -> Iterator[str]:
    match item:
        case Words(x, y, text, size, font, color):
            length = width_of(text, size, font)
            weight = ' font-weight="bold"' if font == "bold" else ""
            yield (
                f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}"{weight} fill="{color}"'
                f' textLength="{_n(length)}" lengthAdjust="spacingAndGlyphs"'
                f' xml:space="preserve">{escape(text)}</text>'
            )
        case Line(x1, y1, x2, y2, width, color, arrow):
            yield (
                f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" stroke="{color}"'
                f' stroke-width="{_n(width)}"/>'
            )
            if arrow:
                points = " ".join(f"{_n(px)},{_n(py)}" for px, py in head(item))
                yield f'<polygon points="{points}" fill="{color}"/>'
        case Circle(x, y, r, fills, stroke, width):
            yield from _sectors(item)
            fill = fills[0] if len(fills) == 1 else "none"
            yield (
                f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}" fill="{fill}" stroke="{stroke}"'
                f' stroke-width="{_n(width)}"/>'
            )
        case Box(x, y, w, h, radius, fill, stroke, width):
            yield (
                f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}" rx="{_n(radius)}"'
                f' fill="{fill or "none"}" stroke="{stroke}" stroke-width="{_n(width)}"/>'
            )
        case _:
            assert_never(item)


def _sectors(c: Circle) -> Iterator[str]:
    if len(c.fills) < 2:
        return
    step = 2 * math.pi / len(c.fills)
    for i, fill in enumerate(c.fills):
        (x1, y1), (x2, y2) = (_on(c, i * step), _on(c, (i + 1) * step))
        large = int(step > math.pi)
        yield (
            f'<path d="M{_n(c.x)} {_n(c.y)}L{_n(x1)} {_n(y1)}A{_n(c.r)} {_n(c.r)} 0 {large} 1'
            f' {_n(x2)} {_n(y2)}Z" fill="{fill}"/>'
        )


def _on(c: Circle, angle: float) -> tuple[float, float]:
    """A point on a circle; angles grow clockwise from the top."""
    return c.x + c.r * math.sin(angle), c.y - c.r * math.cos(angle)


def head(line: Line) -> list[tuple[float, float]]:
    """The three corners of an arrow's head."""
    angle = math.atan2(line.y2 - line.y1, line.x2 - line.x1)
    size = 4 + 1.6 * line.width
    corners = [(line.x2, line.y2)]
    for turn in (2.72, -2.72):
        corners.append(
            (line.x2 + size * math.cos(angle + turn), line.y2 + size * math.sin(angle + turn))
        )
    return corners
