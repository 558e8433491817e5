"""The rooms of the house as a drawing: each on its level, with a line to every room it imports."""

from __future__ import annotations

import tomllib
from pathlib import Path

from freshview.draw.drawing import Box, Drawing, Item, Line, Words, width_of
from tests.house.imports import imports

WIDE, HIGH, GAP = 104.0, 26.0, 58.0
"""The size of a room, and from level to level."""

ROOT = Path(__file__).resolve().parent.parent.parent


def levels() -> list[list[str]]:
    """The rooms from top to bottom, as the contract in pyproject.toml has them."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(c["layers"] for c in config["contracts"] if c["type"] == "layers")
    rooms = [[r.strip() for r in level.split("|")] for level in layers]
    built = [[r for r in level if not r.startswith("(")] for level in rooms]
    return [level for level in built if level]


def room_imports() -> set[tuple[str, str]]:
    """Which room imports which."""
    pairs = {(a.split(".")[1], b.split(".")[1]) for a, others in imports().items() for b in others}
    return {(a, b) for a, b in pairs if a != b and "errors" not in (a, b)}


def rooms() -> Drawing:
    """The whole picture; `errors`, which all import, has no lines."""
    by_level = levels()
    width = max(len(level) for level in by_level) * (WIDE + 30) + 40
    at: dict[str, tuple[float, float]] = {}
    for n, level in enumerate(by_level):
        shift = 46.0 if n % 2 else -46.0  # so that lines do not run through rooms
        left = (width - len(level) * (WIDE + 30) + 30) / 2 + (shift if len(level) == 1 else 0)
        for i, room in enumerate(level):
            at[room] = left + i * (WIDE + 30), 20 + n * GAP
    lines: list[Item] = []
    for a, b in sorted(room_imports()):
        (x1, y1), (x2, y2) = at[a], at[b]
        color = "#8fa3b5" if y2 - y1 <= GAP else "#d3dbe3"
        lines.append(Line(x1 + WIDE / 2, y1 + HIGH, x2 + WIDE / 2, y2, 0.8, color, arrow=True))
    boxes: list[Item] = []
    for room, (x, y) in at.items():
        boxes.append(Box(x, y, WIDE, HIGH, 4, "#eef3f8"))
        boxes.append(Words(x + (WIDE - width_of(room, 11, "bold")) / 2, y + 17, room, 11, "bold"))
    height = 20 + len(by_level) * GAP
    return Drawing("The rooms of Freshview", width, height, (*lines, *boxes))
