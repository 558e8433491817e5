"""Tiered execution: few rows are for the reference engine, kernels take over for many."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence

from freshview.calculus.schema import Relation
from freshview.codegen.library.load import Kernel
from freshview.errors import FreshviewError, FreshviewWarning, NotAdmitted
from freshview.runtime.compile import kernels
from freshview.runtime.compile.compile_view import cached_plan, compile_view
from freshview.runtime.compile.compiled_plan import CompiledPlan
from freshview.runtime.compile.kernels import BackgroundBuild, BuiltKernel
from freshview.runtime.ingest.change import Change
from freshview.runtime.relations.base import Base
from freshview.runtime.relations.stored_base import AnyBase, StatelessBase, StoredBase
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.maintained import MaintainedView

TIER_UP_ROWS = 2000
"""Rows that a view has seen when a kernel is built for it in the background."""

WAIT_ROWS = 50_000
"""Rows of one change that wait for the compiler: dictionaries would take longer than it does."""


class Tiering:
    """Loads and builds the kernels of a database; whoever calls has its lock."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self.settings = settings
        self.builds: dict[str, BackgroundBuild[BuiltKernel]] = {}
        """The kernels that are being built, by view."""
        self.store_build: BackgroundBuild[Kernel] | None = None
        """The row store, where it is being built."""
        self._store: Kernel | None = None
        self._warned = False
        self._settled = settings.engine != "auto" or not settings.keep_rows

    @property
    def is_building(self) -> bool:
        """Whether anything is being built."""
        return bool(self.builds) or self.store_build is not None

    @property
    def jobs(self) -> list[BackgroundBuild[BuiltKernel] | BackgroundBuild[Kernel]]:
        """All that is being built."""
        return [*self.builds.values(), *([self.store_build] if self.store_build else [])]

    def forked(self) -> None:
        """In a new process, begin again what a thread of the old one was building."""
        self.builds = {
            key: build if build.done else build.restarted() for key, build in self.builds.items()
        }
        if self.store_build is not None and not self.store_build.done:
            self.store_build = self.store_build.restarted()

    # -- rows --------------------------------------------------------------------------------------

    def new_base(self, relation: Relation) -> AnyBase:
        """Where the rows of a new relation are kept: in the row store, if that is at hand."""
        if not self.settings.keep_rows:
            return StatelessBase(relation)
        if self.settings.engine == "reference":
            return Base(relation)
        if self._store is None:
            self._store = kernels.cached_row_store()
        return StoredBase(relation, self._store) if self._store else Base(relation)

    def _move_rows(self, store: Kernel, bases: MutableMapping[str, AnyBase]) -> None:
        """Move all the rows from dictionaries into the row store."""
        self._store = store
        for name, base in bases.items():
            if isinstance(base, Base) and not base.stays:
                bases[name] = _moved(base, store)

    # -- new views ---------------------------------------------------------------------------------

    def equip(self, views: Sequence[MaintainedView], bases: MutableMapping[str, AnyBase]) -> None:
        """Give new views the kernels that they shall have from the start."""
        for view in views:
            if view.headers and view.settings.engine == "reference":
                ring = view.headers[0]
                raise FreshviewError(
                    f"'{view.query.name}' has payloads of the ring {ring.name}, which is C++ of "
                    f"'{ring.path}': only kernels run it, not the reference engine",
                    instead="connect with engine='native', or write the ring as a Python class",
                )
        free = [v for v in views if v.settings.engine != "reference"]
        if self.settings.engine == "native":
            self._build_all(free, bases)
        elif self.settings.engine == "auto":
            self._settled = not self.settings.keep_rows
            for view in free:
                self._load(view)
            late = [v for v in free if v.built is None and v.rows_seen >= WAIT_ROWS]
            self._wait(late, bases, max((v.rows_seen for v in late), default=0))
        for view in views:
            if view.built is None:
                for r in view.relations:  # the reference engine takes static tables all at once
                    if r.static and isinstance(bases[r.name], StatelessBase):
                        bases[r.name] = Base(r)

    def _build_all(
        self, views: Sequence[MaintainedView], bases: MutableMapping[str, AnyBase]
    ) -> None:
        built = kernels.build_all([self._plan(v) for v in views], self.settings.flags)
        for view, kernel in zip(views, built, strict=True):
            view.adopt(kernel)
        if any(isinstance(base, Base) and not base.stays for base in bases.values()):
            self._move_rows(kernels.row_store(), bases)

    def _load(self, view: MaintainedView) -> None:
        """Load a kernel from the cache, or build it now where it cannot be built later.

        That is so without kept rows, and where payloads are C++, which no other engine runs.
        """
        flags = self.settings.flags
        plan = cached_plan(view.query, view.relations, view.settings, view.functions, view.wide)
        built = kernels.cached(plan, flags) if plan else None
        if built is None and (view.headers or not self.settings.keep_rows):
            try:
                kernels.need_compiler()
                built = kernels.build(self._plan(view), flags)
            except FreshviewError as e:
                if view.headers:  # no other engine can run it
                    raise
                self._explain_reference(view, e)
        elif built:
            view.arrival = "from the start: the cache has its kernel"
        if built:
            view.adopt(built)

    def _plan(self, view: MaintainedView, wide: bool | None = None) -> CompiledPlan:
        wide = view.wide if wide is None else wide
        return compile_view(view.query, view.relations, view.settings, view.functions, wide)

    # -- changes -----------------------------------------------------------------------------------

    def prepare(
        self,
        changes: Sequence[Change],
        readers: Mapping[str, Sequence[MaintainedView]],
        bases: MutableMapping[str, AnyBase],
    ) -> bool:
        """Before a change: one of many rows waits for kernels; tells whether any took over.

        With `native`, the rows go into the row store, also those that come before the views.
        """
        names = [c.relation.name for c in changes]
        if self.settings.engine == "native":
            if any(isinstance(bases[name], Base) and not bases[name].stays for name in names):
                self._move_rows(kernels.row_store(), bases)
            return False
        if self._settled or sum(c.size for c in changes) < WAIT_ROWS:
            return False
        views = dict.fromkeys(v for name in names for v in readers[name])
        waiting = [v for v in views if v.built is None and not v.note and v.cooldown_rows <= 0]
        return self._wait(waiting, bases, sum(c.size for c in changes))

    def _wait(
        self, views: Sequence[MaintainedView], bases: MutableMapping[str, AnyBase], rows: int
    ) -> bool:
        """Wait for the kernels of views, and for the row store; tells whether any took over."""
        dicts = any(isinstance(base, Base) and not base.stays for base in bases.values())
        if not views and not (dicts and rows):
            return False
        began = time.perf_counter()
        for view in views:
            self._start(view, bases)
        if dicts and kernels.compiler() is not None:
            self._start_store()
        for job in self.jobs:
            job.wait()
        seconds = time.perf_counter() - began
        for view in views:
            view.arrival = (
                f"since a change of {rows:,} rows, which waited {seconds:.1f} s for the compiler"
            )
        return self.finish({v.query.name.lower(): v for v in views}, bases)

    def replace(
        self,
        changes: Sequence[Change],
        views: Iterable[MaintainedView],
        bases: MutableMapping[str, AnyBase],
    ) -> bool:
        """Replace the kernels that fell back; tells whether there were any.

        With `auto`, the next one is built in the background; with `native`, now.
        """
        behind = [v for v in views if self._fell_back(v)]
        for view in behind:
            self._settled = False
            view.cooldown_rows -= sum(c.size for c in changes if view.reads(c.relation.name))
        if self.settings.engine != "native":
            return bool(behind)
        for view in behind:
            if view.cooldown_rows <= 0:
                self._admit(view, kernels.build(self._plan(view), self.settings.flags))
        return bool(behind)

    @staticmethod
    def _fell_back(view: MaintainedView) -> bool:
        """Whether a kernel served the view, and shall do so again."""
        return view.built is None and view.had_kernel and not view.note

    def _admit(self, view: MaintainedView, built: BuiltKernel) -> None:
        """Let a kernel take over; where it does not hold the numbers, the other engine stays."""
        view.adopt(built)
        view.start()
        if view.built is not None:
            return
        if not view.wide:
            view.wide = True  # a kernel with room for more digits may hold them
            return
        view.cooldown_rows = max(TIER_UP_ROWS, view.base_rows())
        message = (
            f"'{view.query.name}' stays with the reference engine for {view.cooldown_rows} more "
            "rows: its partial sums leave the 64 bits that kernels have for integers"
        )
        warnings.warn(message, FreshviewWarning, stacklevel=2)

    def count_rows(
        self,
        changes: Sequence[Change],
        views: Mapping[str, MaintainedView],
        bases: Mapping[str, AnyBase],
    ) -> None:
        """Start building kernels for the views that have seen enough rows by now."""
        if self._settled:
            return
        settled = True
        for view in views.values():
            view.rows_seen += sum(c.size for c in changes if view.reads(c.relation.name))
            if view.note:
                continue
            settled = settled and view.built is not None
            if view.built is None and view.rows_seen >= TIER_UP_ROWS and view.cooldown_rows <= 0:
                view.arrival = f"since {TIER_UP_ROWS:,} rows, when it was built in the background"
                self._start(view, bases)
        dicts = [b for b in bases.values() if isinstance(b, Base) and not b.stays]
        if any(base.size >= TIER_UP_ROWS for base in dicts) and kernels.compiler() is not None:
            self._start_store()
        self._settled = settled and not dicts

    def _start(self, view: MaintainedView, bases: Mapping[str, AnyBase]) -> None:
        name = view.query.name.lower()
        try:
            kernels.need_compiler()
        except FreshviewError as e:
            self._explain_reference(view, e)
            return
        if name not in self.builds:
            self.builds[name] = BackgroundBuild(self._builder(view), view.wide)

    def _start_store(self) -> None:
        if self.store_build is None:
            self.store_build = BackgroundBuild(kernels.row_store)

    def _builder(self, view: MaintainedView) -> Callable[[], BuiltKernel]:
        wide = view.wide  # as of now: it may change while the compiler runs
        return lambda: kernels.build(self._plan(view, wide), self.settings.flags)

    def finish(
        self, views: Mapping[str, MaintainedView], bases: MutableMapping[str, AnyBase]
    ) -> bool:
        """Let kernels that are ready take over; tells whether there was any."""
        store = self.store_build
        if store is not None and store.done:
            self.store_build = None
            if store.kernel is not None:
                self._move_rows(store.kernel, bases)
        done = {name: build for name, build in self.builds.items() if build.done and name in views}
        for name, build in done.items():
            del self.builds[name]
            view = views[name]
            if build.kernel:
                if build.wide == view.wide:  # else it has gone out of date meanwhile
                    self._admit(view, build.kernel)
                if view.built is None and view.cooldown_rows <= 0:
                    self._start(view, bases)
            else:
                assert build.error is not None
                self._explain_reference(view, build.error)
        return bool(done) or (store is not None and self.store_build is None)

    def _explain_reference(self, view: MaintainedView, why: BaseException) -> None:
        """Say, once, why a view stays with the reference engine."""
        view.note = str(why)
        missing = kernels.compiler() is None
        if not missing or not self._warned:
            message = f"'{view.query.name}' stays with the reference engine: {why}"
            warnings.warn(message, FreshviewWarning, stacklevel=2)
        self._warned = self._warned or missing


def _moved(base: Base, store: Kernel) -> AnyBase:
    """The rows of a relation, moved into the row store; where it has no room, they stay."""
    stored = StoredBase(base.relation, store)
    try:
        base.fill(stored.instance, 0)
    except NotAdmitted:
        base.stays = True
        return base
    return stored
