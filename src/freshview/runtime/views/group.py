"""Views that one program keeps, and what runs it: a kernel or the reference engine.

Views that read common relations share maps: their programs are merged, a batch is decoded once and
followed once for all of them. A view that nothing can be shared with is a group by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from freshview.calculus.functions import BUILTINS
from freshview.codegen.library.calling import calling
from freshview.codegen.library.load import Instance
from freshview.errors import BadValue, Overflow
from freshview.program.terms import Program
from freshview.runtime.compile.compile_view import compile_group
from freshview.runtime.compile.kernels import BuiltKernel
from freshview.runtime.ingest.change import Change
from freshview.runtime.relations.stored_base import AnyBase, is_lost
from freshview.runtime.views.engines import GroupEngine, KernelGroupEngine, ReferenceGroupEngine
from freshview.runtime.views.kernel_range import holds_the_same, mixes_widths, run_as_kernel
from freshview.runtime.views.maintained import MaintainedView


class ViewGroup:
    """Views and the engine of all of them: a kernel once there is one, the reference before.

    The engine is filled from the base rows when it is first needed, and built anew after `reset`:
    so no half of a batch is ever left in it. The views come to a new engine together: where a
    kernel cannot hold the numbers of one of them, the reference engine serves them all.
    """

    def __init__(self, views: Sequence[MaintainedView], bases: Mapping[str, AnyBase]) -> None:
        self.views = tuple(views)
        self.relations = tuple({r.name: r for v in views for r in v.relations}.values())
        self.settings = views[0].settings
        # What several views share is written with the functions that every database has.
        self.functions = views[0].functions if len(views) == 1 else BUILTINS
        self.headers = [ring for v in views for ring in v.headers]
        self.built: BuiltKernel | None = None
        self.had_kernel = False
        self.wide = False
        """Whether its kernel has room for decimals of all digits, also where few are declared."""
        self.note = ""
        self.arrival = ""
        """When its kernel came, in words."""
        self.rows_seen = 0
        self.rows_estimated = 0
        """How many rows it had seen when their work was estimated last."""
        self.cooldown_rows = 0
        """Rows to come before a kernel is tried again, where one did not hold the numbers."""
        self.alone = False
        """Whether it joins no other group: a kernel of both did not hold the numbers."""
        self.centre: Mapping[str, float] = {}
        """What a kernel takes from the variables of cofactors, so that it has their digits."""
        self.refills = 0
        self._bases = bases
        self._names = frozenset(r.name for r in self.relations)
        self._engine: GroupEngine | None = None
        self._suspended: tuple[BuiltKernel, GroupEngine | None] | None = None
        self._program: Program | None = None

    @property
    def name(self) -> str:
        """The names of its views, for messages."""
        return ", ".join(f"'{v.query.name}'" for v in self.views)

    @property
    def awaits_kernel(self) -> bool:
        """Whether a kernel may be built for it: there is none, and nothing speaks against one."""
        return self.built is None and not self.note and self.cooldown_rows <= 0

    def readers(self, relations: Collection[str]) -> list[MaintainedView]:
        """The views that changes of these relations reach."""
        return [v for v in self.views if not v.reads.isdisjoint(relations)]

    def reads(self, relation: str) -> bool:
        """Whether changes of this relation reach one of the views."""
        return relation in self._names

    @property
    def program(self) -> Program:
        """The program that is run."""
        if self.built:
            return self.built.plan.program
        if isinstance(self._engine, ReferenceGroupEngine):
            return self._engine.program
        return self.reference_program()

    def reference_program(self) -> Program:
        """The program for the reference engine: that of the kernel, where one may take over.

        So a kernel changes how fast views are, and neither their plan nor what they refuse.
        """
        if len(self.views) == 1:
            return self.views[0].reference_program()
        if self._program is None:
            self._program = compile_group(self.views, self.wide).program
        return self._program

    @property
    def engine(self) -> GroupEngine:
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

    def start(self) -> GroupEngine:
        """A new engine, filled from the base rows.

        A kernel whose numbers leave their range on the way is filled all the same, if they are in
        it at the end; if not, the reference engine serves the views.
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
                self.built = None
                if len(self.views) == 1:  # of several, the others may have a kernel without it
                    self.note = f"a kernel refuses rows that are there: {e}"
        else:
            self._engine = self._started_reference()
        return self._engine

    def _started_reference(self) -> ReferenceGroupEngine:
        reference = self.recomputed()
        reference.check()  # rows that no engine could hold are refused
        return reference

    def _start_at_limits(self, built: BuiltKernel) -> GroupEngine:
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

    def _filled(self, built: BuiltKernel, *, wraps: bool = False) -> KernelGroupEngine:
        built = replace(built, kernel=calling(built.kernel, self.functions))
        return KernelGroupEngine(built, self._read_bases(), wraps=wraps, centre=self.centre)

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

    def recomputed(self) -> ReferenceGroupEngine:
        """The reference engine, filled from the base rows; its numbers are not checked yet.

        A program for single rows may meet values on the way that all the rows together do not have,
        such as a least string that is not a number: one for batches takes the rows of a relation at
        once, and refuses only what is there at the end.
        """
        program, bases = self.reference_program(), self._read_bases()
        try:
            return ReferenceGroupEngine(program, self.functions, bases)
        except BadValue:
            for_batches = self._program_for_batches()
            if program == for_batches:
                raise
            return ReferenceGroupEngine(for_batches, self.functions, bases)

    def _program_for_batches(self) -> Program:
        from freshview.program.merge import merge

        own = [v.own_program() for v in self.views]
        return merge(own) if len(own) > 1 else own[0]

    def _read_bases(self) -> list[AnyBase]:
        return [self._bases[r.name] for r in self.relations]

    @property
    def can_recompute(self) -> bool:
        """Whether the reference engine can compute the views from the base rows."""
        return not self.headers and not any(map(is_lost, self._read_bases()))

    def fall_back(self) -> None:
        """Let the reference engine take over from a kernel that cannot follow.

        The bases have the change already. `undo_fall_back` or `drop_kernel` must follow.
        """
        assert self.built is not None
        reference = self.recomputed()  # first: it may refuse the change by itself
        self._suspended, self.built = (self.built, self._engine), None
        self._engine = reference

    def undo_fall_back(self) -> None:
        """The kernel serves the views again, in the state in which it fell back."""
        assert self._suspended is not None
        (self.built, self._engine), self._suspended = self._suspended, None
        if self.built and mixes_widths(self.built.plan.program):
            self.reset()

    def take_back(self, change: Change) -> None:
        """Take a change back, which the views have followed; the bases go back, too.

        A value that rows have on the way may have no answer: from the last row to the first, they
        go through the states that they came by.
        """
        engine = self._engine
        if engine is None:  # it is filled from the bases when it is needed
            return
        try:
            engine.apply(change, back=True)
        except BadValue:
            engine.apply(change.reversed(), back=True)
        wrapped = isinstance(engine, KernelGroupEngine) and engine.instance.wrapped
        if wrapped and self.can_recompute and mixes_widths(self.program):
            self.reset()

    def drop_kernel(self) -> None:
        """Drop the kernel that fell back; the next one has room for more digits."""
        self._suspended, self.wide = None, True

    def base_rows(self) -> int:
        """How many different rows there are below the views."""
        return sum(base.size for base in self._read_bases())

    def adopt(self, built: BuiltKernel, instance: Instance | None = None) -> None:
        """Be served by a kernel from now on, filled anew unless it comes with its state."""
        self.built, self.had_kernel = built, True
        self._engine = KernelGroupEngine(built, (), instance) if instance else None
        if instance is not None:
            self.centre = {str(slot): x for slot, x in instance.watch().centre.items()}

    def read_from(self, bases: Mapping[str, AnyBase]) -> None:
        """Read the base rows from here from now on."""
        self._bases = bases

    def reset(self) -> None:
        """Forget the engine; the next use builds it anew."""
        self._engine = None
