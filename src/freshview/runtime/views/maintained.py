"""A query and what runs it: a kernel or the reference engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from freshview.calculus.functions import Functions
from freshview.calculus.rows import Row
from freshview.calculus.schema import Query, Relation
from freshview.calculus.types import Value
from freshview.codegen.load import Instance
from freshview.errors import Overflow
from freshview.factorized.result import Result
from freshview.plan.compile import compile_queries, factorized_result
from freshview.program.terms import Program
from freshview.runtime.database.compiled_plan import headers_of
from freshview.runtime.database.judge import holds
from freshview.runtime.database.kernels import Built
from freshview.runtime.database.serve import AnyBase, NativeServer, ReferenceServer, Server
from freshview.runtime.database.settings import EngineName, Settings
from freshview.runtime.database.stored_base import StatelessBase
from freshview.runtime.ingest.columns import arranged
from freshview.runtime.views.history import History
from freshview.runtime.views.payloads import Payloads, variables_of

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

T = TypeVar("T")
Callback: TypeAlias = "Callable[[int, pa.Table], object]"


class Maintained:
    """A query and what runs it: a kernel once there is one, the reference engine before.

    The server is filled from the base rows when it is first needed, and built anew after `reset`:
    so no half of a batch is ever left in it.
    """

    def __init__(
        self,
        query: Query,
        relations: Sequence[Relation],
        bases: Mapping[str, AnyBase],
        functions: Functions,
        settings: Settings,
    ) -> None:
        self.query = query
        self.relations = tuple(relations)
        self.functions = functions
        self.settings = settings
        self.built: Built | None = None
        self.had_kernel = False
        self.wide = False
        """Whether its kernel has room for decimals of all digits, also where few are declared."""
        self.note = ""
        self.seen = 0
        self.rests = 0
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
        self._server: Server | None = None
        self._suspended: tuple[Built, Server | None] | None = None
        self._program: Program | None = None
        self._result: Result | None = None

    def reads(self, relation: str) -> bool:
        """Whether changes of this relation reach the view."""
        return relation in self._names

    @property
    def program(self) -> Program:
        """The program that is run."""
        return self.built.recipe.program if self.built else self.plan()

    def plan(self) -> Program:
        """The program for the reference engine."""
        if self._program is None:
            options = self.settings.plan("batch")
            self._program = compile_queries([self.query], self.relations, options, self.functions)
        return self._program

    def result(self) -> Result:
        """How the views of a factorized view hang together, whichever engine keeps them."""
        if self._result is None:
            options = self.settings.plan("batch")
            self._result = factorized_result([self.query], self.relations, options, self.functions)
        return self._result

    @property
    def engine(self) -> EngineName:
        """Which engine serves the view."""
        return "native" if self.built else "reference"

    @property
    def server(self) -> Server:
        """The server, up to date with the base rows."""
        return self._server or self.start()

    def wake(self) -> None:
        """Be ready for a change."""
        if self._server is None:
            self.start()

    def start(self) -> Server:
        """A new server, filled from the base rows.

        A kernel whose numbers leave their range on the way is filled all the same, if they are in
        it at the end; if not, the reference engine serves the view.
        """
        if self.built:
            try:
                self._server = self._filled(self.built)
            except Overflow:
                if not self.is_kept:
                    raise
                self._server = self._exact_start(self.built)
        else:
            self._server = self._checked()
        return self._server

    def _checked(self) -> ReferenceServer:
        exact = self.exact()
        exact.check()  # rows that no engine could hold are refused
        return exact

    def _exact_start(self, built: Built) -> Server:
        """The server where a kernel meets numbers at the ends of their ranges."""
        exact = self._checked()
        if holds(built.recipe.program, self.functions, self._read(), wide=self.wide):
            return self._filled(built, wraps=True)
        self.built = None
        return exact

    def _filled(self, built: Built, *, wraps: bool = False) -> NativeServer:
        return NativeServer(
            self.query, built, self._read(), self.payloads, wraps=wraps, centre=self.centre
        )

    def refill(self, centre: Mapping[str, float]) -> bool:
        """Fill the kernel anew, with cofactors about this centre; tells whether there is one.

        Nothing is left then of the rounding errors that rows left behind which have gone.
        """
        if self.built is None or not self.is_kept:
            return False
        before, self.centre = self.centre, dict(centre)
        try:
            self.start()
        except BaseException:
            self.centre = before
            raise
        self.refills += 1
        return self.built is not None

    def exact(self) -> ReferenceServer:
        """The reference engine, filled from the base rows; its numbers are not checked yet."""
        return ReferenceServer(self.query, self.plan(), self.functions, self._read(), self.payloads)

    def _read(self) -> list[AnyBase]:
        return [self._bases[r.name] for r in self.relations]

    @property
    def is_kept(self) -> bool:
        """Whether the reference engine can take over: it has the base rows, and runs the view."""
        return not self.headers and not any(isinstance(b, StatelessBase) for b in self._read())

    def give_way(self) -> None:
        """Let the reference engine take over from a kernel that cannot follow.

        The bases have the change already. It is for whoever calls to `resume` or to `retire`.
        """
        assert self.built is not None
        exact = self.exact()  # first: it may refuse the change by itself
        self._suspended, self.built = (self.built, self._server), None
        self._server = exact

    def resume(self) -> None:
        """The kernel serves again, as it was when it gave way."""
        assert self._suspended is not None
        (self.built, self._server), self._suspended = self._suspended, None

    def retire(self) -> None:
        """The kernel that gave way is gone; the next one has room for more digits."""
        self._suspended, self.wide = None, True

    def base_rows(self) -> int:
        """How many different rows there are below the view."""
        return sum(base.size for base in self._read())

    def adopt(self, built: Built, state: Instance | None = None) -> None:
        """Be served by a kernel from now on, filled anew unless it comes with its state."""
        self.built, self.had_kernel = built, True
        payloads = self.payloads
        self._server = NativeServer(self.query, built, (), payloads, state) if state else None
        if state is not None:
            self.centre = {str(slot): x for slot, x in state.watch().centre.items()}

    def share(self, bases: Mapping[str, AnyBase]) -> None:
        """Take rows from here from now on."""
        self._bases = bases

    def reset(self) -> None:
        """Forget the server; the next use builds it anew."""
        self._server = None

    def table(self) -> pa.Table:
        """The rows in the order of the query."""
        return arranged(self.columns(), self.query)

    def columns(self) -> pa.Table:
        """The rows in any order."""
        return self._answer(lambda server: server.table())

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts, in order."""
        return self._answer(lambda server: server.rows())

    def find(self, given: Mapping[int, Value]) -> list[Row] | None:
        """The rows with these values by column, by a look-up; None where that is not enough."""
        server = self.server
        try:
            return server.find(given) if isinstance(server, NativeServer) else None
        except Overflow:
            return None

    def _answer(self, ask: Callable[[Server], T]) -> T:
        """What the server answers; the reference engine where numbers leave their range there.

        They may do so on the way only, and it knows better.
        """
        server = self.server
        try:
            return ask(server)
        except Overflow:
            if isinstance(server, ReferenceServer) or not self.is_kept:
                raise
            return ask(self.exact())
