"""The hybrid tree as a drawing: Valeanu 2018, 4.10. Tree, legend, definitions, abbreviations."""

from __future__ import annotations

import colorsys
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from freshview.draw.drawing import (
    INK,
    Box,
    Circle,
    Drawing,
    Item,
    Line,
    Piece,
    Scripts,
    Words,
    piece_width,
    reach,
    tint,
    width_of,
    write,
    write_phrase,
    write_piece,
)
from freshview.draw.tidy_tree import Room, Spot, tidy
from freshview.factorized.describe import show_function
from freshview.factorized.hybrid import Hybrid
from freshview.factorized.terms import Leaf, Tree, TreeNode, relations, trees

PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#b279a2", "#72b7b2", "#9d755d", "#d6a800")
MARGIN = 36.0
LEAST_WIDTH = 660.0
RING = 3.5
"""Between the two circles of a view that is kept."""

QUIET = "#8a94a0"
DELTA = "\u03b4"
PLUS = "\u2295"
TIMES = "\u2297"
WRAP = 22
"""Signs of a line of column names."""


@dataclass(frozen=True)
class Style:
    """What relations are called in names of views, and their colours."""

    short: dict[str, str]
    colors: dict[str, str]


def picture(h: Hybrid, title: str) -> Drawing:
    """The drawing of a hybrid tree with all that explains it."""
    style = _style(h)
    spot, width, height = tidy(_room(h.tree, h, style))
    right = max(MARGIN + width + MARGIN, LEAST_WIDTH)
    items: list[Item] = [*write(title, MARGIN, MARGIN + 8, 17, "bold")]
    words = re.split(r"(?<=[-,] )", f"variable order: {h.order}")
    order, y = write_phrase(
        [Piece((w,)) for w in words], MARGIN, MARGIN + 30, 10, right - MARGIN, color=QUIET
    )
    items += order
    left, top = (right - width) / 2, y + 28
    items += _edges(h.tree, spot, h, style, left, top)
    items += _nodes(h.tree, spot, h, style, left, top)
    y = top + height + 40
    for section in (_legend, _definitions, _abbreviations):
        drawn, y = section(h, style, y, right - MARGIN)
        items += drawn
        y += 26
    return Drawing(title, right, y + MARGIN - 26, tuple(items))


def _style(h: Hybrid) -> Style:
    names = list(dict.fromkeys(a.name for a in h.join.atoms))
    colors = {n: PALETTE[i] if i < len(PALETTE) else _more(i) for i, n in enumerate(names)}
    return Style(abbreviations(names), colors)


def _more(i: int) -> str:
    """Colours beyond the palette: far from those before on the wheel."""
    rgb = colorsys.hls_to_rgb((i * 0.618) % 1, 0.5, 0.45)
    return "#" + "".join(f"{round(v * 255):02x}" for v in rgb)


def abbreviations(names: list[str]) -> dict[str, str]:
    """Short names of relations: as few first letters as tell them apart.

    >>> abbreviations(["HOUSE", "SHOP", "STOCK"]), abbreviations(["R1", "R2"])
    ({'HOUSE': 'H', 'SHOP': 'SH', 'STOCK': 'ST'}, {'R1': 'R1', 'R2': 'R2'})
    """
    if all(len(n) <= 3 for n in names):
        return {n: n for n in names}
    short: dict[str, str] = {}
    for n in names:
        others = [m for m in names if m != n]
        lengths = range(1, len(n) + 1)
        short[n] = next((n[:k] for k in lengths if not any(m.startswith(n[:k]) for m in others)), n)
    return short


def _name(t: Tree, h: Hybrid, style: Style, *, delta: bool = False) -> Piece:
    """V with its variable above and its relations below, and its keys; R[columns] for a leaf."""
    mark = DELTA if delta else ""
    keys = f"[{', '.join(t.keys)}]"
    if isinstance(t, Leaf):
        return Piece((f"{mark}{style.short[t.atom.name]}", keys))
    below = ",".join(style.short[n] for n in relations(t))
    return Piece((f"{mark}V", Scripts(below, f"@{t.var or 'top'}"), keys))


def _lines(leaf: Leaf) -> list[str]:
    """The columns of a relation, over several lines if they are many."""
    lines: list[str] = [""]
    for i, v in enumerate(leaf.atom.vars):
        text = v + ("," if i + 1 < len(leaf.atom.vars) else "")
        if lines[-1] and len(lines[-1]) + 1 + len(text) > WRAP:
            lines.append(text)
        else:
            lines[-1] = f"{lines[-1]} {text}".strip()
    return lines


