"""The maps of a program as a picture: from the relations, at the bottom, to the view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freshview.calculus.terms import Expr, View
from freshview.calculus.walk import atoms, distinct_subterms
from freshview.draw.drawing import Box, Drawing, Item, Line, Words, tint, width_of
from freshview.draw.svg import show_svg
from freshview.program.terms import Program

SIZE = 11.0
ROW, GAP, MARGIN = 74.0, 18.0, 16.0
HEIGHT = 26.0
MOST_KEYS = 40

COLORS = {"relation": "#2b6cb0", "map": "#2f855a", "view": "#b7791f"}


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    kind: str
    label: str
    level: int

    @property
    def width(self) -> float:
        return width_of(self.label, SIZE, "bold") + 20


def map_graph(program: Program) -> str:
    """The maps of a program as SVG: arrows lead from what is read to what is computed from it."""
    nodes = {n.name: n for n in _nodes(program)}
    levels = sorted({n.level for n in nodes.values()}, reverse=True)
    rows = [[n for n in nodes.values() if n.level == level] for level in levels]
    widths = [sum(n.width for n in row) + GAP * (len(row) - 1) for row in rows]
    width = max(widths, default=0) + 2 * MARGIN
    places: dict[str, tuple[float, float]] = {}
    for number, (row, used) in enumerate(zip(rows, widths, strict=True)):
        x = (width - used) / 2
        for node in row:
            places[node.name] = (x + node.width / 2, MARGIN + number * ROW)
            x += node.width + GAP
    arrows = [_arrow(places[a], places[b]) for a, b in _edges(program) if {a, b} <= places.keys()]
    boxes = [item for n in nodes.values() for item in _box(n, *places[n.name])]
    height = 2 * MARGIN + HEIGHT + ROW * max(len(rows) - 1, 0)
    title = ", ".join(q.name for q in program.queries)
    return show_svg(Drawing(f"maps of {title}", width, height, (*arrows, *boxes)))


def _nodes(program: Program) -> Iterator[_Node]:
    """Relations, then maps by the number of relations that they join, then the views."""
    read = {r for m in program.maps for r in _relations(m.definition)}
    read |= {t.relation for t in program.triggers}
    for relation in program.relations:
        if relation.name in read:
            yield _Node(f"relation {relation.name}", "relation", relation.name, 0)
    top = 1
    for m in program.maps:
        level = max(len(_relations(m.definition)), 1)
        top = max(top, level)
        keys = ", ".join(c.name for c in m.keys)
        keys = keys if len(keys) <= MOST_KEYS else keys[: MOST_KEYS - 1] + ".."
        yield _Node(f"map {m.name}", "map", f"{m.name}[{keys}]", level)
    for query in program.queries:
        yield _Node(f"view {query.name}", "view", query.name, top + 1)


def _relations(e: Expr) -> list[str]:
    return [atom.name for atom in atoms(e)]


def _maps(e: Expr) -> set[str]:
    return {x.name for x in distinct_subterms(e) if isinstance(x, View)}


def _edges(program: Program) -> list[tuple[str, str]]:
    edges: dict[tuple[str, str], None] = {}
    for trigger in program.triggers:
        for statement in trigger.statements:
            target = f"map {statement.target.name}"
            edges[f"relation {trigger.relation}", target] = None
            for name in sorted(_maps(statement.term) - {statement.target.name}):
                edges[f"map {name}", target] = None
            for name in _relations(statement.term):
                edges[f"relation {name}", target] = None
    for query in program.queries:
        for name in sorted(_maps(query.term)):
            edges[f"map {name}", f"view {query.name}"] = None
    return list(edges)


def _box(node: _Node, x: float, y: float) -> Iterator[Item]:
    color, left = COLORS[node.kind], x - node.width / 2
    yield Box(left, y, node.width, HEIGHT, 6, tint(color, 0.2), color)
    start = x - width_of(node.label, SIZE, "bold") / 2
    yield Words(start, y + HEIGHT / 2 + SIZE * 0.36, node.label, SIZE, "bold")


def _arrow(source: tuple[float, float], target: tuple[float, float]) -> Line:
    """From the top of a lower box to the bottom of a higher one; beside it within a row."""
    (x1, y1), (x2, y2) = source, target
    if y1 > y2:
        return Line(x1, y1, x2, y2 + HEIGHT, 1, "#8795a1", arrow=True)
    if y1 < y2:
        return Line(x1, y1 + HEIGHT, x2, y2, 1, "#8795a1", arrow=True)
    return Line(x1, y1 + HEIGHT, x2, y2 + HEIGHT, 1, "#8795a1", arrow=True)
