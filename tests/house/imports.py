"""Which module of Freshview imports which, read from the source; TYPE_CHECKING imports count."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import freshview

SOURCE = Path(freshview.__file__).parent
Graph = dict[str, frozenset[str]]


def modules() -> dict[str, Path]:
    """Every module by its name."""
    paths = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


@cache
def imports() -> Graph:
    """For every module, the modules of Freshview that it imports."""
    known = modules()
    return {
        name: frozenset(_imported(path, known)) - {name, "freshview"}
        for name, path in known.items()
        if name != "freshview"
    }


def _imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name in known)
        elif isinstance(node, ast.ImportFrom) and (node.module or "") in known:
            for a in node.names:
                inner = f"{node.module}.{a.name}"
                yield inner if inner in known else str(node.module)


def cycles(graph: Graph) -> list[list[str]]:
    """Sets of modules of which each imports, by others of them, itself.

    >>> cycles({"a": frozenset("b"), "b": frozenset("a"), "c": frozenset("a")})
    [['a', 'b']]
    """
    reached = {name: _reached(graph, name) for name in graph}
    sets = {frozenset(o for o in reached[n] if n in reached[o]) for n in graph if n in reached[n]}
    return sorted(sorted(s) for s in sets)


def _reached(graph: Graph, name: str) -> set[str]:
    reached: set[str] = set()
    ahead = [name]
    while ahead:
        for other in graph.get(ahead.pop(), frozenset()) - reached:
            reached.add(other)
            ahead.append(other)
    return reached
