"""A drawing as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import assert_never

from freshview.draw.drawing import Box, Circle, Drawing, Item, Line, Words, pt, width_of


def show_svg(d: Drawing) -> str:
    """The text of an SVG file; words keep their measured widths whatever font is at hand."""
    size = (
        f'width="{pt(d.width)}" height="{pt(d.height)}" viewBox="0 0 {pt(d.width)} {pt(d.height)}"'
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        f"<title>{escape(d.title)}</title>",
        f'<rect width="{pt(d.width)}" height="{pt(d.height)}" fill="#ffffff"/>',
        "<g font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">",
    ]
    for item in d.items:
        lines.extend(_shape(item))
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _shape(item: Item) -> Iterator[str]:
    match item:
        case Words(x, y, text, size, font, color):
            length = width_of(text, size, font)
            weight = ' font-weight="bold"' if font == "bold" else ""
            yield (
                f'<text x="{pt(x)}" y="{pt(y)}" font-size="{pt(size)}"{weight} fill="{color}"'
                f' textLength="{pt(length)}" lengthAdjust="spacingAndGlyphs"'
                f' xml:space="preserve">{escape(text)}</text>'
            )
        case Line(x1, y1, x2, y2, width, color, arrow):
            yield (
                f'<line x1="{pt(x1)}" y1="{pt(y1)}" x2="{pt(x2)}" y2="{pt(y2)}" stroke="{color}"'
                f' stroke-width="{pt(width)}"/>'
            )
            if arrow:
                points = " ".join(f"{pt(px)},{pt(py)}" for px, py in head(item))
                yield f'<polygon points="{points}" fill="{color}"/>'
        case Circle(x, y, r, fills, stroke, width):
            yield from _sectors(item)
            fill = fills[0] if len(fills) == 1 else "none"
            yield (
                f'<circle cx="{pt(x)}" cy="{pt(y)}" r="{pt(r)}" fill="{fill}" stroke="{stroke}"'
                f' stroke-width="{pt(width)}"/>'
            )
        case Box(x, y, w, h, radius, fill, stroke, width):
            yield (
                f'<rect x="{pt(x)}" y="{pt(y)}" width="{pt(w)}" height="{pt(h)}" rx="{pt(radius)}"'
                f' fill="{fill or "none"}" stroke="{stroke}" stroke-width="{pt(width)}"/>'
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
            f'<path d="M{pt(c.x)} {pt(c.y)}L{pt(x1)} {pt(y1)}A{pt(c.r)} {pt(c.r)} 0 {large} 1'
            f' {pt(x2)} {pt(y2)}Z" fill="{fill}"/>'
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
