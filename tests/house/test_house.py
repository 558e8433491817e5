"""What holds of the source itself: sizes, imports, and pages that name its functions."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from freshview.draw.svg import show_svg
from tests.house.imports import SOURCE, cycles, imports, modules
from tests.house.rooms import ROOT, rooms

MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60
MOST_FILES = 25

CALL = re.compile(r"`([\w/]+\.py)`\s+`(\w+)(?:\(\))?`")
"""A hop of a call chain: a file and a function or class in it."""


def test_no_module_imports_itself_by_others() -> None:
    assert cycles(imports()) == []


def test_files_are_short() -> None:
    long = {p.name: n for p in modules().values() if (n := _lines(p)) > MOST_LINES}
    assert long == {}


def test_functions_are_short() -> None:
    long = {}
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                size = (node.end_lineno or 0) - node.lineno + 1
                if size > MOST_LINES_OF_A_FUNCTION:
                    long[f"{name}.{node.name}"] = size
    assert long == {}


def test_folders_have_few_files() -> None:
    folders = {p.parent for p in modules().values()}
    counts = {str(f.relative_to(SOURCE)): len(list(f.glob("*.py"))) for f in folders}
    assert {f: n for f, n in counts.items() if n > MOST_FILES} == {}


def test_the_picture_of_the_rooms_is_drawn_anew(request: pytest.FixtureRequest) -> None:
    path = ROOT / "docs" / "internals" / "rooms.svg"
    text = show_svg(rooms())
    if request.config.getoption("--update-golden"):
        path.write_text(text)
    assert path.read_text() == text, "run: pytest tests/house --update-golden"


def test_the_path_of_a_query_names_functions_that_exist() -> None:
    page = (ROOT / "docs" / "internals" / "path.md").read_text()
    hops = CALL.findall(page)
    assert len(hops) >= 20
    assert [(f, n) for f, n in hops if n not in _defined(SOURCE / f)] == []


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def _defined(path: Path) -> set[str]:
    """The functions and classes of a file, methods included."""
    if not path.is_file():
        return set()
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {n.name for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, kinds)}
