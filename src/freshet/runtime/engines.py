"""Which engine serves which view, and when a kernel takes over."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, MutableMapping, Sequence

from freshet.calculus.schema import Relation
from freshet.errors import FreshetError, FreshetWarning
from freshet.runtime import kernels, recipe
from freshet.runtime.base import Base
from freshet.runtime.change import Change
from freshet.runtime.kept import Kept, Unkept
from freshet.runtime.kernels import Built, Job
from freshet.runtime.serve import AnyBase
from freshet.runtime.settings import Settings
from freshet.runtime.view import Maintained

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
                raise FreshetError(
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
                    if r.static and isinstance(bases[r.name], Unkept):
                        bases[r.name] = Base(r)

    def _build_all(self, views: Sequence[Maintained], bases: MutableMapping[str, AnyBase]) -> None:
        used = {r.name: r for v in views for r in v.relations}
        dicts = {name: r for name, r in used.items() if isinstance(bases[name], Base)}
        recipes = [self._recipe(v) for v in views]
        recipes += [recipe.base_recipe(r) for r in dicts.values()]
        built = kernels.build_all(recipes, self.settings.flags)
        for view, kernel in zip(views, built, strict=False):
            view.adopt(kernel)
        for name, kernel in zip(dicts, built[len(views) :], strict=True):
            bases[name] = _moved(bases[name], kernel)

    def _find(self, view: Maintained) -> None:
        """A kernel from the cache; built now where there is no second chance.

        That is without kept rows, and where payloads are C++, which no other engine runs.
        """
        flags = self.settings.flags
        known = recipe.remembered(view.query, view.relations, view.settings, view.functions)
        built = kernels.cached(known, flags) if known else None
        if built is None and (view.headers or not self.settings.keep_rows):
            try:
                kernels.need_compiler()
                built = kernels.build(self._recipe(view), flags)
            except FreshetError as e:
                if view.headers:  # no other engine can run it
                    raise
                self._stay(view, e)
        if built:
            view.adopt(built)

    def _recipe(self, view: Maintained) -> recipe.Recipe:
        return recipe.recipe(view.query, view.relations, view.settings, view.functions)

    def keep(self, changes: Sequence[Change], bases: MutableMapping[str, AnyBase]) -> None:
        """With `native`, keep rows that come before the views in kernels, too."""
        if self.settings.engine != "native":
            return
        for change in changes:
            base = bases[change.relation.name]
            if isinstance(base, Base):
                built = kernels.build(recipe.base_recipe(base.relation), self.settings.flags)
                bases[change.relation.name] = _moved(base, built)

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
            if view.seen >= ENOUGH:
                self._start(name, view, dicts)
        self._settled = settled

    def _start(self, name: str, view: Maintained, dicts: Sequence[Relation]) -> None:
        try:
            kernels.need_compiler()
        except FreshetError as e:
            self._stay(view, e)
            return
        if view.built is None and ("view", name) not in self.jobs:
            self.jobs["view", name] = Job(self._builder(view))
        for r in dicts:
            if ("base", r.name) not in self.jobs:
                self.jobs["base", r.name] = Job(self._base_builder(r))

    def _builder(self, view: Maintained) -> Callable[[], Built]:
        return lambda: kernels.build(self._recipe(view), self.settings.flags)

    def _base_builder(self, relation: Relation) -> Callable[[], Built]:
        return lambda: kernels.build(recipe.base_recipe(relation), self.settings.flags)

    def finish(self, views: Mapping[str, Maintained], bases: MutableMapping[str, AnyBase]) -> bool:
        """Let kernels that are ready take over; tells whether there was any."""
        done = {key: job for key, job in self.jobs.items() if job.done}
        for (what, name), job in done.items():
            del self.jobs[what, name]
            if what == "base":
                if job.result:
                    bases[name] = _moved(bases[name], job.result)
            elif job.result:
                views[name].adopt(job.result)
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
            warnings.warn(words, FreshetWarning, stacklevel=2)
        self._warned = self._warned or missing


def _moved(base: AnyBase, built: Built) -> Kept:
    """The rows of a relation, moved into a kernel."""
    kept = Kept(base.relation, built.kernel)
    if base.size:
        base.fill(kept.instance, 0)
    return kept
