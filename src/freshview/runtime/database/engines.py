"""Which engine serves which view, and when a kernel takes over."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence

from freshview.calculus.schema import Relation
from freshview.errors import FreshviewError, FreshviewWarning, NoRoom
from freshview.runtime.database import compiled_plan, kernels
from freshview.runtime.database.base import Base
from freshview.runtime.database.kernels import Built, Job
from freshview.runtime.database.serve import AnyBase
from freshview.runtime.database.settings import Settings
from freshview.runtime.database.stored_base import StatelessBase, StoredBase
from freshview.runtime.ingest.change import Change
from freshview.runtime.views.maintained import Maintained

ENOUGH = 2000
"""Rows that a view has seen when a kernel is built for it in the background."""


class Engines:
    """Finds and builds the kernels of a database; whoever calls has its lock."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.jobs: dict[tuple[str, str], Job] = {}
        self._warned = False
        self._settled = settings.engine != "auto" or not settings.keep_rows

    @property
    def busy(self) -> bool:
        """Whether something is being built."""
        return bool(self.jobs)

    def forked(self) -> None:
        """In a new process, begin again what a thread of the old one was building."""
        self.jobs = {key: job if job.done else job.again() for key, job in self.jobs.items()}

    def equip(self, views: Sequence[Maintained], bases: MutableMapping[str, AnyBase]) -> None:
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
                self._find(view)
        for view in views:
            if view.built is None:
                for r in view.relations:  # the reference engine takes static tables all at once
                    if r.static and isinstance(bases[r.name], StatelessBase):
                        bases[r.name] = Base(r)

    def _build_all(self, views: Sequence[Maintained], bases: MutableMapping[str, AnyBase]) -> None:
        used = {r.name: r for v in views for r in v.relations}
        dicts = {name: r for name, r in used.items() if isinstance(bases[name], Base)}
        recipes = [self._recipe(v) for v in views]
        recipes += [compiled_plan.base_recipe(r, bases[r.name].wide) for r in dicts.values()]
        built = kernels.build_all(recipes, self.settings.flags)
        for view, kernel in zip(views, built, strict=False):
            view.adopt(kernel)
        for name, kernel in zip(dicts, built[len(views) :], strict=True):
            bases[name] = _moved(bases[name], kernel, bases[name].wide)

    def _find(self, view: Maintained) -> None:
        """A kernel from the cache; built now where there is no second chance.

        That is without kept rows, and where payloads are C++, which no other engine runs.
        """
        flags = self.settings.flags
        known = compiled_plan.remembered(
            view.query, view.relations, view.settings, view.functions, view.wide
        )
        built = kernels.cached(known, flags) if known else None
        if built is None and (view.headers or not self.settings.keep_rows):
            try:
                kernels.need_compiler()
                built = kernels.build(self._recipe(view), flags)
            except FreshviewError as e:
                if view.headers:  # no other engine can run it
                    raise
                self._stay(view, e)
        if built:
            view.adopt(built)

    def _recipe(self, view: Maintained, wide: bool | None = None) -> compiled_plan.CompiledPlan:
        wide = view.wide if wide is None else wide
        return compiled_plan.recipe(view.query, view.relations, view.settings, view.functions, wide)

    def replace(
        self,
        changes: Sequence[Change],
        views: Iterable[Maintained],
        bases: MutableMapping[str, AnyBase],
    ) -> bool:
        """See to the views whose kernels gave way; tells whether a kernel took over.

        With `auto`, the next one is built in the background; with `native`, now.
        """
        behind = [v for v in views if self._lacks(v)]
        waits = self.settings.engine == "auto" and self.settings.keep_rows
        if waits and any(isinstance(bases[c.relation.name], Base) for c in changes):
            self._settled = False
        for view in behind:
            self._settled = False
            view.rests -= sum(c.size for c in changes if view.reads(c.relation.name))
        if self.settings.engine != "native":
            return bool(behind)
        for view in behind:
            if view.rests <= 0:
                self._admit(view, kernels.build(self._recipe(view), self.settings.flags))
        return bool(behind)

    @staticmethod
    def _lacks(view: Maintained) -> bool:
        """Whether a kernel served the view, and shall do so again."""
        return view.built is None and view.had_kernel and not view.note

    def _admit(self, view: Maintained, built: Built) -> None:
        """Let a kernel take over; where it does not hold the numbers, the other engine stays."""
        view.adopt(built)
        view.start()
        if view.built is not None:
            return
        if not view.wide:
            view.wide = True  # a kernel with room for more digits may hold them
            return
        view.rests = max(ENOUGH, view.base_rows())
        words = (
            f"'{view.query.name}' stays with the reference engine until {view.rests} more rows "
            "came: numbers on the way to it leave the 64 bits that kernels have for integers"
        )
        warnings.warn(words, FreshviewWarning, stacklevel=2)

    def keep(self, changes: Sequence[Change], bases: MutableMapping[str, AnyBase]) -> None:
        """With `native`, keep rows that come before the views in kernels, too."""
        if self.settings.engine != "native":
            return
        for change in changes:
            base = bases[change.relation.name]
            if isinstance(base, Base):
                made = compiled_plan.base_recipe(base.relation, base.wide)
                built = kernels.build(made, self.settings.flags)
                bases[change.relation.name] = _moved(base, built, base.wide)

    def count(
        self,
        changes: Sequence[Change],
        views: Mapping[str, Maintained],
        bases: Mapping[str, AnyBase],
    ) -> None:
        """Start building kernels for the views that have seen enough rows by now."""
        if self._settled:
            return
        settled = True
        for name, view in views.items():
            view.seen += sum(c.size for c in changes if view.reads(c.relation.name))
            if view.note:
                continue
            dicts = [r for r in view.relations if isinstance(bases[r.name], Base)]
            settled = settled and view.built is not None and not dicts
            if view.seen >= ENOUGH and view.rests <= 0:
                self._start(name, view, dicts, bases)
        self._settled = settled

    def _start(
        self,
        name: str,
        view: Maintained,
        dicts: Sequence[Relation],
        bases: Mapping[str, AnyBase],
    ) -> None:
        try:
            kernels.need_compiler()
        except FreshviewError as e:
            self._stay(view, e)
            return
        if view.built is None and ("view", name) not in self.jobs:
            self.jobs["view", name] = Job(self._builder(view), view.wide)
        for r in dicts:
            if ("base", r.name) not in self.jobs:
                wide = bases[r.name].wide
                self.jobs["base", r.name] = Job(self._base_builder(r, wide), wide)

    def _builder(self, view: Maintained) -> Callable[[], Built]:
        wide = view.wide  # as of now: it may change while the compiler runs
        return lambda: kernels.build(self._recipe(view, wide), self.settings.flags)

    def _base_builder(self, relation: Relation, wide: bool) -> Callable[[], Built]:
        return lambda: kernels.build(compiled_plan.base_recipe(relation, wide), self.settings.flags)

    def finish(self, views: Mapping[str, Maintained], bases: MutableMapping[str, AnyBase]) -> bool:
        """Let kernels that are ready take over; tells whether there was any."""
        done = {key: job for key, job in self.jobs.items() if job.done}
        for (what, name), job in done.items():
            del self.jobs[what, name]
            if what == "base":
                if job.result:
                    bases[name] = _moved(bases[name], job.result, job.wide)
                    self._settled = self._settled and isinstance(bases[name], StoredBase)
            elif job.result:
                if job.wide == views[name].wide:  # else it has gone out of date meanwhile
                    self._admit(views[name], job.result)
                if views[name].built is None and views[name].rests <= 0:
                    self._start(name, views[name], (), bases)
            else:
                assert job.error is not None
                self._stay(views[name], job.error)
        return bool(done)

    def _stay(self, view: Maintained, why: BaseException) -> None:
        """Say, once, why a view stays with the reference engine."""
        view.note = str(why)
        missing = kernels.compiler() is None
        if not missing or not self._warned:
            words = f"'{view.query.name}' stays with the reference engine: {why}"
            warnings.warn(words, FreshviewWarning, stacklevel=2)
        self._warned = self._warned or missing


def _moved(base: AnyBase, built: Built, wide: bool) -> AnyBase:
    """The rows of a relation, moved into a kernel; where it has no room for them, they stay."""
    kept = StoredBase(base.relation, built.kernel, wide=wide)
    try:
        with kept.instance.wrapping():  # the dictionary has counted the rows
            base.fill(kept.instance, 0)
    except NoRoom:
        base.wide = True
        return base
    return kept
