"""The files of a standalone build: the kernel, its headers, a program, and a library for C."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from freshview.calculus.schema import Column, Query
from freshview.codegen.cpp.code import identifier, join
from freshview.codegen.cpp.types import quote
from freshview.codegen.library.toolchain import NATIVE
from freshview.errors import NotNative
from freshview.program.terms import Program

HERE = NATIVE / "standalone"
LIBRARY_SOURCES = ("views.cpp", "api.cpp", "script.cpp")
"""What a library is built from; the program needs `main.cpp` beside them."""

OWN_FILES = ("main.cpp", "api.cpp", "freshview.h")
INCLUDED = re.compile(r'^#include "([\w.]+)"$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CsvFile:
    """Where the rows of a relation come from: a path, as the script has it, and a delimiter."""

    path: str
    delimiter: str = ","


def standalone_files(
    program: Program, kernel: str, sources: Mapping[str, CsvFile]
) -> dict[str, str]:
    """File name to text, all that a C++ compiler needs; `kernel` is the C++ of the program.

    A relation without a source gets its rows as events.
    """
    files = {name: (HERE / name).read_text(encoding="utf-8") for name in OWN_FILES}
    files["views.cpp"] = kernel
    files["views.h"] = _numbers(program)
    files["script.cpp"] = _script(program, sources)
    files |= _headers(files.values())
    return dict(sorted(files.items()))


def _headers(texts: Iterable[str]) -> dict[str, str]:
    """The headers that texts include, and those that they include."""
    out: dict[str, str] = {}
    waiting = [name for text in texts for name in INCLUDED.findall(text)]
    while waiting:
        name = waiting.pop()
        path = next((p for p in (HERE / name, NATIVE / name) if p.is_file()), None)
        if name in out or path is None:  # what is none of ours is generated
            continue
        out[name] = path.read_text(encoding="utf-8")
        waiting += INCLUDED.findall(out[name])
    return out


def _script(program: Program, sources: Mapping[str, CsvFile]) -> str:
    """What `script.hpp` declares."""
    orders = [_sort_columns(q) for q in program.queries]
    sort_columns = [
        f"static const SortColumn by_{i}[] = {{{', '.join(columns)}}};"
        for i, columns in enumerate(orders)
        if columns
    ]
    view_orders = [
        f"  {{{len(columns)}, {f'by_{i}' if columns else 'nullptr'}}},"
        for i, columns in enumerate(orders)
    ]
    files = [_source(i, sources.get(r.name)) for i, r in enumerate(program.relations)]
    return join(
        [
            '#include "script.hpp"\n',
            "namespace fr {\n",
            *sort_columns,
            *_array("SourceFile sources", files),
            *_array("ViewOrder orders", view_orders),
            "const Script script = {sources, orders};",
            "\n}  // namespace fr",
        ]
    )


def _array(head: str, entries: Sequence[str]) -> list[str]:
    return [f"static const {head}[] = {{", *entries, "  {},", "};"]  # never empty: C++ has no such


def _source(relation: int, source: CsvFile | None) -> str:
    if source is None:
        return f"  {{{relation}, nullptr, ','}},"
    return f"  {{{relation}, {quote(source.path)}, char({ord(source.delimiter)})}},"


def _sort_columns(query: Query) -> list[str]:
    """The order of a view by the numbers of its columns in the kernel."""
    rings = [i for i, c in enumerate(query.columns) if c.type.kind == "ring"]
    out = []
    for o in query.order:
        at = query.vars.index(o.var)
        if rings and at > rings[0]:
            raise NotNative(f"'{query.name}' is ordered by a column behind an element of a ring")
        words = (str(at), str(o.descending).lower(), str(o.nulls_first).lower())
        out.append(f"{{{', '.join(words)}}}")
    return out


def _numbers(program: Program) -> str:
    """A header for C with the numbers of relations, views and columns."""
    return join(
        [
            "/* The numbers of relations, views and columns for the calls of freshview.h. */",
            "#ifndef FRESHVIEW_VIEWS_H",
            "#define FRESHVIEW_VIEWS_H\n",
            '#include "freshview.h"\n',
            "enum {",
            *_constants("RELATION", [(r.name, r.columns) for r in program.relations]),
            *_constants("VIEW", [(q.name, q.columns) for q in program.queries]),
            "};\n",
            "#endif",
        ]
    )


def _constants(kind: str, tables: Sequence[tuple[str, Sequence[Column]]]) -> list[str]:
    lines = []
    for number, (name, columns) in enumerate(tables):
        shown = ", ".join(f"{c.name} {c.type}" for c in columns).replace("*/", "* /")
        lines.append(f"  {kind}_{identifier(name).upper()} = {number}, /* {shown} */")
    return lines


def build_words(words: Sequence[str], folder: Path) -> str:
    """The command that builds the program, from wherever it is called.

    >>> build_words(["c++", "-O2"], Path("out"))
    'c++ -O2 -o out/views out/main.cpp out/views.cpp out/api.cpp out/script.cpp -lpthread'
    """
    sources = [shlex.quote(str(folder / name)) for name in ("main.cpp", *LIBRARY_SOURCES)]
    target = shlex.quote(str(folder / "views"))
    return " ".join([*words, "-o", target, *sources, "-lpthread"])
