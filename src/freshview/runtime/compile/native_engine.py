"""A program run by its kernel: the same calls as the reference engine, at memory speed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from freshview.algebra import Number
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.rows import Row, repeated
from freshview.calculus.types import Value
from freshview.codegen.kernel.source import emit
from freshview.codegen.library.compiler import CppCompiler, Flags, find_compiler
from freshview.codegen.library.load import Instance, Kernel
from freshview.codegen.library.toolchain import build
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.errors import BuildProblem, ProgramProblem, UnknownName
from freshview.program.terms import Program
from freshview.reference.engine.rows import Changes
from freshview.reference.top import arrange


class NativeEngine:
    """Runs a program: static tables first, then changes; views can be read at any time.

    After every call each map equals its definition over the rows seen so far; a call that fails
    changes nothing.
    """

    def __init__(
        self,
        program: Program,
        functions: Functions = BUILTINS,
        flags: Flags | None = None,
        compiler: CppCompiler | None = None,
        passes: KernelPasses = USUAL_PASSES,
    ) -> None:
        source = emit(program, functions, passes)
        compiler = compiler or find_compiler()
        if compiler is None:
            raise BuildProblem(
                "there is no C++ compiler", instead="install g++ or clang++, or the ziglang wheel"
            )
        self.program = program
        self.kernel = Kernel(build(source, compiler=compiler, flags=flags or Flags()))
        self.instance: Instance = self.kernel.open()
        self.queries = {q.name: q for q in program.queries}
        self.loaded = False

    def load(self, tables: Mapping[str, Iterable[Sequence[Value]]] | None = None) -> None:
        """Load the static tables, all at once, and do what the program does when it is ready."""
        if self.loaded:
            raise ProgramProblem("the static tables are loaded already", instead="make an engine")
        for name, rows in (tables or {}).items():
            self.instance.load_static(self.kernel.relation(name), [tuple(row) for row in rows])
        self.instance.ready()
        self.loaded = True

    def insert(self, relation: str, row: Sequence[Value]) -> None:
        """One row more."""
        self.apply(relation, [(row, 1)])

    def delete(self, relation: str, row: Sequence[Value]) -> None:
        """One row less."""
        self.apply(relation, [(row, -1)])

    def apply(self, relation: str, changes: Changes) -> None:
        """A batch: rows with how many times they are inserted (or, negative, deleted)."""
        if not self.loaded:
            self.load()
        pairs = list(changes.items() if isinstance(changes, Mapping) else changes)
        index = self.kernel.relation(relation)
        self.instance.apply_rows(index, [tuple(r) for r, _ in pairs], [m for _, m in pairs])

    def read(self, query: str) -> dict[Row, Number]:
        """The rows of a query in the order of its columns, with their multiplicities."""
        if query not in self.queries:
            known = ", ".join(self.queries) or "there is none"
            raise UnknownName(f"there is no query '{query}'", instead=f"the queries are: {known}")
        rows: dict[Row, Number] = {}
        for row, count in self.instance.read_rows(self.kernel.query(query)):
            rows[row] = rows.get(row, 0) + count
        return rows

    def rows(self, query: str) -> list[Row]:
        """The rows of a query as a list, each as often as it counts, in the query's order."""
        counts = self.read(query)
        q = self.queries[query]
        return repeated(query, arrange(list(counts), q.vars, q.order), counts)

    def state(self) -> dict[str, int]:
        """How many rows every map holds."""
        return dict(self.instance.stats().sizes)

    def contents(self, name: str) -> dict[Row, Number]:
        """The rows of a map."""
        rows = self.instance.read_map(self.kernel.map(name))
        return {row[:-1]: row[-1] for row, _ in rows}  # type: ignore[misc]

    @property
    def work(self) -> int:
        """Rows looked at or written, if the kernel was built to count them."""
        stats = self.instance.stats()
        return stats.visits + stats.writes