def _title(t: Tree, h: Hybrid) -> str:
    name = t.atom.name if isinstance(t, Leaf) else t.var or "top"
    return f"{DELTA}{name}" if h.changes(t) else name


def _size(text: str) -> float:
    """Long names are set smaller, so that their circles stay small."""
    return 12 if len(text) <= 7 else 10 if len(text) <= 10 else 8.5


def _radius(t: TreeNode, h: Hybrid) -> float:
    text = _title(t, h)
    return max(17.0, reach(text, _size(text), "bold") / 2 + 7)


def _outer(t: TreeNode, h: Hybrid) -> float:
    return _radius(t, h) + (RING if h.is_kept(t) else 0)


def _box(leaf: Leaf, h: Hybrid) -> tuple[float, float]:
    lines = _lines(leaf)
    width = max(width_of(_title(leaf, h), 12, "bold"), *(width_of(x, 9) for x in lines))
    return width + 20, 25 + 12 * len(lines)


def _room(t: Tree, h: Hybrid, style: Style) -> Room:
    if isinstance(t, Leaf):
        width, height = _box(t, h)
        return Room(width / 2, width / 2, height)
    r = _outer(t, h)
    label = piece_width(_name(t, h, style, delta=h.changes(t)), 10)
    return Room(r, r + 6 + label, 2 * r, [_room(c, h, style) for c in t.children])


def _walk(t: Tree, spot: Spot) -> Iterator[tuple[Tree, Spot]]:
    yield t, spot
    if isinstance(t, TreeNode):
        for child, place in zip(t.children, spot.children, strict=True):
            yield from _walk(child, place)


def _edges(
    root: Tree, spot: Spot, h: Hybrid, style: Style, left: float, top: float
) -> Iterator[Item]:
    """Lines upwards; on a way that a change takes they are thick, with an arrow."""
    for t, place in _walk(root, spot):
        if not isinstance(t, TreeNode):
            continue
        for child, below in zip(t.children, place.children, strict=True):
            half = _box(child, h)[1] / 2 if isinstance(child, Leaf) else _outer(child, h)
            x1, y1 = left + below.x, top + below.y - half
            x2, y2 = left + place.x, top + place.y
            gap = _outer(t, h) + 1.5
            far = math.hypot(x2 - x1, y2 - y1)
            x2, y2 = x2 - (x2 - x1) * gap / far, y2 - (y2 - y1) * gap / far
            changing = sorted(relations(child).keys() & h.streams)
            color = style.colors[changing[0]] if len(changing) == 1 else INK
            if changing:
                yield Line(x1, y1, x2, y2, 2.2, color, arrow=True)
            else:
                yield Line(x1, y1, x2, y2, 1, QUIET)


def _nodes(
    root: Tree, spot: Spot, h: Hybrid, style: Style, left: float, top: float
) -> Iterator[Item]:
    for t, place in _walk(root, spot):
        x, y = left + place.x, top + place.y
        if isinstance(t, Leaf):
            yield from _relation(t, x, y, h, style)
        else:
            yield from _variable(t, x, y, h, style)


def _relation(t: Leaf, x: float, y: float, h: Hybrid, style: Style) -> Iterator[Item]:
    width, height = _box(t, h)
    color = style.colors[t.atom.name]
    round_ = 11 if t.atom.name in h.streams else 0
    yield Box(x - width / 2, y - height / 2, width, height, round_, tint(color), color, 1.4)
    title = _title(t, h)
    yield from write(title, x - reach(title, 12, "bold") / 2, y - height / 2 + 16, 12, "bold")
    for i, line in enumerate(_lines(t)):
        yield from write(line, x - width_of(line, 9) / 2, y - height / 2 + 30 + 12 * i, 9)


def _variable(t: TreeNode, x: float, y: float, h: Hybrid, style: Style) -> Iterator[Item]:
    having = [a.name for a in h.join.atoms if t.var in a.vars]
    fills = tuple(tint(style.colors[n]) for n in dict.fromkeys(having))
    r = _radius(t, h)
    if h.is_kept(t):
        yield Circle(x, y, r + RING, ("#ffffff",), INK, 1.2)
    yield Circle(x, y, r, fills or ("#ffffff",), INK, 1.2)
    title = _title(t, h)
    size = _size(title)
    yield from write(title, x - reach(title, size, "bold") / 2, y + 0.35 * size, size, "bold")
    label = _name(t, h, style, delta=h.changes(t))
    yield from write_piece(label, x + _outer(t, h) + 5, y + 3.5, 10)


def _heading(text: str, y: float, right: float) -> Iterator[Item]:
    yield from write(text, MARGIN, y, 13, "bold")
    yield Line(MARGIN, y + 6, right, y + 6, 0.6, QUIET)


