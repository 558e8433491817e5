"""`freshview compile` and `explain` with --strategy factorized: from SQL and a dtree file to M3."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from freshview.cli.compile import compile_script
from freshview.cli.files import write_file
from freshview.cli.script import read_text
from freshview.draw.pdf import show_pdf
from freshview.draw.svg import show_svg
from freshview.errors import FreshviewError, ProgramProblem, UnknownName, UnsupportedSql
from freshview.factorized.check_dtree import DTreeFile, check_agrees, read_dtree_file
from freshview.factorized.describe import (
    listed,
    plural,
    show_functions,
    show_merged,
    show_tree_of_variables,
    show_view_tree,
)
from freshview.factorized.hybrid import Hybrid, hybrid
from freshview.factorized.listing import listing
from freshview.factorized.optimize import find_order
from freshview.factorized.order import OrderProblem
from freshview.factorized.picture import picture
from freshview.factorized.readout import NotFactorized
from freshview.factorized.terms import Join
from freshview.program.listing import Listing
from freshview.program.read_m3 import read_m3
from freshview.program.show_m3 import show_m3
from freshview.runtime.ingest.file_names import file_name
from freshview.runtime.settings import DatabaseSettings
from freshview.sql import Catalog
from freshview.sql.join_aggregates import Aggregated, load_joined

NO_ENGINE = "this M3 is for reading; `--engine native` shows the program that connect() runs"


@dataclass(frozen=True)
class DiagramOptions:
    """What may be left out: merging of chains, inlining, drawing, the check, standalone code."""

    dtree: Path | None = None
    compact: bool = True
    inline: bool = True
    diagram: bool = True
    check: bool = True
    standalone: bool = True


@dataclass(frozen=True)
class Translated:
    """One view on its way: its aggregates, their hybrid trees, and the M3 of all of them."""

    query: Aggregated
    hybrids: tuple[Hybrid, ...]
    listing: Listing
    source: str
    """Where the variable order comes from, in words."""


@dataclass
class Log:
    """What one run did, line by line; written when the run ends, however it ends."""

    lines: list[str] = field(default_factory=list)

    def say(self, *lines: str) -> None:
        """One more line, or several."""
        self.lines.extend(lines)

    def section(self, title: str, lines: list[str]) -> None:
        """Lines under a heading, if there are any."""
        if lines:
            self.say("", title, *(f"  {line}" for line in lines))


def compile_factorized(
    script: Path,
    folder: Path,
    choices: DiagramOptions,
    settings: DatabaseSettings,
    tell: Callable[[str], object],
) -> Iterator[Path | str]:
    """Write NAME.m3, NAME.svg and NAME.pdf for every view, and one log of the run.

    What the engines run comes after them: NAME.program.m3, .mmd, .cpp and .so, and
    standalone code. A view that is more than aggregates over a join has only these, and `tell`
    hears why.
    """
    log = Log()
    try:
        translated = yield from _listed(script, folder, choices, log)
    except UnsupportedSql as e:
        if choices.dtree is not None:
            raise
        tell(f"no listing in M3: {e}")
        translated = []
    ordered = translated if choices.dtree is not None else []
    settings = replace(settings, orders={t.query.name: t.hybrids[0].order for t in ordered})
    try:
        yield from compile_script(script, folder, settings, tell, ".program.m3", choices.standalone)
    except OrderProblem as e:  # an order over names that only the listing has
        tell(f"no program for the engines: {e}")


def _listed(
    script: Path, folder: Path, choices: DiagramOptions, log: Log
) -> Generator[Path, None, list[Translated]]:
    """The M3 and the drawings, and one log of the run."""
    done: list[Translated] = []
    now = datetime.now(UTC)
    version = metadata.version("freshview")
    log.say(f"freshview {version}, {now:%Y-%m-%d %H:%M:%S} UTC: compile {script}")
    start = time.perf_counter()
    try:
        for translated in translate(script, choices, log):
            yield from _write(translated, folder, choices, log)
            done.append(translated)
        log.say("", f"done in {time.perf_counter() - start:.3f} s")
    except FreshviewError as e:
        log.say("", f"failed after {time.perf_counter() - start:.3f} s: {e}")
        raise
    finally:
        written = write_file(_unused(folder, f"compile-{now:%Y%m%d-%H%M%S}"), log.lines)
    yield written
    return done


def _unused(folder: Path, name: str) -> Path:
    """A log of its own for every run, also for two in one second."""
    path, number = folder / f"{name}.log", 1
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}.log"
    return path


def translate(script: Path, choices: DiagramOptions, log: Log) -> Iterator[Translated]:
    """The views of a script, each with its trees and its M3."""
    text = read_text(script)
    catalog, queries = load_joined(text, str(script))
    log.section("read", [f"{script}: {_size(text)}", *_declared(catalog, queries)])
    dtree: DTreeFile | None = None
    if choices.dtree is not None:
        tree = read_text(choices.dtree, "a dtree file")
        dtree = read_dtree_file(tree, str(choices.dtree))
        log.say(f"  {choices.dtree}: {_size(tree)}")
        log.say(f"    {plural(len(dtree.tree.types), 'variable')}, order {dtree.tree.order}")
    for query in queries:
        yield _translated(query, catalog, dtree, choices)


def _size(text: str) -> str:
    return f"{len(text.encode()):,} bytes, {plural(len(text.splitlines()), 'line')}"


def _declared(catalog: Catalog, queries: list[Aggregated]) -> list[str]:
    relations = catalog.relations.values()
    return [
        f"  types: {listed(f'{n} of {h.path}' for n, h in catalog.types.items())}",
        f"  streams: {listed(r.name for r in relations if not r.static)}",
        f"  tables: {listed(r.name for r in relations if r.static)}",
        f"  views: {listed(q.name for q in queries)}",
        "  M3 knows no NULL: every column is taken as NOT NULL",
    ]


def _translated(
    query: Aggregated, catalog: Catalog, dtree: DTreeFile | None, choices: DiagramOptions
) -> Translated:
    relations = tuple(catalog.relations.values())
    if dtree is not None:
        check_agrees(dtree, query.atoms, relations)
    keys = tuple(v for _, v in query.keys)
    trees: list[Hybrid] = []
    for name, factors in query.sums:
        join = Join(keys, query.atoms, (*factors, *query.tests))
        order = dtree.tree.order if dtree else find_order(join, relations)
        hints = dtree.tree.cached if dtree else frozenset()
        trees.append(hybrid(name, join, order, relations, hints, chains=not choices.compact))
    types = {name: header.path for name, header in catalog.types.items()}
    text = listing(trees, relations, types, catalog.functions, inline=choices.inline)
    _refuse_order(text, catalog)
    source = f"given by {dtree.file}" if dtree else "found by cost"
    return Translated(query, tuple(trees), text, source)


def _refuse_order(text: Listing, catalog: Catalog) -> None:
    """M3 multiplies in the order of the tree."""
    for name in sorted({m.payload.ring for m in text.maps} - {""}):
        if not catalog.functions.commutes(name):
            raise NotFactorized(
                f"the ring {name} does not commute, and M3 multiplies in the order of the tree",
                instead="use an engine of this process",
            )


def _write(t: Translated, folder: Path, choices: DiagramOptions, log: Log) -> Iterator[Path]:
    log.section(f"view {t.query.name}", [])
    log.section(f"variable order, {t.source}", show_tree_of_variables(t.hybrids[0].order))
    for h in t.hybrids:
        log.section(f"view tree of {h.name}", show_view_tree(h))
        log.section(f"functions of {h.name}", show_functions(h))
        log.section(f"chains of {h.name} made one view", show_merged(h))
    text = show_m3(t.listing)
    log.section(f"M3 of {t.query.name}", _sizes(t.listing))
    if choices.check:
        checked(t.listing, text, f"{t.query.name}.m3")
        log.say("  read back: the same program")
    files = {f"{t.query.name}.m3": text.encode()}
    if choices.diagram:
        for number, h in enumerate(t.hybrids, 1):
            name = t.query.name if number == 1 else f"{t.query.name}_{number}"
            drawing = picture(h, f"{t.query.name}: {h.name}")
            files[f"{name}.svg"] = show_svg(drawing).encode()
            files[f"{name}.pdf"] = show_pdf(drawing)
    log.section("written", [f"{name}: {len(data):,} bytes" for name, data in files.items()])
    for name, data in files.items():
        stem, _, ending = name.rpartition(".")
        yield write_file(folder / f"{file_name(stem)}.{ending}", data)


def _sizes(p: Listing) -> list[str]:
    lines = [f"{plural(len(p.maps), 'map')}: {listed(m.name for m in p.maps)}"]
    for t in p.triggers:
        head = "on system ready" if t.event == "ready" else f"on batch of {t.relation}"
        lines.append(f"{head}: {plural(len(t.statements), 'statement')}")
    return lines


def checked(program: Listing, text: str, file: str) -> None:
    """Refuse a text that does not read back as the program that it was written from."""
    if read_m3(text, file) != program:
        raise ProgramProblem(
            f"the M3 of '{file}' reads back as another program",
            instead="report it, and use --no-check-m3 in the meantime",
        )


def explain_factorized(script: Path, name: str, choices: DiagramOptions) -> Iterator[str]:
    """Every view's variable order, view tree, kept views and triggers."""
    views = list(translate(script, choices, Log()))
    wanted = [t for t in views if name.lower() in ("", t.query.name.lower())]
    if not wanted:
        known = ", ".join(t.query.name for t in views) or "none yet"
        raise UnknownName(f"there is no view '{name}'", instead=f"the views are: {known}")
    for t in wanted:
        yield "\n\n".join(_stages(t))


def _stages(t: Translated) -> Iterator[str]:
    keys = [k for k, _ in t.query.keys]
    yield f"== view {t.query.name}({', '.join([*keys, *(h.name for h in t.hybrids)])})"
    order = show_tree_of_variables(t.hybrids[0].order)
    yield "\n".join([f"== variable order, {t.source}", *order])
    for h in t.hybrids:
        about = [*show_functions(h), *show_merged(h)]
        space = [""] if about else []
        yield "\n".join([f"== view tree of {h.name}", *show_view_tree(h), *space, *about])
    text = show_m3(t.listing)
    maps, _, rest = text.partition("-- QUERIES")
    yield "== maps\n" + maps[maps.index("-- MAPS") :].split("\n", 1)[1].rstrip()
    yield "== triggers\n" + rest[rest.index("-- TRIGGERS") :].split("\n", 1)[1].rstrip()
    yield f"== engine\n{NO_ENGINE}"
