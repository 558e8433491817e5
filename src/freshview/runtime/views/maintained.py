"""A query and what runs it: a kernel or the reference engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from freshview.calculus.functions import Functions
from freshview.calculus.rows import Row
from freshview.calculus.schema import Query, Relation
from freshview.calculus.types import Value
from freshview.codegen.library.load import Instance
from freshview.errors import BadValue, NotNative, Overflow
from freshview.program.terms import Program
from freshview.runtime.compile.compile_view import compile_view, headers_of
from freshview.runtime.compile.kernels import BuiltKernel
from freshview.runtime.ingest.change import Change
from freshview.runtime.ingest.columns import arranged
from freshview.runtime.relations.stored_base import AnyBase, StatelessBase
from freshview.runtime.settings import DatabaseSettings, EngineName
from freshview.runtime.views.engines import KernelViewEngine, ReferenceViewEngine, ViewEngine
from freshview.runtime.views.history import History
from freshview.runtime.views.kernel_range import holds_the_same, mixes_widths, run_as_kernel
from freshview.runtime.views.payloads import Payloads, variables_of

if TYPE_CHECKING:
    import pyarrow as pa

    from freshview.factorized.result import Result

T = TypeVar("T")
Callback: TypeAlias = "Callable[[int, pa.Table], object]"


class MaintainedView:
    """A query and what runs it: a kernel once there is one, the reference engine before.

    The engine is filled from the base rows when it is first needed, and built anew after `reset`:
    so no half of a batch is ever left in it.
    """

    def __init__(
        self,
        query: Query,
        relations: Sequence[Relation],
        bases: Mapping[str, AnyBase],
        functions: Functions,
        settings: DatabaseSettings,
    ) -> None:
        self.query = query
        self.relations = tuple(relations)
        self.functions = functions
        self.settings = settings
        self.built: BuiltKernel | None = None
        self.had_kernel = False
        self.wide = False
        """Whether its kernel has room for decimals of all digits, also where few are declared."""
        self.note = ""
        self.arrival = ""
        """When its kernel came, in words."""
        self.rows_seen = 0
        self.cooldown_rows = 0
        """Rows to come before a kernel is tried again, where one did not hold the numbers."""
        self.centre: Mapping[str, float] = {}
        """What a kernel takes from the variables of cofactors, so that it has their digits."""
        self.refills = 0
        self.history: History | None = None
        self.callbacks: list[Callback] = []
        variables = variables_of(query, relations, functions)
        self.payloads = Payloads(query, variables, functions.headers)
        self.headers = headers_of(query, functions)
        self._bases = bases
        self._names = frozenset(r.name for r in relations)
        self._engine: ViewEngine | None = None
        self._suspended: tuple[BuiltKernel, ViewEngine | None] | None = None
        self._program: Program | None = None
        self._result: Result | None = None

    def reads(self, relation: str) -> bool:
        """Whether changes of this relation reach the view."""
        return relation in self._names

    @property
    def program(self) -> Program:
        """The program that is run."""
        return self.built.plan.program if self.built else self.reference_program()

    def reference_program(self) -> Program:
        """The program for the reference engine: that of the kernel, where one may take over.

        So a kernel changes how fast a view is, and neither its plan nor what it refuses.
        """
        if self._program is None:
            self._program = self._kernel_program() or self._own_program()
        return self._program

    def _kernel_program(self) -> Program | None:
        if self.settings.engine == "reference" or self.query.factorized:
            return None
        try:
            settings, functions = self.settings, self.functions
            return compile_view(self.query, self.relations, settings, functions, self.wide).program
        except NotNative:
            return None

    def _own_program(self) -> Program:
        """The program of a view that no kernel can keep: for batches, with view caches."""
        from freshview.plan.compile import compile_queries

        options = self.settings.planner_options("batch")
        return compile_queries([self.query], self.relations, options, self.functions)

    def result(self) -> Result:
        """How the views of a factorized view hang together, whichever engine keeps them."""
        if self._result is None:
            from freshview.plan.compile import factorized_result

            options = self.settings.planner_options("batch")
            self._result = factorized_result([self.query], self.relations, options, self.functions)
        return self._result

    @property
    def engine_name(self) -> EngineName:
        """Which engine serves the view."""
        return "native" if self.built else "reference"

    @property
    def engine(self) -> ViewEngine:
        """The engine, up to date with the base rows."""
        return self._engine or self.start()

    @property
    def is_started(self) -> bool:
        """Whether the engine is filled from the base rows already."""
        return self._engine is not None

    def ensure_started(self) -> None:
        """Fill the engine if it was never used."""
        if self._engine is None:
            self.start()

    def start(self) -> ViewEngine:
        """A new engine, filled from the base rows.

        A kernel whose numbers leave their range on the way is filled all the same, if they are in
        it at the end; if not, the reference engine serves the view.
        """
        if self.built:
            try:
                self._engine = self._filled(self.built)
            except Overflow:
                if not self.can_recompute:
                    raise
                self._engine = self._start_at_limits(self.built)
            except BadValue as e:
                if not self.can_recompute:
                    raise
                self._engine = self._started_reference()  # it may refuse the rows, too
                self.built, self.note = None, f"a kernel refuses rows that are there: {e}"
        else:
            self._engine = self._started_reference()
        return self._engine

    def _started_reference(self) -> ReferenceViewEngine:
        reference = self.recomputed()
        reference.check()  # rows that no engine could hold are refused
        return reference

    def _start_at_limits(self, built: BuiltKernel) -> ViewEngine:
        """The engine where a kernel meets numbers at the ends of their ranges."""
        reference = self._started_reference()
        bases = self._read_bases()
        twin = run_as_kernel(built.plan.program, self.functions, bases, wide=self.wide)
        if twin is not None:
            kernel = self._filled(built, wraps=True)
            if holds_the_same(kernel.engine, twin):
                return kernel
        self.built = None
        return reference

    def _filled(self, built: BuiltKernel, *, wraps: bool = False) -> KernelViewEngine:
        return KernelViewEngine(
            self.query, built, self._read_bases(), self.payloads, wraps=wraps, centre=self.centre
        )

    def refill(self, centre: Mapping[str, float]) -> bool:
        """Fill the kernel anew, with cofactors about this centre; tells whether there is one.

        This removes the rounding errors that deleted rows have left behind.
        """
        if self.built is None or not self.can_recompute:
            return False
        before, self.centre = self.centre, dict(centre)
        try:
            self.start()
        except BaseException:
            self.centre = before
            raise
        self.refills += 1
        return self.built is not None

    def recomputed(self) -> ReferenceViewEngine:
        """The reference engine, filled from the base rows; its numbers are not checked yet."""
        return ReferenceViewEngine(
            self.query, self.reference_program(), self.functions, self._read_bases(), self.payloads
        )

    def _read_bases(self) -> list[AnyBase]:
        return [self._bases[r.name] for r in self.relations]

    @property
    def can_recompute(self) -> bool:
        """Whether the reference engine can compute the view from the base rows."""
        return not self.headers and not any(
            isinstance(b, StatelessBase) for b in self._read_bases()
        )

    def fall_back(self) -> None:
        """Let the reference engine take over from a kernel that cannot follow.

        The bases have the change already. `undo_fall_back` or `drop_kernel` must follow.
        """
        assert self.built is not None
        reference = self.recomputed()  # first: it may refuse the change by itself
        self._suspended, self.built = (self.built, self._engine), None
        self._engine = reference

    def undo_fall_back(self) -> None:
        """The kernel serves the view again, in the state in which it fell back."""
        assert self._suspended is not None
        (self.built, self._engine), self._suspended = self._suspended, None
        if self.built and mixes_widths(self.built.plan.program):
            self.reset()

    def take_back(self, change: Change) -> None:
        """Take a change back, which the view has followed; the bases go back, too."""
        engine = self._engine
        if engine is None:  # it is filled from the bases when it is needed
            return
        engine.apply(change, back=True)
        wrapped = isinstance(engine, KernelViewEngine) and engine.instance.wrapped
        if wrapped and self.can_recompute and mixes_widths(self.program):
            self.reset()

    def drop_kernel(self) -> None:
        """Drop the kernel that fell back; the next one has room for more digits."""
        self._suspended, self.wide = None, True

    def base_rows(self) -> int:
        """How many different rows there are below the view."""
        return sum(base.size for base in self._read_bases())

    def adopt(self, built: BuiltKernel, instance: Instance | None = None) -> None:
        """Be served by a kernel from now on, filled anew unless it comes with its state."""
        self.built, self.had_kernel = built, True
        payloads = self.payloads
        self._engine = (
            KernelViewEngine(self.query, built, (), payloads, instance) if instance else None
        )
        if instance is not None:
            self.centre = {str(slot): x for slot, x in instance.watch().centre.items()}

    def read_from(self, bases: Mapping[str, AnyBase]) -> None:
        """Read the base rows from here from now on."""
        self._bases = bases

    def reset(self) -> None:
        """Forget the engine; the next use builds it anew."""
        self._engine = None

    def table(self) -> pa.Table:
        """The rows in the order of the query."""
        return arranged(self.columns(), self.query)

    def columns(self) -> pa.Table:
        """The rows in any order."""
        return self._answer(lambda engine: engine.table())

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts, in order."""
        return self._answer(lambda engine: engine.rows())

    def find(self, values: Mapping[int, Value]) -> list[Row] | None:
        """The rows with these values by column, by a look-up; None where that is not enough."""
        engine = self.engine
        try:
            return engine.find(values) if isinstance(engine, KernelViewEngine) else None
        except Overflow:
            return None

    def _answer(self, ask: Callable[[ViewEngine], T]) -> T:
        """What the engine answers; the reference engine where numbers leave their range there.

        Partial sums may leave it while the result does not, and the reference engine is exact.
        """
        engine = self.engine
        try:
            return ask(engine)
        except Overflow:
            if isinstance(engine, ReferenceViewEngine) or not self.can_recompute:
                raise
            return ask(self.recomputed())
