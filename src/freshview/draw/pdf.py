"""A drawing as PDF: one page of the drawing's size, vector shapes, fonts that every reader has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import assert_never

from freshview.draw.drawing import (
    SYMBOLS,
    Box,
    Circle,
    Drawing,
    Item,
    Line,
    Words,
    channels,
    pt,
)
from freshview.draw.svg import head

FONTS = {"plain": ("F1", "Helvetica"), "bold": ("F2", "Helvetica-Bold"), "symbol": ("F3", "Symbol")}
ROUND = 0.5523
"""How far the handles of a curve stand out that goes a quarter around a circle of radius 1."""


def show_pdf(d: Drawing) -> bytes:
    """The bytes of a PDF file; the same drawing gives the same bytes."""
    content = "\n".join(line for item in d.items for line in _Page(d.height).shape(item))
    body = content.encode("latin-1")
    fonts = " ".join(f"/{key} {5 + i} 0 R" for i, (key, _) in enumerate(FONTS.values()))
    page = (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {pt(d.width)} {pt(d.height)}] "
        f"/Contents 4 0 R /Resources << /Font << {fonts} >> >> >>"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page.encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(body), body),
        *(_font(name) for _, name in FONTS.values()),
        f"<< /Title ({_escaped(d.title)}) /Producer (Freshview) >>".encode("latin-1"),
    ]
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets: list[int] = []
    for number, content_ in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content_)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for offset in offsets:
        out += b"%010d 00000 n \n" % offset
    trailer = f"<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>"
    out += f"trailer\n{trailer}\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def _font(name: str) -> bytes:
    encoding = "" if name == "Symbol" else " /Encoding /WinAnsiEncoding"
    return f"<< /Type /Font /Subtype /Type1 /BaseFont /{name}{encoding} >>".encode()


def _escaped(text: str) -> str:
    """Text between parentheses, in the signs of Western Europe; others become question marks."""
    plain = text.encode("cp1252", "replace").decode("latin-1")
    return plain.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _symbols(text: str) -> str:
    return "".join(f"\\{SYMBOLS[c]:03o}" for c in text)


def _color(color: str, operator: str) -> str:
    return " ".join(pt(v / 255) for v in channels(color)) + f" {operator}"


class _Page:
    """The operators of shapes; PDF counts its heights from the bottom."""

    def __init__(self, height: float) -> None:
        self.height = height

    def at(self, x: float, y: float) -> str:
        return f"{pt(x)} {pt(self.height - y)}"

    def shape(self, item: Item) -> Iterator[str]:
        match item:
            case Words(x, y, text, size, font, color):
                shown = _symbols(text) if font == "symbol" else _escaped(text)
                yield (
                    f"BT {_color(color, 'rg')} /{FONTS[font][0]} {pt(size)} Tf"
                    f" {self.at(x, y)} Td ({shown}) Tj ET"
                )
            case Line(x1, y1, x2, y2, width, color, arrow):
                path = f"{self.at(x1, y1)} m {self.at(x2, y2)} l"
                yield f"{_color(color, 'RG')} {pt(width)} w {path} S"
                if arrow:
                    a, b, c = (self.at(*p) for p in head(item))
                    yield f"{_color(color, 'rg')} {a} m {b} l {c} l h f"
            case Circle():
                yield from self._circle(item)
            case Box():
                yield self._box(item)
            case _:
                assert_never(item)

    def _circle(self, c: Circle) -> Iterator[str]:
        step = 2 * math.pi / max(len(c.fills), 1)
        for i, fill in enumerate(c.fills):
            start = f"{self.at(c.x, c.y)} m {self._on(c, i * step)} l"
            yield f"{_color(fill, 'rg')} {start} {self._arc(c, i * step, (i + 1) * step)} h f"
        outline = f"{self._on(c, 0)} m {self._arc(c, 0, 2 * math.pi)} h S"
        yield f"{_color(c.stroke, 'RG')} {pt(c.width)} w {outline}"

    def _on(self, c: Circle, angle: float) -> str:
        return self.at(c.x + c.r * math.sin(angle), c.y - c.r * math.cos(angle))

    def _arc(self, c: Circle, start: float, end: float) -> str:
        """Curves clockwise along a circle, each at most a quarter of it."""
        count = max(1, math.ceil((end - start) / (math.pi / 2) - 1e-9))
        step = (end - start) / count
        handle = 4 / 3 * math.tan(step / 4) * c.r
        curves: list[str] = []
        for i in range(count):
            a, b = start + i * step, start + (i + 1) * step
            (ax, ay), (bx, by) = (
                (c.x + c.r * math.sin(t), c.y - c.r * math.cos(t)) for t in (a, b)
            )
            first = self.at(ax + handle * math.cos(a), ay + handle * math.sin(a))
            second = self.at(bx - handle * math.cos(b), by - handle * math.sin(b))
            curves.append(f"{first} {second} {self.at(bx, by)} c")
        return " ".join(curves)

    def _box(self, b: Box) -> str:
        paint = "B" if b.fill else "S"
        fill = _color(b.fill, "rg") + " " if b.fill else ""
        style = f"{fill}{_color(b.stroke, 'RG')} {pt(b.width)} w"
        if not b.radius:
            return f"{style} {self.at(b.x, b.y + b.h)} {pt(b.w)} {pt(b.h)} re {paint}"
        r = min(b.radius, b.w / 2, b.h / 2)
        k = r * (1 - ROUND)
        left, top, right, bottom = b.x, b.y, b.x + b.w, b.y + b.h
        path = [
            f"{self.at(left + r, top)} m {self.at(right - r, top)} l",
            f"{self.at(right - k, top)} {self.at(right, top + k)} {self.at(right, top + r)} c",
            f"{self.at(right, bottom - r)} l",
            f"{self.at(right, bottom - k)} {self.at(right - k, bottom)}"
            f" {self.at(right - r, bottom)} c",
            f"{self.at(left + r, bottom)} l",
            f"{self.at(left + k, bottom)} {self.at(left, bottom - k)}"
            f" {self.at(left, bottom - r)} c",
            f"{self.at(left, top + r)} l",
            f"{self.at(left, top + k)} {self.at(left + k, top)} {self.at(left + r, top)} c h",
        ]
        return f"{style} {' '.join(path)} {paint}"
