"""Rates over a size as a plot of lines, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from bench.data import BUILD
from bench.report import cell
from freshview.draw.drawing import Circle, Drawing, Item, Line, Words, width_of
from freshview.draw.svg import show_svg

COLORS = ("#1d6fa5", "#d1495b", "#2e8b57", "#b8860b", "#6a4c93", "#52606d")
GRID = "#d9dee3"
_WIDTH, _HEIGHT = 760.0, 430.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 190.0, 46.0, 52.0

Points = Sequence[tuple[float, float]]


def plot(name: str, title: str, across: str, lines: Mapping[str, Points]) -> str:
    """Write a plot to the folder of results; tells where it is."""
    path = BUILD / f"{name}.svg"
    BUILD.mkdir(parents=True, exist_ok=True)
    path.write_text(show_svg(drawn(title, across, lines)))
    return str(path)


def drawn(title: str, across: str, lines: Mapping[str, Points]) -> Drawing:
    """The plot as a drawing, each line with its name at its end.

    >>> d = drawn("rates", "rows", {"a": [(1, 10), (100, 1000)]})
    >>> [w.text for w in d.items if isinstance(w, Words)]
    ['rates', '1', '10', '100', 'rows', '10', '100', '1 k', 'a']
    """
    xs = [x for points in lines.values() for x, _ in points]
    ys = [y for points in lines.values() for _, y in points]
    x_axis = _Axis(min(xs), max(xs), _LEFT, _WIDTH - _RIGHT)
    y_axis = _Axis(min(ys), max(ys), _HEIGHT - _BOTTOM, _TOP)
    items: list[Item] = [Words(_LEFT, 24, title, 13, "bold")]
    for x in x_axis.ticks():
        at, text = x_axis.at(x), cell(x)
        items.append(Line(at, _TOP, at, _HEIGHT - _BOTTOM, 0.7, GRID))
        items.append(Words(at - width_of(text, 10) / 2, _HEIGHT - _BOTTOM + 16, text))
    middle = (_LEFT + _WIDTH - _RIGHT - width_of(across, 10)) / 2
    items.append(Words(middle, _HEIGHT - 14, across))
    for y in y_axis.ticks():
        at, text = y_axis.at(y), cell(y)
        items.append(Line(_LEFT, at, _WIDTH - _RIGHT, at, 0.7, GRID))
        items.append(Words(_LEFT - 8 - width_of(text, 10), at + 3.5, text))
    places = _apart([y_axis.at(points[-1][1]) for points in lines.values()])
    for n, ((name, points), label) in enumerate(zip(lines.items(), places, strict=True)):
        color = COLORS[n % len(COLORS)]
        spots = [(x_axis.at(x), y_axis.at(y)) for x, y in points]
        items += [Line(*a, *b, 1.8, color) for a, b in pairwise(spots)]
        items += [Circle(x, y, 3, (color,), color) for x, y in spots]
        items.append(Words(_WIDTH - _RIGHT + 10, label + 3.5, name, color=color))
    return Drawing(title, _WIDTH, _HEIGHT, tuple(items))


class _Axis:
    """Values between powers of ten, and where they stand."""

    def __init__(self, least: float, most: float, start: float, end: float) -> None:
        self.low = math.floor(math.log10(least) + 1e-9)
        self.high = max(math.ceil(math.log10(most) - 1e-9), self.low + 1)
        self.start, self.end = start, end

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        return [10.0**n for n in range(self.low, self.high + 1)]


def _apart(places: Sequence[float], gap: float = 14.0) -> list[float]:
    """Places of labels, moved down where they would lie on one another."""
    out = list(places)
    last = -math.inf
    for n in sorted(range(len(out)), key=out.__getitem__):
        last = out[n] = max(out[n], last + gap)
    return out
