"""Tiered execution: few rows are for the reference engine, kernels take over for many."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, Sequence

from freshview.calculus.schema import Relation
from freshview.codegen.library.load import Kernel
from freshview.errors import FreshviewError, FreshviewWarning
from freshview.runtime.compile import kernels
from freshview.runtime.compile.compile_view import cached_group_plan, compile_group
from freshview.runtime.compile.compiled_plan import CompiledPlan
from freshview.runtime.compile.kernels import BackgroundBuild, BuiltKernel
from freshview.runtime.database.state import State
from freshview.runtime.ingest.change import Change
from freshview.runtime.relations.base import Base
from freshview.runtime.relations.stored_base import (
    AnyBase,
    StatelessBase,
    StoredBase,
    is_lost,
    moved,
)
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.group import ViewGroup
from freshview.runtime.views.grouping import merged, partners, split

TIER_UP_ROWS = 2000
"""Rows that a view has seen when a kernel is built for it in the background."""

WAIT_ROWS = 50_000
"""Rows, at once or in batches, that wait for the compiler: dictionaries would take longer."""


class Tiering:
    """Loads and builds the kernels of a database; whoever calls has its lock."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self.settings = settings
        self.builds: dict[str, BackgroundBuild[BuiltKernel]] = {}
        """The kernels that are being built, each by the first view of the group that needs it."""
        self._targets: dict[str, list[ViewGroup]] = {}
        """The groups that a kernel is being built for, which become one."""
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
                bases[name] = moved(base, store)

    # -- new views ---------------------------------------------------------------------------------

    def attach_kernels(
        self,
        groups: Sequence[ViewGroup],
        others: Sequence[ViewGroup],
        bases: MutableMapping[str, AnyBase],
        fed: Collection[str],
    ) -> list[tuple[ViewGroup, ViewGroup]]:
        """Give new groups the kernels that they shall have from the start.

        Gives what each is to be, itself or a group of its views and those of others, and itself.
        """
        _refuse_headers(groups)
        free = [g for g in groups if g.settings.engine != "reference"]
        targets = {group: group for group in groups}
        left = list(others)
        for group in free:
            joined = partners(group, left, bases, fed)
            if joined:
                targets[group] = merged([*joined, group], bases)
                left = [g for g in left if g not in joined]
        if self.settings.engine == "native":
            self._build_all([targets[g] for g in free], bases)
        elif self.settings.engine == "auto":
            self._settled = not self.settings.keep_rows
            wanted = dict(targets)
            targets |= {g: self._load(g, wanted[g]) for g in free}
            late = [g for g in free if targets[g].built is None and g.rows_seen >= WAIT_ROWS]
            targets |= self._build_late({g: wanted[g] for g in late}, bases)
        for group in targets.values():
            if group.built is None:
                for r in group.relations:  # the reference engine takes static tables all at once
                    if r.static and is_lost(bases[r.name]):
                        bases[r.name] = Base(r)
        return [(target, own) for own, target in targets.items()]

    def _build_all(self, groups: Sequence[ViewGroup], bases: MutableMapping[str, AnyBase]) -> None:
        built = kernels.build_all([self._plan(g) for g in groups], self.settings.flags)
        for group, kernel in zip(groups, built, strict=True):
            group.adopt(kernel)
        if _dictionaries(bases):
            self._move_rows(kernels.row_store(), bases)

    def build(self, group: ViewGroup) -> None:
        """Build a kernel now, where kernels are there from the start."""
        if self.settings.engine == "native":
            group.adopt(kernels.build(self._plan(group), self.settings.flags))

    def _load(self, group: ViewGroup, together: ViewGroup) -> ViewGroup:
        """Load a kernel from the cache, or build it now where it cannot be built later.

        That is so without kept rows, and where payloads are C++, which no other engine runs. Gives
        the group that has the kernel: the one with the views of others, if there is one for it.
        """
        flags = self.settings.flags
        now = bool(group.headers) or not self.settings.keep_rows
        for target in dict.fromkeys([together, group]):
            plan = cached_group_plan(target.views, target.wide)
            built = kernels.cached(plan, flags) if plan else None
            if built is None and now:
                try:
                    kernels.need_compiler()
                    built = kernels.build(self._plan(target), flags)
                except FreshviewError as e:
                    if target.headers:  # no other engine can run it
                        raise
                    self._explain_reference(group, e)
                    return group
            elif built:
                target.arrival = "from the start: the cache has its kernel"
            if built:
                target.adopt(built)
                return target
        return group

    def _build_late(
        self, late: Mapping[ViewGroup, ViewGroup], bases: MutableMapping[str, AnyBase]
    ) -> dict[ViewGroup, ViewGroup]:
        """Wait for the kernels of new groups over many rows; gives those that have one now."""
        if not late or not self._may_build(late):
            return {}
        began = time.perf_counter()
        builds = {g: BackgroundBuild(self._builder(t), t.wide) for g, t in late.items()}
        if _dictionaries(bases):
            self._start_store()
        for job in builds.values():
            job.wait()
        if self.store_build is not None:
            self.store_build.wait()
        seconds = time.perf_counter() - began
        self._finish_store(bases)
        for group, build in builds.items():
            if build.kernel is not None:
                late[group].adopt(build.kernel)
                late[group].arrival = _waited(group.rows_seen, seconds)
            elif build.error is not None:
                self._explain_reference(group, build.error)
        return {group: target for group, target in late.items() if target.built is not None}

    def _plan(self, group: ViewGroup, wide: bool | None = None) -> CompiledPlan:
        return compile_group(group.views, group.wide if wide is None else wide)

    def prepare(self, changes: Sequence[Change], state: State) -> bool:
        """Before a change: one of many rows waits for kernels; tells whether any took over.

        With `native`, the rows go into the row store, also those that come before the views.
        """
        names = [c.relation.name for c in changes]
        if self.settings.engine == "native":
            if _dictionaries({name: state.bases[name] for name in names}):
                self._move_rows(kernels.row_store(), state.bases)
            return False
        rows = sum(c.size for c in changes)
        if self._settled:
            return False
        groups = dict.fromkeys(g for name in names for g in state.readers[name])
        waiting = [g for g in groups if g.awaits_kernel]
        if rows < WAIT_ROWS and waiting:
            from freshview.runtime.database.expected_work import is_slow

            waiting = [g for g in waiting if is_slow(g, changes, state.bases, WAIT_ROWS)]
        dicts = rows >= WAIT_ROWS and _dictionaries(state.bases)
        if not waiting and not dicts:
            return False
        began = time.perf_counter()
        for group in waiting:
            self._start(group, state)
        if dicts and kernels.compiler() is not None:
            self._start_store()
        for job in self.jobs:
            job.wait()
        for group in waiting:
            group.arrival = _waited(rows, time.perf_counter() - began)
        return self.finish(state)

    def replace(self, changes: Sequence[Change], groups: Iterable[ViewGroup], state: State) -> bool:
        """Replace the kernels that fell back; tells whether there were any.

        With `auto`, the next one is built in the background; with `native`, now.
        """
        behind = [g for g in groups if g.built is None and g.had_kernel and not g.note]
        for group in behind:
            self._settled = False
            group.cooldown_rows -= sum(c.size for c in changes if group.reads(c.relation.name))
        if self.settings.engine != "native":
            return bool(behind)
        for group in behind:
            if group.cooldown_rows <= 0:
                built = kernels.build(self._plan(group), self.settings.flags)
                self._admit(group, built, state)
        return bool(behind)

    def _admit(self, group: ViewGroup, built: BuiltKernel, state: State) -> None:
        """Let a kernel take over; where it does not hold the numbers, the other engine stays."""
        group.adopt(built)
        group.start()
        if group.built is not None or group.note:
            return
        if not group.wide:
            group.wide = True  # a kernel with room for more digits may hold them
            return
        if len(group.views) > 1:  # the numbers of one need not keep the others from a kernel
            state.regroup(split(group, state.bases))
            return
        group.cooldown_rows = max(TIER_UP_ROWS, group.base_rows())
        message = (
            f"{group.name} stays with the reference engine for {group.cooldown_rows} more "
            "rows: its partial sums leave the 64 bits that kernels have for integers"
        )
        warnings.warn(message, FreshviewWarning, stacklevel=2)

    def count_rows(self, changes: Sequence[Change], state: State) -> None:
        """Start building kernels for the views that have seen enough rows by now."""
        if self._settled:
            return
        settled = True
        for group in state.groups:
            group.rows_seen += sum(c.size for c in changes if group.reads(c.relation.name))
            settled = settled and (group.built is not None or bool(group.note))
            if not group.awaits_kernel:
                continue
            from freshview.runtime.database.expected_work import is_busy

            rows = min(TIER_UP_ROWS, group.rows_seen)
            if rows == TIER_UP_ROWS or is_busy(group, changes, state.bases):
                group.arrival = f"since {rows:,} rows, when it was built in the background"
                self._start(group, state)
        dicts = _dictionaries(state.bases)
        if any(base.size >= TIER_UP_ROWS for base in dicts) and kernels.compiler() is not None:
            self._start_store()
        self._settled = settled and not dicts

    def _start(self, group: ViewGroup, state: State) -> None:
        """Build a kernel in the background, also for the groups that can share it."""
        awaited = [g for groups in self._targets.values() for g in groups]
        if not self._may_build([group]) or group in awaited:
            return
        free = [g for g in state.groups if g not in awaited]
        targets = [*partners(group, free, state.bases, state.fed), group]
        together = merged(targets, state.bases) if len(targets) > 1 else group
        name = group.views[0].query.name.lower()
        self.builds[name] = BackgroundBuild(self._builder(together), together.wide)
        self._targets[name] = targets

    def _may_build(self, groups: Iterable[ViewGroup]) -> bool:
        """Whether there is a compiler; if not, the groups say so."""
        try:
            kernels.need_compiler()
        except FreshviewError as e:
            for group in groups:
                self._explain_reference(group, e)
            return False
        return True

    def _start_store(self) -> None:
        if self.store_build is None:
            self.store_build = BackgroundBuild(kernels.row_store)

    def _builder(self, group: ViewGroup) -> Callable[[], BuiltKernel]:
        wide = group.wide  # as of now: it may change while the compiler runs
        return lambda: kernels.build(self._plan(group, wide), self.settings.flags)

    def finish(self, state: State) -> bool:
        """Let kernels that are ready take over; tells whether there was any."""
        moved = self._finish_store(state.bases)
        done = {name: build for name, build in self.builds.items() if build.done}
        for name, build in done.items():
            del self.builds[name]
            targets = self._targets.pop(name)
            if any(g not in state.groups for g in targets):
                self._settled = False  # there are other groups meanwhile
            elif len(targets) > 1:
                self._join(targets, build, state)
            else:
                self._finish_alone(targets[0], build, state)
        return bool(done) or moved

    def _finish_store(self, bases: MutableMapping[str, AnyBase]) -> bool:
        """Move rows into the row store if it is ready; tells whether it is."""
        store = self.store_build
        if store is None or not store.done:
            return False
        self.store_build = None
        if store.kernel is not None:
            self._move_rows(store.kernel, bases)
        return True

    def _finish_alone(
        self, group: ViewGroup, build: BackgroundBuild[BuiltKernel], state: State
    ) -> None:
        if build.kernel is None:
            assert build.error is not None
            self._explain_reference(group, build.error)
            return
        if build.wide == group.wide:  # else it has gone out of date meanwhile
            self._admit(group, build.kernel, state)
        for g in state.groups:
            if g.awaits_kernel and g.views[0] in group.views:
                self._start(g, state)

    def _join(
        self, groups: list[ViewGroup], build: BackgroundBuild[BuiltKernel], state: State
    ) -> None:
        """Let one kernel take over the views of several groups; those without one may stay alone.

        Where it does not hold the numbers, the groups that have a kernel keep theirs.
        """
        together = merged(groups, state.bases)
        self._settled = False
        is_old = build.wide != together.wide  # one of them fell back meanwhile
        if build.kernel is not None and not is_old:
            together.adopt(build.kernel)
            together.start()
            if together.built is not None:
                state.regroup([together])
                return
        for group in groups:
            group.alone = group.alone or (group.built is None and not is_old)
            if group.awaits_kernel:
                self._start(group, state)

    def _explain_reference(self, group: ViewGroup, why: BaseException) -> None:
        """Say, once, why views stay with the reference engine."""
        group.note = str(why)
        missing = kernels.compiler() is None
        if not missing or not self._warned:
            verb = "stays" if len(group.views) == 1 else "stay"
            message = f"{group.name} {verb} with the reference engine: {why}"
            warnings.warn(message, FreshviewWarning, stacklevel=2)
        self._warned = self._warned or missing


def _refuse_headers(groups: Iterable[ViewGroup]) -> None:
    """Refuse rings in C++ where only the reference engine may run."""
    for group in groups:
        if group.headers and group.settings.engine == "reference":
            ring = group.headers[0]
            raise FreshviewError(
                f"{group.name} has payloads of the ring {ring.name}, which is defined in C++ in "
                f"'{ring.path}': only kernels run it, not the reference engine",
                instead="connect with engine='native', or write the ring as a Python class",
            )


def _dictionaries(bases: Mapping[str, AnyBase]) -> list[Base]:
    """The bases whose rows are to go into the row store."""
    return [b for b in bases.values() if isinstance(b, Base) and not b.stays]


def _waited(rows: int, seconds: float) -> str:
    return f"since a change of {rows:,} rows, which waited {seconds:.1f} s for the compiler"
