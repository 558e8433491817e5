"""All the views of a script as one program, for code that stands by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from freshview.calculus.schema import Query
from freshview.calculus.scope import base_relations
from freshview.codegen.kernel.source import write
from freshview.codegen.standalone.write import CsvFile, standalone_files
from freshview.errors import NotNative, UnsupportedSql
from freshview.plan.compile import compile_queries
from freshview.program.merge import merge
from freshview.program.terms import Program
from freshview.program.updates import Mode
from freshview.runtime.compile.compile_view import compile_view
from freshview.runtime.ingest.sources import csv_file
from freshview.runtime.settings import DatabaseSettings
from freshview.sql import Catalog


@dataclass(frozen=True)
class Standalone:
    """The program of a script's views, and the files that are compiled to run it."""

    program: Program
    files: dict[str, str]
    events: tuple[str, ...]
    """Relations whose rows come as events, as no file is named for them."""


def plan_standalone(
    queries: Sequence[Query],
    catalog: Catalog,
    settings: DatabaseSettings,
    tell: Callable[[str], object],
) -> Standalone | None:
    """One kernel for all the views that can have one; None where none can.

    Each view is planned by itself, as a database does; maps that several keep alike are kept once.
    `tell` hears which views need Python, and which sources cannot be read from a file.
    """
    programs = [p for q in queries if (p := _planned(q, catalog, settings, tell)) is not None]
    if not programs:
        return None
    modes: set[Mode] = {"tuple" if _takes_rows(p) else "batch" for p in programs}
    if len(modes) > 1:  # a kernel follows a relation in one way
        kept = {q.name for p in programs for q in p.queries}
        programs = [_in_batches(q, catalog, settings) for q in queries if q.name in kept]
    program = merge(programs)
    sources = _sources(program, catalog, tell)
    kernel = write(program, catalog.functions, settings.passes)
    files = standalone_files(program, kernel.text, sources)
    events = tuple(r.name for r in program.relations if r.name not in sources)
    return Standalone(program, files, events)


def _planned(
    query: Query, catalog: Catalog, settings: DatabaseSettings, tell: Callable[[str], object]
) -> Program | None:
    if query.factorized:  # its rows are never listed
        return None
    read = base_relations(query)
    used = [r for r in catalog.relations.values() if r.name in read]
    try:
        plan = compile_view(query, used, settings, catalog.functions)
    except NotNative:
        return None
    in_python = (*plan.host_batches, *plan.host_alone)
    if in_python:
        verb = "runs" if len(in_python) == 1 else "run"
        tell(f"{query.name} cannot stand alone: {', '.join(in_python)} {verb} in Python only")
        return None
    return plan.program


def _takes_rows(program: Program) -> bool:
    return any(t.event in ("insert", "delete") for t in program.triggers)


def _in_batches(query: Query, catalog: Catalog, settings: DatabaseSettings) -> Program:
    read = base_relations(query)
    used = [r for r in catalog.relations.values() if r.name in read]
    options = settings.planner_options("batch", kernel=True)
    return compile_queries([query], used, options, catalog.functions)


def _sources(
    program: Program, catalog: Catalog, tell: Callable[[str], object]
) -> dict[str, CsvFile]:
    """The files that relations are read from."""
    out: dict[str, CsvFile] = {}
    for relation in program.relations:
        try:
            source = csv_file(catalog, relation.name)
        except UnsupportedSql as e:
            tell(f"rows of {relation.name} come as events: {e}")
            continue
        if source is not None:
            path, delimiter = source
            out[relation.name] = CsvFile(path, delimiter)
    return out
