"""`freshview compile`: programs, diagrams and kernels as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from freshview.calculus.schema import Query
from freshview.calculus.scope import base_relations
from freshview.cli.files import write_file
from freshview.cli.script import read_text
from freshview.cli.standalone import write_standalone
from freshview.codegen.library import toolchain
from freshview.errors import BuildProblem, NotNative
from freshview.plan.compile import compile_queries
from freshview.program.diagram import diagram
from freshview.program.terms import Program
from freshview.program.text import show_program
from freshview.runtime.compile import kernels
from freshview.runtime.compile.compile_view import compile_view
from freshview.runtime.compile.compiled_plan import CompiledPlan
from freshview.runtime.ingest.file_names import file_name
from freshview.runtime.settings import DatabaseSettings
from freshview.sql import Catalog
from freshview.sql.load import load


def compile_script(
    script: Path,
    folder: Path,
    settings: DatabaseSettings,
    tell: Callable[[str], object],
    ending: str = ".m3",
    standalone: bool = True,
) -> Iterator[Path | str]:
    """Write NAME.m3, .mmd, .cpp and .so for every view; tells each path when it is written.

    `tell` hears why a view has no kernel; its program is then that of the reference engine.
    `ending` is what the files of programs end with. With `standalone`, code that runs without us
    follows, and the command that builds it.
    """
    catalog, queries = load(read_text(script), str(script))
    for query in queries:
        plan, why = _native(query, catalog, settings)
        program = plan.program if plan else _reference(query, catalog, settings)
        name = file_name(query.name)
        yield write_file(folder / f"{name}{ending}", show_program(program).encode())
        yield write_file(folder / f"{name}.mmd", diagram(program).encode())
        if plan is not None:
            yield write_file(folder / f"{name}.cpp", plan.source.encode())
            library, why = _library(plan, settings)
            if library is not None:
                yield write_file(folder / f"{name}.so", library)
        if why:
            tell(f"{query.name} has no kernel: {why}")
    if standalone:
        yield from write_standalone(queries, catalog, script, folder, settings, tell)


def _native(
    query: Query, catalog: Catalog, settings: DatabaseSettings
) -> tuple[CompiledPlan | None, str]:
    read = base_relations(query)
    used = [r for r in catalog.relations.values() if r.name in read]
    try:
        return compile_view(query, used, settings, catalog.functions), ""
    except NotNative as e:
        return None, str(e)


def _reference(query: Query, catalog: Catalog, settings: DatabaseSettings) -> Program:
    read = base_relations(query)
    used = [r for r in catalog.relations.values() if r.name in read]
    return compile_queries([query], used, settings.planner_options("batch"), catalog.functions)


def _library(plan: CompiledPlan, settings: DatabaseSettings) -> tuple[bytes | None, str]:
    try:
        compiler = kernels.need_compiler()
        path = toolchain.build(plan.source, compiler=compiler, flags=settings.flags)
        return path.read_bytes(), ""
    except BuildProblem as e:
        return None, str(e)