def _legend(h: Hybrid, style: Style, y: float, right: float) -> tuple[list[Item], float]:
    items: list[Item] = [*_heading("Legend", y, right)]
    x, text = MARGIN + 22, MARGIN + 54
    grey = "#e4e7eb"
    rows: list[tuple[list[Item], str]] = [
        ([Circle(x, 0, 9, (grey,))], "a variable; it has the colour of every relation that has it"),
        (
            [Circle(x, 0, 11, ("#ffffff",)), Circle(x, 0, 8, (grey,))],
            "a variable whose view must be materialized",
        ),
        ([Box(x - 15, -8, 30, 16, 0, grey)], "a relation that is loaded once (TABLE)"),
        ([Box(x - 15, -8, 30, 16, 7, grey)], "a relation that changes (STREAM)"),
        (
            [Line(x - 16, 0, x + 14, 0, 2.2, INK, arrow=True)],
            f"the way of a change to the root; {DELTA} marks what changes on it",
        ),
        (
            [*write(f"{PLUS}  {TIMES}", x - 14, 3.5, 11)],
            "addition over all values of a variable; join, which multiplies payloads",
        ),
    ]
    y += 26
    for shapes, words in rows:
        items += [_moved(s, y) for s in shapes]
        items += write(words, text, y + 3.5, 10)
        y += 25
    name = Piece(("V", Scripts("rels", "@X"), "[keys]"))
    items += write_piece(name, x - 16, y + 3.5, 10)
    words = "the view at variable X over the relations rels, a payload for each of its keys"
    items += write(words, text + 14, y + 3.5, 10)
    return items, y + 10


def _moved(s: Item, dy: float) -> Item:
    match s:
        case Line():
            return replace(s, y1=s.y1 + dy, y2=s.y2 + dy)
        case Words() | Circle() | Box():
            return replace(s, y=s.y + dy)
        case _:
            assert_never(s)


def _definitions(h: Hybrid, style: Style, y: float, right: float) -> tuple[list[Item], float]:
    """Every view, and where it changes its delta for each stream below it."""
    items: list[Item] = [*_heading("Definitions", y, right)]
    y += 28
    for t in trees(h.tree):
        if isinstance(t, Leaf):
            continue
        changing = [n for n in relations(t) if n in h.streams]
        for source in ("", *changing):
            words, y = write_phrase(
                _definition(t, h, style, source, len(changing) > 1), MARGIN, y, 11, right
            )
            items += words
            y += 22
    return items, y - 12


def _definition(t: TreeNode, h: Hybrid, style: Style, source: str, several: bool) -> list[Piece]:
    """V = sum of a product; with a source, the delta that follows a change of it."""
    head = _name(t, h, style, delta=bool(source))
    cause = f" (by {DELTA}{style.short[source]})" if source and several else ""
    out = [Piece((*head.parts, f"{cause} = "))]
    met = list(dict.fromkeys(k for c in t.children for k in c.keys))
    gone = sorted((v for v in met if v not in t.keys), key=lambda v: len(h.order.path(v)))
    out += [Piece((PLUS, Scripts(v), " ")) for v in gone]
    changed = [c for c in t.children if source and source in relations(c)][:1]
    parts = [_name(c, h, style, delta=any(c is x for x in changed)) for c in t.children] + [
        Piece((show_function(f),), "bold") for f in t.factors
    ]
    for i, p in enumerate(parts):
        out.append(Piece((f" {TIMES} ",)) if i else Piece(("(" * (len(parts) > 1),)))
        out.append(p)
    return [*out, Piece((")" * (len(parts) > 1),))]


def _abbreviations(h: Hybrid, style: Style, y: float, right: float) -> tuple[list[Item], float]:
    items: list[Item] = [*_heading("Abbreviations", y, right)]
    y += 28
    wide = max(width_of(s, 11, "bold") for s in style.short.values()) + 34
    for r in h.relations:
        color = style.colors[r.name]
        round_ = 0 if r.static else 4
        items.append(Box(MARGIN + 2, y - 8.5, 12, 10, round_, tint(color), color))
        items += write(style.short[r.name], MARGIN + 22, y, 11, "bold")
        kind = "table" if r.static else "stream"
        columns = [f"{c.name} {c.type}" for c in r.columns]
        pieces = [Piece((f"{kind} {r.name}(",))]
        pieces += [
            Piece((c + (", " if i + 1 < len(columns) else ")"),)) for i, c in enumerate(columns)
        ]
        words, y = write_phrase(pieces, MARGIN + wide, y, 10, right)
        items += words
        y += 20
    return items, y - 10
