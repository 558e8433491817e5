"""Physical plans as drawings: a box a component, from the sources on the left to the result."""

from __future__ import annotations

from html import escape

from freshview.dataflow.plan.physical import Component, Topology
from freshview.dataflow.plan.text import show_node
from freshview.draw.drawing import Box, Drawing, Item, Line, Words, reach, tint
from freshview.draw.svg import show_svg

MARGIN, GAP, ROW, PAD = 24.0, 90.0, 15.0, 10.0
TITLE, TEXT = 11.0, 9.0
LONGEST = 56
"""Signs of a line; the rest of a longer one is left out."""
_COLORS = {"source": "#54a24b", "join": "#f58518", "groups": "#4c78a8"}
QUIET = "#8a94a0"


def picture(t: Topology, title: str = "topology") -> Drawing:
    """The drawing of a topology."""
    levels = _levels(t)
    lines = {c.name: _lines(c) for c in t.components}
    widths = {c.name: _width(c, lines[c.name]) for c in t.components}
    heights = {c.name: 2 * PAD + ROW * (1 + len(lines[c.name])) for c in t.components}
    place: dict[str, tuple[float, float]] = {}
    x, bottom = MARGIN, 0.0
    for level in levels:
        y = MARGIN
        for name in level:
            place[name] = (x, y)
            y += heights[name] + MARGIN
        bottom = max(bottom, y)
        x += max(widths[name] for name in level) + GAP
    items: list[Item] = []
    for c in t.components:
        for number, edge in enumerate(c.inputs):
            items += _edge(place, widths, heights, edge.source, c, number, str(edge.by))
    for c in t.components:
        items += _box(c, lines[c.name], place[c.name], widths[c.name], heights[c.name])
    return Drawing(title, x - GAP + MARGIN, bottom, tuple(items))


def html_of(text: str, drawing: Drawing) -> str:
    """A plan as a notebook shows it: its text, and the topology."""
    svg = show_svg(drawing)
    return f"<pre>{escape(text)}</pre>\n{svg}"


def _levels(t: Topology) -> list[list[str]]:
    """The components by how far they are from the sources."""
    depth: dict[str, int] = {}
    for c in t.components:
        depth[c.name] = 1 + max((depth[e.source] for e in c.inputs), default=-1)
    return [[n for n, d in depth.items() if d == k] for k in range(max(depth.values()) + 1)]


def _lines(c: Component) -> list[str]:
    texts = [show_node(p) for p in c.operators]
    return [t if len(t) <= LONGEST else t[: LONGEST - 3] + "..." for t in texts]


def _title(c: Component) -> str:
    return c.name if c.parallelism == 1 else f"{c.name} x {c.parallelism}"


def _width(c: Component, lines: list[str]) -> float:
    widest = max([reach(line, TEXT) for line in lines], default=0.0)
    return 2 * PAD + max(widest, reach(_title(c), TITLE, "bold"), 60.0)


def _box(
    c: Component, lines: list[str], at: tuple[float, float], width: float, height: float
) -> list[Item]:
    x, y = at
    color = _COLORS[c.kind]
    items: list[Item] = [Box(x, y, width, height, 5, tint(color, 0.25), color)]
    items.append(Words(x + PAD, y + PAD + 8, _title(c), TITLE, "bold"))
    for k, line in enumerate(lines, 1):
        items.append(Words(x + PAD, y + PAD + 8 + ROW * k, line, TEXT))
    return items


def _edge(
    place: dict[str, tuple[float, float]],
    widths: dict[str, float],
    heights: dict[str, float],
    source: str,
    c: Component,
    number: int,
    text: str,
) -> list[Item]:
    (x1, y1), (x2, y2) = place[source], place[c.name]
    start = (x1 + widths[source], y1 + heights[source] / 2)
    share = (number + 1) / (len(c.inputs) + 1)
    end = (x2, y2 + heights[c.name] * share)
    words = Words(
        (start[0] + end[0]) / 2 - reach(text, TEXT) / 2,
        (start[1] + end[1]) / 2 - 4,
        text,
        TEXT,
        "plain",
        QUIET,
    )
    return [Line(*start, *end, 1, QUIET, arrow=True), words]
