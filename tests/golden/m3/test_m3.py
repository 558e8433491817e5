"""From SQL and a dtree file to M3, as Valeanu 2018 lists it; one folder a script.

    NAME/query.sql     the SQL, with ring.hpp and dtree.txt where there are such
    NAME/plain.m3      M3 without inlining
    NAME/query.m3      M3
    NAME/explain.txt   the variable order, the view tree, maps and triggers, in words
    NAME/query.svg     the hybrid tree (of some)

To make them anew: pytest tests/golden --update-golden
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from freshview.cli.factorized import DiagramOptions, Log, Translated, explain_factorized, translate
from freshview.draw.svg import show_svg
from freshview.factorized.picture import picture
from freshview.program.read_m3 import read_m3
from freshview.program.show_m3 import show_m3
from tests.golden.conftest import Golden

FOLDER = Path(__file__).parent
NAMES = sorted(p.parent.name for p in FOLDER.glob("*/query.sql"))
DRAWN = ("figure", "housing")
DOCS = Path(__file__).parents[3] / "docs" / "how-to"


def choices(name: str) -> DiagramOptions:
    dtree = FOLDER / name / "dtree.txt"
    return DiagramOptions(dtree if dtree.exists() else None)


def translated(name: str, *, inline: bool) -> Translated:
    chosen = replace(choices(name), inline=inline)
    [translation] = translate(FOLDER / name / "query.sql", chosen, Log())
    return translation


@pytest.mark.parametrize("name", NAMES)
def test_listing(name: str, golden: Golden) -> None:
    for file, inline in (("plain.m3", False), ("query.m3", True)):
        listing = translated(name, inline=inline).listing
        text = show_m3(listing)
        assert read_m3(text, file) == listing
        golden(FOLDER / name / file, text)


@pytest.mark.parametrize("name", NAMES)
def test_explanation(name: str, golden: Golden) -> None:
    [text] = explain_factorized(FOLDER / name / "query.sql", "", choices(name))
    golden(FOLDER / name / "explain.txt", text.replace(f"{FOLDER / name}/", "") + "\n")


@pytest.mark.parametrize("name", DRAWN)
def test_drawing(name: str, golden: Golden) -> None:
    [tree] = translated(name, inline=True).hybrids
    golden(FOLDER / name / "query.svg", show_svg(picture(tree, f"query: {tree.name}")))


def test_the_picture_of_the_docs(golden: Golden) -> None:
    [tree] = translated("revenue", inline=True).hybrids
    golden(DOCS / "factorized.svg", show_svg(picture(tree, f"revenue: {tree.name}")))
