"""Tiered execution: views start on the reference engine, and kernels take over."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence

from freshview.calculus.schema import Relation
from freshview.errors import FreshviewError, FreshviewWarning, NoRoom
from freshview.runtime.compile import kernels
from freshview.runtime.compile.compile_view import cached_plan, compile_base, compile_view
from freshview.runtime.compile.compiled_plan import CompiledPlan
from freshview.runtime.compile.kernels import BackgroundBuild, BuiltKernel
from freshview.runtime.ingest.change import Change
from freshview.runtime.relations.base import Base
from freshview.runtime.relations.stored_base import AnyBase, StatelessBase, StoredBase
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.maintained import MaintainedView

TIER_UP_ROWS = 2000
"""Rows that a view has seen when a kernel is built for it in the background."""


class Tiering:
    """Loads and builds the kernels of a database; whoever calls has its lock."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self.settings = settings
        self.builds: dict[tuple[str, str], BackgroundBuild] = {}
        self._warned = False
        self._settled = settings.engine != "auto" or not settings.keep_rows

    @property
    def is_building(self) -> bool:
        """Whether a kernel is being built."""
        return bool(self.builds)

    def forked(self) -> None:
        """In a new process, begin again what a thread of the old one was building."""
        self.builds = {
            key: build if build.done else build.restarted() for key, build in self.builds.items()
        }

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
        for view in views:
            if view.built is None:
                for r in view.relations:  # the reference engine takes static tables all at once
                    if r.static and isinstance(bases[r.name], StatelessBase):
                        bases[r.name] = Base(r)

    def _build_all(
        self, views: Sequence[MaintainedView], bases: MutableMapping[str, AnyBase]
    ) -> None:
        used = {r.name: r for v in views for r in v.relations}
        dicts = {name: r for name, r in used.items() if isinstance(bases[name], Base)}
        plans = [self._plan(v) for v in views]
        plans += [compile_base(r, bases[r.name].wide) for r in dicts.values()]
        built = kernels.build_all(plans, self.settings.flags)
        for view, kernel in zip(views, built, strict=False):
            view.adopt(kernel)
        for name, kernel in zip(dicts, built[len(views) :], strict=True):
            bases[name] = _moved(bases[name], kernel, bases[name].wide)

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
        if built:
            view.adopt(built)

    def _plan(self, view: MaintainedView, wide: bool | None = None) -> CompiledPlan:
        wide = view.wide if wide is None else wide
        return compile_view(view.query, view.relations, view.settings, view.functions, wide)

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
        waits = self.settings.engine == "auto" and self.settings.keep_rows
        if waits and any(isinstance(bases[c.relation.name], Base) for c in changes):
            self._settled = False
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

    def store_rows(self, changes: Sequence[Change], bases: MutableMapping[str, AnyBase]) -> None:
        """With `native`, store the rows in kernels, also those that come before the views."""
        if self.settings.engine != "native":
            return
        for change in changes:
            base = bases[change.relation.name]
            if isinstance(base, Base):
                plan = compile_base(base.relation, base.wide)
                built = kernels.build(plan, self.settings.flags)
                bases[change.relation.name] = _moved(base, built, base.wide)

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
        for name, view in views.items():
            view.rows_seen += sum(c.size for c in changes if view.reads(c.relation.name))
            if view.note:
                continue
            dicts = [r for r in view.relations if isinstance(bases[r.name], Base)]
            settled = settled and view.built is not None and not dicts
            if view.rows_seen >= TIER_UP_ROWS and view.cooldown_rows <= 0:
                self._start(name, view, dicts, bases)
        self._settled = settled

    def _start(
        self,
        name: str,
        view: MaintainedView,
        dicts: Sequence[Relation],
        bases: Mapping[str, AnyBase],
    ) -> None:
        try:
            kernels.need_compiler()
        except FreshviewError as e:
            self._explain_reference(view, e)
            return
        if view.built is None and ("view", name) not in self.builds:
            self.builds["view", name] = BackgroundBuild(self._builder(view), view.wide)
        for r in dicts:
            if ("base", r.name) not in self.builds:
                wide = bases[r.name].wide
                self.builds["base", r.name] = BackgroundBuild(self._base_builder(r, wide), wide)

    def _builder(self, view: MaintainedView) -> Callable[[], BuiltKernel]:
        wide = view.wide  # as of now: it may change while the compiler runs
        return lambda: kernels.build(self._plan(view, wide), self.settings.flags)

    def _base_builder(self, relation: Relation, wide: bool) -> Callable[[], BuiltKernel]:
        return lambda: kernels.build(compile_base(relation, wide), self.settings.flags)

    def finish(
        self, views: Mapping[str, MaintainedView], bases: MutableMapping[str, AnyBase]
    ) -> bool:
        """Let kernels that are ready take over; tells whether there was any."""
        done = {key: build for key, build in self.builds.items() if build.done}
        for (what, name), build in done.items():
            del self.builds[what, name]
            if what == "base":
                if build.kernel:
                    bases[name] = _moved(bases[name], build.kernel, build.wide)
                    self._settled = self._settled and isinstance(bases[name], StoredBase)
            elif build.kernel:
                if build.wide == views[name].wide:  # else it has gone out of date meanwhile
                    self._admit(views[name], build.kernel)
                if views[name].built is None and views[name].cooldown_rows <= 0:
                    self._start(name, views[name], (), bases)
            else:
                assert build.error is not None
                self._explain_reference(views[name], build.error)
        return bool(done)

    def _explain_reference(self, view: MaintainedView, why: BaseException) -> None:
        """Say, once, why a view stays with the reference engine."""
        view.note = str(why)
        missing = kernels.compiler() is None
        if not missing or not self._warned:
            message = f"'{view.query.name}' stays with the reference engine: {why}"
            warnings.warn(message, FreshviewWarning, stacklevel=2)
        self._warned = self._warned or missing


def _moved(base: AnyBase, built: BuiltKernel, wide: bool) -> AnyBase:
    """The rows of a relation, moved into a kernel; where it has no room for them, they stay."""
    stored = StoredBase(base.relation, built.kernel, wide=wide)
    try:
        with stored.instance.wrapping():  # the dictionary has counted the rows
            base.fill(stored.instance, 0)
    except NoRoom:
        base.wide = True
        return base
    return stored
