"""A query that is kept fresh, by itself or with others by one program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias, TypeVar, cast

from freshview.calculus.functions import Functions
from freshview.calculus.rows import Row
from freshview.calculus.schema import Query, Relation
from freshview.calculus.types import Value
from freshview.errors import NotNative, Overflow, UnknownName
from freshview.program.terms import Program
from freshview.runtime.compile.compile_view import compile_view, headers_of
from freshview.runtime.compile.kernels import BuiltKernel
from freshview.runtime.ingest.columns import arranged
from freshview.runtime.settings import DatabaseSettings, EngineName
from freshview.runtime.views.engines import (
    GroupEngine,
    KernelViewEngine,
    ReferenceGroupEngine,
    ReferenceViewEngine,
    ViewEngine,
)
from freshview.runtime.views.history import History
from freshview.runtime.views.payloads import Payloads, variables_of

if TYPE_CHECKING:
    import pyarrow as pa

    from freshview.factorized.result import Result

T = TypeVar("T")
Callback: TypeAlias = "Callable[[int, pa.Table], object]"


class ServedBy(Protocol):
    """What a view needs of its group (`ViewGroup`)."""

    @property
    def views(self) -> Sequence[MaintainedView]:
        """All the views of the group."""

    @property
    def engine(self) -> GroupEngine:
        """The engine of the group, up to date with the base rows."""

    @property
    def built(self) -> BuiltKernel | None:
        """The kernel that serves the group."""

    @property
    def program(self) -> Program:
        """The program of all the views."""

    @property
    def note(self) -> str:
        """Why there is no kernel."""

    @property
    def arrival(self) -> str:
        """When the kernel came, in words."""

    @property
    def wide(self) -> bool:
        """Whether a kernel has room for decimals of all digits."""

    @property
    def centre(self) -> Mapping[str, float]:
        """What a kernel takes from the variables of cofactors."""

    @property
    def can_recompute(self) -> bool:
        """Whether the reference engine can compute the views from the base rows."""

    def recomputed(self) -> ReferenceGroupEngine:
        """The reference engine, filled from the base rows."""

    def refill(self, centre: Mapping[str, float]) -> bool:
        """Fill the kernel anew."""

    def base_rows(self) -> int:
        """How many different rows there are below the views."""


class NoGroup:
    """What a view that was dropped or replaced has for a group: every use of it is refused."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> NoReturn:
        raise UnknownName(
            f"the view '{self._name}' was dropped or replaced",
            instead="ask the database for the view of that name",
        )


class MaintainedView:
    """A query, and the group of views whose engine serves it."""

    group: ServedBy

    def __init__(
        self,
        query: Query,
        relations: Sequence[Relation],
        functions: Functions,
        settings: DatabaseSettings,
        number: int = 0,
    ) -> None:
        self.query = query
        self.number = number
        """Its place in the order of declarations."""
        self.relations = tuple(relations)
        self.reads = frozenset(r.name for r in relations)
        """The names of the relations whose changes reach the view."""
        self.functions = functions
        self.settings = settings
        self.history: History | None = None
        self.callbacks: list[Callback] = []
        variables = variables_of(query, relations, functions)
        self.payloads = Payloads(query, variables, functions.headers)
        self.headers = headers_of(query, functions)
        self._program: Program | None = None
        self._part: tuple[BuiltKernel | Program, Program] | None = None
        self._result: Result | None = None

    def retire(self) -> None:
        """Be dropped: whoever still holds the view is told so."""
        self.group = cast(ServedBy, NoGroup(self.query.name))
        self.history, self.callbacks = None, []

    @property
    def program(self) -> Program:
        """What the program of the group does for this view."""
        if len(self.group.views) == 1:
            return self.group.program
        whole = self.group.built or self.group.program  # not the group: its state would stay
        if self._part is None or self._part[0] != whole:
            from freshview.program.merge import only

            self._part = whole, only(self.group.program, self.query.name)
        return self._part[1]

    def reference_program(self) -> Program:
        """The program of this view alone: that of a kernel, where one may take over."""
        if self._program is None:
            self._program = self._kernel_program() or self.own_program()
        return self._program

    def _kernel_program(self) -> Program | None:
        if self.settings.engine == "reference" or self.query.factorized:
            return None
        try:
            settings, functions = self.settings, self.functions
            return compile_view(self.query, self.relations, settings, functions).program
        except NotNative:
            return None

    def own_program(self) -> Program:
        """The program where no kernel can keep the view: for batches, with view caches."""
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
        return "native" if self.group.built else "reference"

    @property
    def engine(self) -> ViewEngine:
        """What reads this view from the engine of the group, up to date with the base rows."""
        return self.group.engine.reader(self.query, self.payloads)

    def recomputed(self) -> ReferenceViewEngine:
        """The view by the reference engine, filled from the base rows."""
        return self.group.recomputed().reader(self.query, self.payloads)

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
            if isinstance(engine, ReferenceViewEngine) or not self.group.can_recompute:
                raise
            return ask(self.recomputed())
