"""What holds of the source itself: sizes, imports, and pages that name its functions."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshview.draw.svg import show_svg
from tests.house.imports import SOURCE, cycles, imports, modules
from tests.house.rooms import ROOT, levels, rooms

pytestmark = pytest.mark.xdist_group("house")  # the source is parsed once

MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60
MOST_FILES = 25
MOST_ANY = 200
MOST_IGNORED_TYPES = 50

RESULT_WORDS = {"found", "told", "made", "taken", "given"}
"""They say that something is a result, and not what it is."""
ONE_MEANING = {"Place", "Node", "Plan", "Compiler", "Options", "Settings", "Choices", "Passes"}
"""Words that many rooms could use: each is one class, and the others have longer names."""
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")

IGNORED_TYPE = re.compile(r"#\s*type:\s*ignore")

CALL = re.compile(r"`([\w/]+\.py)`\s+`(\w+)(?:\(\))?`")
"""A hop of a call chain: a file and a function or class in it."""

OTHERS = re.compile(CALL.pattern + r"\s+\(or ([^)]*)\)")
"""A hop, and the names of the same file that may take its place."""


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """The source of every module."""
    return {name: ast.parse(path.read_text()) for name, path in modules().items()}


def test_no_module_imports_itself_by_others() -> None:
    assert cycles(imports()) == []


@pytest.mark.parametrize(
    ("library", "home"),
    [("sqlglot", "freshview.sql.parse.statements"), ("pyspark", "freshview.spark")],
)
def test_all_but_one_module_or_room_may_not_import_a_library(library: str, home: str) -> None:
    """A contract lists who may not; packages around the home cannot be listed: see them here."""
    sources = _forbidden(library)
    packages = {home.rsplit(".", n)[0] for n in range(1, home.count(".") + 1)}
    outside = {n for n in modules() if not _is_inside(n, *sources)}
    assert {n for n in outside - packages if not _is_inside(n, home)} == set()
    assert not any(_is_inside(home, s) for s in sources)
    importing = {n for n in packages if library in _top_level_imports(modules()[n])}
    assert importing == set()


def test_no_contract_has_exceptions() -> None:
    assert [c["name"] for c in _contracts() if "ignore_imports" in c] == []


def test_files_are_short() -> None:
    long = {p.name: n for p in modules().values() if (n := _lines(p)) > MOST_LINES}
    assert long == {}


def test_functions_are_short(trees: dict[str, ast.Module]) -> None:
    long = {}
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                size = (node.end_lineno or 0) - node.lineno + 1
                if size > MOST_LINES_OF_A_FUNCTION:
                    long[f"{name}.{node.name}"] = size
    assert long == {}


def test_folders_have_few_files() -> None:
    folders = {p.parent for p in modules().values()}
    counts = {str(f.relative_to(SOURCE)): len(list(f.glob("*.py"))) for f in folders}
    assert {f: n for f, n in counts.items() if n > MOST_FILES} == {}


def test_types_say_what_a_thing_is(trees: dict[str, ast.Module]) -> None:
    counts = {name: n for name, tree in trees.items() if (n := _anys(tree))}
    assert sum(counts.values()) <= MOST_ANY, sorted(counts.items(), key=lambda c: -c[1])[:20]


def test_few_lines_are_left_unchecked() -> None:
    lines = [line for path in modules().values() for line in path.read_text().splitlines()]
    ignored = [line.strip() for line in lines if IGNORED_TYPE.search(line)]
    assert len(ignored) <= MOST_IGNORED_TYPES


def test_names_say_what_a_thing_is(trees: dict[str, ast.Module]) -> None:
    vague = {
        f"{module}: {name}"
        for module, tree in trees.items()
        for name in (module.rpartition(".")[2], *_bound_names(tree))
        if any(word.lower() in RESULT_WORDS for word in WORD.findall(name))
    }
    assert vague == set()


def test_a_word_names_one_class(trees: dict[str, ast.Module]) -> None:
    homes: dict[str, list[str]] = {}
    for module, tree in trees.items():
        for name in _declared_types(tree):
            homes.setdefault(name, []).append(module)
    assert {w: homes[w] for w in ONE_MEANING if len(homes.get(w, ())) > 1} == {}


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
    others = [(f, n) for f, _, names in OTHERS.findall(page) for n in re.findall(r"`(\w+)`", names)]
    assert others
    assert [(f, n) for f, n in [*hops, *others] if n not in _defined(SOURCE / f)] == []


def test_the_path_of_a_query_names_every_room() -> None:
    page = (ROOT / "docs" / "internals" / "path.md").read_text().split("## Words")[0]
    rooms_here = {room for level in levels() for room in level} - {"errors"}
    modules_apart = {"cost_model", "depth", "files", "lexer"}
    assert rooms_here - modules_apart - set(re.findall(r"`(\w+)`", page)) == set()


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def _anys(tree: ast.AST) -> int:
    """How often types are left open, those that are written as text included."""
    count = 0
    for node in ast.walk(tree):
        match node:
            case ast.Name(id="Any") | ast.Attribute(attr="Any"):
                count += 1
            case ast.Call(func=ast.Name(id="cast"), args=[ast.Constant(value=str(text)), _]):
                count += len(re.findall(r"\bAny\b", text))
    return count


def _defined(path: Path) -> set[str]:
    """The functions and classes of a file, methods included."""
    if not path.is_file():
        return set()
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {n.name for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, kinds)}


def _bound_names(tree: ast.AST) -> Iterator[str]:
    """The names that a module gives: what it calls by the names of others is theirs."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.alias(asname=str(name))
                | ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                yield name


def _declared_types(tree: ast.Module) -> Iterator[str]:
    """The classes, aliases and variables of types that a module declares."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name


def _contracts() -> list[dict[str, list[str]]]:
    """The contracts between modules, as pyproject.toml has them."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts: list[dict[str, list[str]]] = config["tool"]["importlinter"]["contracts"]
    return contracts


def _forbidden(library: str) -> list[str]:
    """The modules that may not import a library."""
    return next(
        c["source_modules"] for c in _contracts() if library in c.get("forbidden_modules", ())
    )


def _is_inside(name: str, *packages: str) -> bool:
    return any(f"{name}.".startswith(f"{p}.") for p in packages)


def _top_level_imports(path: Path) -> set[str]:
    """The packages that a file imports, each by the first part of its name."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.split(".")[0] for name in names}


def test_groups_stay_together(request: pytest.FixtureRequest) -> None:
    """The processes of `make test` are told by the ids of tests which ones share what they make."""
    if getattr(request.config.option, "loadgroup", False):
        assert request.node.nodeid.endswith("@house")
