"""The stages of a golden query: SQL, the term that it means, the program that keeps it fresh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from freshview.calculus.functions import BUILTINS
from freshview.calculus.schema import Query, Relation
from freshview.calculus.scope import base_relations
from freshview.codegen.kernel.source import emit
from freshview.codegen.layout.text import show as show_layout
from freshview.codegen.loops.text import show as show_loops
from freshview.codegen.pipeline import plan_kernel
from freshview.distributed.explain import explain
from freshview.ivm.compile import compile_queries
from freshview.program.check import check_program
from freshview.program.terms import Program
from freshview.program.text import show_program
from freshview.runtime.compile.compile_view import compile_view
from freshview.runtime.settings import DatabaseSettings, ModeChoice
from freshview.sql.load import load
from workloads import WORKLOADS

FOLDER = Path(__file__).parent / "queries"
NAMES = sorted(path.name for path in FOLDER.iterdir() if (path / "query.sql").exists())
KERNELS = ("first_view", "left_join", "min_max", "q03", "vwap")
"""Queries whose kernels are kept as well: as `connect()` builds them, and for batches."""
SPREAD = ("q03", "q17")
"""Queries whose way to the workers is kept: a join of two trips, and nested aggregates."""


@dataclass(frozen=True)
class Stages:
    """A query and its program; `source` is the workload's file that query.sql copies, if any."""

    query: Query
    relations: tuple[Relation, ...]
    program: Program
    source: Path | None

    def texts(self) -> dict[str, str]:
        """The text of every stage by file name."""
        term = Program((), (), (), (self.query,))
        texts = {"calculus.txt": show_program(term), "program.txt": show_program(self.program)}
        if self.query.name in KERNELS:
            texts |= self._kernel("auto", "") | self._kernel("batch", "_batch")
        if self.query.name in SPREAD:
            texts["spark.txt"] = explain(self.program) + "\n"
        return texts if self.source is None else {"query.sql": self.source.read_text(), **texts}

    def _kernel(self, mode: ModeChoice, suffix: str) -> dict[str, str]:
        """Layout, loops and C++ of the kernel that a user gets."""
        settings = DatabaseSettings(engine="native", mode=mode)
        program = compile_view(self.query, self.relations, settings, BUILTINS).program
        plan = plan_kernel(program, BUILTINS, settings.passes)
        return {
            f"layout{suffix}.txt": show_layout(plan.layout),
            f"loops{suffix}.txt": show_loops(plan.loops),
            f"kernel{suffix}.cpp": emit(program, BUILTINS, settings.passes),
        }


def stages(name: str) -> Stages:
    """Compile a golden query; WORKLOAD_QUERY is a query of a workload, over its schema."""
    workload, _, view = name.rpartition("_")
    if workload in WORKLOADS:
        schema = WORKLOADS[workload].schema
        catalog = load(schema.read_text(), str(schema))[0]
        path = source = WORKLOADS[workload].queries()[view]
        catalog, queries = load(path.read_text(), str(path), catalog, default_name=view)
    else:
        path, source = FOLDER / name / "query.sql", None
        catalog, queries = load(path.read_text(), str(path), default_name=name)
    [query] = queries
    used = base_relations(query)
    columns = tuple(r for r in catalog.relations.values() if r.name in used)
    program = compile_queries([query], columns, functions=catalog.functions)
    check_program(program, catalog.functions)
    return Stages(query, columns, program, source)
