"""Drawings: SVG that is XML, PDF whose table of objects is right, trees without overlaps."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.cli.factorized import Log, translate
from freshview.draw.drawing import Box, Circle, Drawing, Line, Words, width_of
from freshview.draw.pdf import show_pdf
from freshview.draw.svg import show_svg
from freshview.draw.tidy_tree import Room, Spot, tidy
from freshview.factorized.picture import picture
from tests.golden.m3.test_m3 import FOLDER, NAMES, choices

SHEET = Drawing(
    'a (sheet) \\ of "<shapes>" é',
    200,
    100,
    (
        Box(10, 10, 50, 20, 6, "#ffeeaa"),
        Box(10, 40, 50, 20),
        Circle(100, 30, 12, ("#ff0000", "#00ff00", "#0000ff")),
        Circle(130, 30, 12, ("#ff0000",)),
        Line(20, 70, 90, 90, 2, "#112233", arrow=True),
        Words(10, 95, "f(x) & <y> \\ é Ω", 10, "bold"),
        Words(80, 95, "\u03b4", 10, "symbol"),
    ),
)


def test_svg_is_xml() -> None:
    root = ElementTree.fromstring(show_svg(SHEET))
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["f(x) & <y> \\ é Ω", "\u03b4"]


def test_pdf_says_where_its_objects_are() -> None:
    data = show_pdf(SHEET)
    assert data == show_pdf(SHEET)
    start = int(re.findall(rb"startxref\n(\d+)\n", data)[0])
    assert data[start:].startswith(b"xref\n")
    offsets = [int(o) for o in re.findall(rb"(\d{10}) 00000 n", data)]
    for number, offset in enumerate(offsets, 1):
        assert data[offset:].startswith(b"%d 0 obj\n" % number)
    [length] = re.findall(rb"/Length (\d+)", data)
    stream = data[data.index(b"stream\n") + 7 : data.index(b"\nendstream")]
    assert len(stream) == int(length)
    assert rb"(f\(x\) & <y> \\ " in stream
    assert rb"(\144) Tj" in stream


rooms = st.recursive(
    st.builds(Room, *[st.floats(1, 50)] * 3),
    lambda inner: st.builds(Room, *[st.floats(1, 50)] * 3, st.lists(inner, max_size=4)),
    max_leaves=12,
)


def places(room: Room, spot: Spot) -> list[tuple[Room, Spot]]:
    spots = [(room, spot)]
    for child, place in zip(room.children, spot.children, strict=True):
        spots += places(child, place)
    return spots


@given(rooms)
def test_no_two_nodes_of_a_tree_overlap(room: Room) -> None:
    spot, width, height = tidy(room, across=5, down=7)
    spots = places(room, spot)
    for r, s in spots:
        assert s.x - r.left >= -1e-6
        assert s.x + r.right <= width + 1e-6
        assert s.y + r.height / 2 <= height + 1e-6
    for (a, at), (b, bt) in combinations(spots, 2):
        beside = at.x + a.right <= bt.x - b.left + 1e-6 or bt.x + b.right <= at.x - a.left + 1e-6
        above = abs(at.y - bt.y) >= (a.height + b.height) / 2 - 1e-6
        assert beside or above


Area = tuple[float, float, float, float]


def area(item: object) -> Area | None:
    match item:
        case Words(x, y, text, size, font):
            return x, y - 0.72 * size, x + width_of(text, size, font), y + 0.1 * size
        case _:
            return None


def overlap(a: Area, b: Area) -> bool:
    slack = 0.6
    return min(a[2], b[2]) - max(a[0], b[0]) > slack and min(a[3], b[3]) - max(a[1], b[1]) > slack


@pytest.mark.parametrize("name", NAMES)
def test_no_two_labels_overlap(name: str) -> None:
    for translation in translate(FOLDER / name / "query.sql", choices(name), Log()):
        for tree in translation.hybrids:
            drawing = picture(tree, "a tree")
            labels = [(i, box) for i in drawing.items if (box := area(i)) is not None]
            for (a, first), (b, second) in combinations(labels, 2):
                scripts = a.size != b.size  # above and below the line, right after their letter
                assert scripts or not overlap(first, second), (a, b)
            for _, (left, top, right, bottom) in labels:
                assert left >= 0
                assert top >= 0
                assert right <= drawing.width
                assert bottom <= drawing.height
