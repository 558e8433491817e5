"""A maintained matrix program: inputs change by rows, columns, cells or products."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import prod
from typing import Literal, Unpack

import numpy as np

from freshview.errors import FreshviewError, UnknownName
from freshview.linear.compile.emit import emit
from freshview.linear.compile.kept_views import kept_views, pruned
from freshview.linear.compile.normal import Normal, affected
from freshview.linear.compile.options import MatrixOptions, Strategy
from freshview.linear.compile.trigger import Trigger, names
from freshview.linear.compile.trigger_compiler import compile_source
from freshview.linear.execute.bind import bind, check_change, listed
from freshview.linear.execute.changes import (
    Added,
    Assigned,
    Move,
    moved,
    moves_of,
    write_exact_cells,
)
from freshview.linear.execute.drift import drift, sensitivity
from freshview.linear.execute.evaluate import NotConverged, Singular, evaluate
from freshview.linear.execute.peak_norms import PeakNorms
from freshview.linear.execute.report import Report
from freshview.linear.execute.run_trigger import run_trigger
from freshview.linear.kernels.array_api import elsewhere
from freshview.linear.kernels.semiring import Array, Semiring
from freshview.linear.kernels.semiring import semiring as semiring_of
from freshview.linear.language.expression import Matrix
from freshview.linear.language.source import source_of
from freshview.linear.language.terms import Input, Source, Until
from freshview.linear.language.walk import free
from freshview.linear.strategy.choices import TriggerChoices
from freshview.linear.strategy.choose import Choice, phases
from freshview.linear.strategy.explain import explain_choice, explain_fill, explain_memory_order
from freshview.linear.strategy.fill import Counted, Fill
from freshview.linear.strategy.memory_order import by_columns, in_memory_order
from freshview.linear.strategy.rates import measured

FRESH = 32
"""How many times its sensitivity an inverse that was just computed may be off: as far as a view is
not beyond that, computing it anew gains nothing."""

LARGE = 1 << 16
"""From how many cells of input on strategies are compared in seconds, not in operations."""


class Program:
    """Results of a matrix program that follow their inputs.

    `what` is a program as text, or expressions by the names of their results. Arrays for the
    inputs come by name. The drift from rounding is measured every `check_every` updates, and as
    soon as the condition of an inverse lets it be over `drift_bound`; beyond that, all the views
    are computed anew. `measure` says whether `auto` compares seconds,
    by rates measured once a process, or operations; if nothing is said, large inputs decide.
    `backend` is what holds the matrices and computes: `numpy`, `torch`, `cupy`, or a namespace of
    the array API; `device` is one of its own, such as `cuda`.

    >>> from freshview.linear import matrix
    >>> A = matrix("A", "n")
    >>> p = Program({"square": A @ A}, A=[[1, 2], [3, 4]])
    >>> p.update("A", rows=[0], v=[[1, 0]])
    >>> p["square"]
    array([[10., 12.],
           [18., 22.]])
    """

    def __init__(
        self,
        what: str | Source | Matrix | Mapping[str, Matrix],
        values: Mapping[str, object] | None = None,
        *,
        semiring: str = "",
        strategy: Strategy = "auto",
        second_order: str = "right",
        sizes: Mapping[str, int] | None = None,
        drift_bound: float = 1e-11,
        check_every: int = 64,
        measure: bool | None = None,
        backend: object = "numpy",
        device: object = None,
        **inputs: object,
    ) -> None:
        self.source = source_of(what, semiring)
        self.ring: Semiring = elsewhere(semiring_of(self.source.semiring), backend, device)
        self.drift_bound = drift_bound
        self.check_every = check_every
        self.report = Report()
        self.sizes: dict[str, float] = {n: float(s) for n, s in (sizes or {}).items()}
        self.values: dict[str, Array] = self._bind({**(values or {}), **inputs})
        self.options = MatrixOptions(
            self.sizes,
            strategy=strategy,
            second_order="left" if second_order == "left" else "right",
        )
        cells = sum(prod(a.shape) for a in self.values.values())
        measure = (cells >= LARGE) if measure is None else measure
        self.rates = measured(self.ring) if measure and self.ring.is_ring else None
        self.normal: Normal = compile_source(self.source, self.options)
        self._definitions = {s.name: s for s in self.normal.statements}
        self._symmetric = {
            s.term for s in self.normal.statements if self.normal.scope[s.name].symmetric
        }
        self._choices = TriggerChoices(self.normal, self.options, self.rates)
        self._running: dict[int, Trigger] = {}
        self._kept: frozenset[str] = frozenset()
        self._columns: frozenset[str] = frozenset()
        self._risk = 0.0
        self._norms = PeakNorms()
        self._counted = self._count()
        self._choose()
        self._keep()

    def _choose(self) -> None:
        """Choose for updates that may come first."""
        for i in self.normal.inputs:
            if i.dynamic:
                self.choice(i.name)

    def _bind(self, arrays: Mapping[str, object]) -> dict[str, Array]:
        return bind(self.source, arrays, self.ring, self.sizes)

    def _count(self) -> Counted | None:
        """How full the matrices are, if products over this semiring make use of it."""
        if self.ring.is_ring or not self.ring.skips:
            return None
        return Counted(self.normal, self.values, self.ring, self.sizes)

    def _fill(self, name: str, m: Move | None = None) -> Fill | None:
        if self._counted is None:
            return None
        return self._counted.fill(name, None if m is None else (m.left, m.right))

    def choice(self, name: str, rank: int = 1) -> Choice:
        """The trigger for updates of an input of this rank, and why it was chosen."""
        return self._choice(name, rank, self._fill(name))

    def _chosen(self, m: Move) -> Choice:
        fill = self._fill(m.name, m)
        return self._choice(m.name, m.rank, fill) if fill else self.choice(m.name, m.rank)

    def _choice(self, name: str, rank: int, fill: Fill | None) -> Choice:
        choice, new = self._choices.choice(name, rank, fill, self.sizes)
        if new:
            self._keep()
        return choice

    def _keep(self) -> None:
        """Keep what the triggers read: a view that was not kept so far is computed."""
        triggers = self._choices.triggers()
        wanted = kept_views(self.normal, triggers.values(), self._kept)
        fresh: dict[str, Array] = dict(self.values)
        for name in wanted - self._kept - {i.name for i in self.normal.inputs}:
            self._compute(name, fresh)
        self.values.update({n: fresh[n] for n in wanted})
        known = self._running if wanted == self._kept else {}
        self._kept = wanted
        self._running = {
            key: known[key] if key in known else pruned(t, wanted) for key, t in triggers.items()
        }
        if self.ring.name == "boolean" and self._counted:
            before, fill = self._columns, self._counted.fill
            ready = [(t, fill(t.input)) for t in self._running.values()]
            self._columns = by_columns(ready, wanted, self.sizes)
            self._arrange(before | self._columns)

    def _arrange(self, views: Iterable[str]) -> None:
        """Matrices as their products read them."""
        for name in views:
            self.values[name] = in_memory_order(self.values[name], columns=name in self._columns)

    def _compute(self, name: str, into: dict[str, Array]) -> Array:
        """A view from its definition, and whatever that needs, into `into`."""
        if name not in into:
            s = self._definitions[name]
            for other in sorted(free(s.term)):
                self._compute(other, into)
            value = evaluate(
                s.term,
                into,
                self.ring,
                self.sizes,
                mirrored=self._symmetric.__contains__,
                on_rounds=partial(self.report.rounds.__setitem__, name),
            )
            into[name] = self.ring.owned(value, shared=names(s.term))
        return into[name]

    def update(self, name: str, **by: Unpack[Added]) -> None:
        """Add to an input: u * v', or v to `rows`, or u to `cols`, or (row, column, value) `cells`.

        In a semiring other than the reals, adding is its own sum: or, min, max.
        """
        self.change(update={name: by})

    def assign(self, name: str, **by: Unpack[Assigned]) -> None:
        """Replace `rows` or `cols` of an input by what `to` says, or (row, column, value) `cells`.

        In a semiring other than the reals, what does not improve on the old values cannot be
        reached by adding: the views are computed anew, and the report says so.
        """
        self.change(assign={name: by})

    def change(
        self,
        *,
        update: Mapping[str, Added] | None = None,
        assign: Mapping[str, Assigned] | None = None,
    ) -> None:
        """Change several inputs at once: all of them, or, on an error, none.

        Each comes with the keywords of `update` or `assign`.

        >>> from freshview.linear import matrix
        >>> p = Program({"C": matrix("A", "n") @ matrix("B", "n")}, A=[[1.0]], B=[[2.0]])
        >>> p.change(update={"A": {"u": [1], "v": [1]}}, assign={"B": {"rows": [0], "to": [[5]]}})
        >>> p["C"]
        array([[10.]])
        """
        moves = moves_of(update or {}, assign or {}, self._current, self.ring)
        for m in moves:
            check_change(self._input(m.name), m.left, m.right)
        if not moves:
            return
        self._measure(moves)
        self._commit(moves)
        self.report.updates += 1
        self._watch(self._shrunk(moves))
        if self._counted and self._counted.recount(self.report.updates, self.values):
            self._choices.forget()
            self._choose()

    def _measure(self, moves: Sequence[Move]) -> None:
        if self.ring.is_ring:
            self._norms.begin(moves, self.values, self.ring)

    def _shrunk(self, moves: Sequence[Move]) -> bool:
        """Whether an input was much larger a while ago: the views rounded as it was then."""
        return self.ring.is_ring and self._norms.shrunk(moves, self.values, self.ring)

    def _watch(self, shrunk: bool = False) -> None:
        """Measure the drift when it is time, or when rounding may have been magnified enough."""
        if not self.ring.is_ring:
            return
        self._risk += sensitivity(self.normal, self.values, self.sizes, self.ring)
        due = self.report.updates % self.check_every == 0
        if due or shrunk or self._risk > self.drift_bound:
            self.check()

    def _input(self, name: str) -> Input:
        inputs = {i.name: i for i in self.normal.inputs}
        if name not in inputs:
            raise UnknownName(f"there is no input {name}", instead=f"there is {listed(inputs)}")
        if not inputs[name].dynamic:
            raise FreshviewError(f"{name} is static", instead="declare it dynamic to update it")
        return inputs[name]

    def _current(self, name: str) -> Array:
        """The matrix of an input that may change."""
        self._input(name)
        return self.values[name]

    def _commit(self, moves: Sequence[Move]) -> None:
        """Follow the changes one after the other by their triggers, or compute anew after all."""
        why = [w for m in moves if (w := self._reason_to_recompute(m))]
        if not why:
            # One trigger reads everything before it writes. After the first of several, copies
            # must be there to go back to.
            copies = self.values if len(moves) > 1 else ()
            try:
                with self._undone(copies):
                    for m in moves:
                        self._run(self._running[id(self._chosen(m).trigger)], m)
                        write_exact_cells(self.values[m.name], m)
                return
            except Singular:
                why = [f"an update of {moves[0].name} made an inverse too sensitive"]
            except NotConverged:
                why = [f"after an update of {moves[0].name} an iteration did not settle"]
        with self._undone([m.name for m in moves]):
            for m in moves:
                self.values[m.name] = moved(self.values[m.name], m, self.ring)
                write_exact_cells(self.values[m.name], m)
            self._again({m.name for m in moves}, "; ".join(why))

    def _reason_to_recompute(self, m: Move) -> str:
        """Why a change is not followed by its trigger; nothing if it is."""
        if m.lost is not None:
            return f"what {m.name} loses cannot be subtracted in {self.ring.name}"
        chosen = self._chosen(m)
        if chosen.strategy != "reevaluate":
            return ""
        return f"an update of rank {m.rank} of {m.name}: {chosen.why}"

    def _run(self, t: Trigger, m: Move) -> None:
        self.values.update(
            run_trigger(t, m, self.values, self.ring, self.sizes, self.report.rounds)
        )

    @contextmanager
    def _undone(self, copied: Iterable[str]) -> Iterator[None]:
        """If something goes wrong inside, the program stays as it was; `copied` may be written."""
        before = dict(self.values)
        for name in copied:
            before[name] = self.ring.copy(before[name])
        try:
            yield
        except BaseException:
            self.values = before
            self._arrange(self._columns)
            raise

    def _again(self, changed: Iterable[str], why: str) -> None:
        """Compute anew whatever depends on the inputs that changed."""
        stale = {s.name for s in affected(self.normal.statements, changed)}
        fresh = {n: a for n, a in self.values.items() if n not in stale}
        for n in self._kept - fresh.keys():
            self._compute(n, fresh)
        self.values = {n: fresh[n] for n in self._kept}
        self._arrange(self._columns)
        self._report_reevaluation(why)

    def _report_reevaluation(self, why: str) -> None:
        self.report.reevaluated(why)

    def check(self) -> float:
        """Measure the drift; beyond the bound, compute the views anew and measure again."""
        if not self.ring.is_ring:
            return 0.0  # choices do not round
        self._risk = 0.0
        distance = drift(self.normal, self.values, self.sizes, self.ring)
        self.report.worst_drift = max(self.report.worst_drift, distance)
        least = FRESH * sensitivity(self.normal, self.values, self.sizes, self.ring)
        if distance > max(self.drift_bound, least):
            self._all_again(f"the drift {distance:.1e} exceeded {self.drift_bound:.1e}")
            distance = drift(self.normal, self.values, self.sizes, self.ring)
        self.report.drift = distance
        return distance

    def _all_again(self, why: str) -> None:
        self._again({i.name for i in self.normal.inputs}, why)

    def reevaluate(self) -> None:
        """Compute all the views anew."""
        self._all_again("as asked for")

    def __getitem__(self, name: str) -> Array:
        """A copy of an input, a result, or any matrix on the way to one."""
        self._known(name)
        if name in self.values:
            return self.ring.copy(self.values[name])
        return self._compute(name, dict(self.values))

    def _known(self, name: str) -> None:
        """Refuse what is not a matrix of this program, and say what is."""
        if name not in self.values and name not in self._definitions:
            asked = listed({i.name for i in self.normal.inputs} | {*self.source.outputs})
            raise UnknownName(f"there is no matrix {name}", instead=f"there is {asked}")

    def trigger(self, name: str, rank: int = 1) -> Trigger:
        """The trigger that runs for updates of an input of about this rank."""
        self._input(name)
        return self._running[id(self.choice(name, rank).trigger)]

    def phases(self, name: str, rank: int = 1) -> str:
        """What every phase of the compilation makes of the program, for one input."""
        self._input(name)
        return phases(self.normal, name, replace(self.options, rank=rank))

    def code(self, name: str, language: Literal["octave", "numpy"], rank: int = 1) -> str:
        """The trigger of an input as a function in another language."""
        if not self.ring.is_ring:
            raise FreshviewError(
                f"Octave and NumPy compute over the reals, not over {self.ring.name}"
            )
        return emit(self.trigger(name, rank), language)

    def explain(self, name: str, rank: int = 1) -> str:
        """Which strategy follows an input, why, and what is kept."""
        self._input(name)
        t = self.trigger(name, rank)
        cell = np.dtype(self.ring.dtype).itemsize
        views = self._kept - {i.name for i in self.normal.inputs}
        held = {v: prod(self.values[v].shape) * cell for v in views}
        rounds = {
            s.name: count
            for s in self.normal.statements
            if (count := self.report.rounds.get(s.name)) and isinstance(s.term, Until)
        }
        text = explain_choice(self.choice(name, rank), t, held, rounds)
        return text + explain_fill(self._fill(name), t) + explain_memory_order(self._columns)
