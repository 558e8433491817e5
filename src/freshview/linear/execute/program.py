"""A maintained matrix program: inputs change by rows, columns, cells or products."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np

from freshview.errors import FreshviewError, UnknownName
from freshview.linear.compile import emit
from freshview.linear.compile.compile import Choice, candidates, choose, compile_source, phases
from freshview.linear.compile.explain import explained, lying, sparse
from freshview.linear.compile.normal import Normal
from freshview.linear.compile.trigger import Trigger, names
from freshview.linear.cost.fill import Counted, Fill
from freshview.linear.cost.layout import by_columns, laid
from freshview.linear.cost.rates import measured
from freshview.linear.execute.array_api import elsewhere
from freshview.linear.execute.bind import bind, check_change, listed, source_of
from freshview.linear.execute.changes import Added, Assigned, Move, factors, replacement
from freshview.linear.execute.drift import drift, sensitivity
from freshview.linear.execute.evaluate import NotConverged, Singular, evaluate
from freshview.linear.execute.follow import followed
from freshview.linear.execute.intake import BadUpdate
from freshview.linear.execute.keep import kept, pruned
from freshview.linear.execute.report import REMEMBERED, Report
from freshview.linear.execute.semiring import Array, Semiring
from freshview.linear.execute.semiring import semiring as semiring_of
from freshview.linear.execute.swell import Swell
from freshview.linear.language.expression import Matrix
from freshview.linear.language.options import Options, Strategy
from freshview.linear.language.terms import Input, Source, Until
from freshview.linear.language.walk import free

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
        backend: Any = "numpy",
        device: Any = None,
        **inputs: object,
    ) -> None:
        self.source = source_of(what, semiring)
        self.ring: Semiring = elsewhere(semiring_of(self.source.semiring), backend, device)
        self.drift_bound = drift_bound
        self.check_every = check_every
        self.report = Report()
        self.sizes: dict[str, float] = {n: float(s) for n, s in (sizes or {}).items()}
        given = {**(values or {}), **inputs}
        self.values: dict[str, Array] = self._bind(given)
        self.options = Options(
            self.sizes,
            strategy=strategy,
            second_order="left" if second_order == "left" else "right",
        )
        cells = sum(a.shape[0] * a.shape[1] for a in self.values.values())
        measure = (cells >= LARGE) if measure is None else measure
        self.rates = measured(self.ring) if measure and self.ring.is_ring else None
        self.normal: Normal = compile_source(self.source, self.options)
        self._definitions = {s.name: s for s in self.normal.statements}
        self._symmetric = {
            s.term for s in self.normal.statements if self.normal.scope[s.name].symmetric
        }
        self._compiled: dict[tuple[str, int], dict[Strategy, Trigger]] = {}
        self._choices: dict[tuple[str, int, float, float], Choice] = {}
        self._running: dict[int, Trigger] = {}
        self._kept: frozenset[str] = frozenset()
        self._columns: frozenset[str] = frozenset()
        self._risk = 0.0
        self._swell = Swell()
        self._counted = self._count()
        self._choose()
        self._keep()

    def _choose(self) -> None:
        """Choose for updates that may come first."""
        for i in self.normal.inputs:
            if i.dynamic:
                self.choice(i.name)

    def _bind(self, given: Mapping[str, object]) -> dict[str, Array]:
        return bind(self.source, given, self.ring, self.sizes)

    def _count(self) -> Counted | None:
        """How full the matrices are, if products over this semiring make use of it."""
        counts = self.ring.skips and not self.ring.is_ring
        return Counted(self.normal, self.values, self.ring, self.sizes) if counts else None

    def _fill(self, name: str, m: Move | None = None) -> Fill | None:
        return self._counted.fill(name, m) if self._counted else None

    def choice(self, name: str, rank: int = 1) -> Choice:
        """The trigger for updates of an input of this rank, and why it was chosen.

        Triggers are compiled for ranks of 1, 2, 4, 8 ...; which strategy is cheapest is asked for
        every rank, and over semirings for factors of every density.
        """
        return self._choice(name, rank, self._fill(name))

    def _chosen(self, m: Move) -> Choice:
        fill = self._fill(m.name, m)
        return self._choice(m.name, m.rank, fill) if fill else self.choice(m.name, m.rank)

    def _choice(self, name: str, rank: int, fill: Fill | None) -> Choice:
        key = (name, rank, *((fill.left, fill.right) if fill else (1.0, 1.0)))
        if key not in self._choices:
            bucket = 1 << max(0, rank - 1).bit_length()
            if (name, bucket) not in self._compiled:
                options = replace(self.options, rank=bucket)
                self._compiled[name, bucket] = candidates(self.normal, name, options)
            made = self._compiled[name, bucket]
            self._choices[key] = choose(made, self.sizes, rank, self.rates, fill)
            self._keep()
        return self._choices[key]

    def _keep(self) -> None:
        """Keep what the triggers read: a view that was not kept so far is computed."""
        triggers = {id(c.trigger): c.trigger for c in self._choices.values()}
        wanted = kept(self.normal, triggers.values(), self._kept)
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
            self._lay(before | self._columns)

    def _lay(self, views: Iterable[str]) -> None:
        """Matrices as their products read them."""
        for name in views:
            self.values[name] = laid(self.values[name], columns=name in self._columns)

    def _compute(self, name: str, into: dict[str, Array]) -> Array:
        """A view from its definition, and whatever that needs, into `into`."""
        if name not in into:
            s = self._definitions[name]
            for other in sorted(free(s.term)):
                self._compute(other, into)
            found = evaluate(
                s.term,
                into,
                self.ring,
                self.sizes,
                mirrored=self._symmetric.__contains__,
                told=partial(self.report.rounds.__setitem__, name),
            )
            into[name] = self.ring.owned(found, shared=names(s.term))
        return into[name]

    def update(self, name: str, **told: Unpack[Added]) -> None:
        """Add to an input: u * v', or v to `rows`, or u to `cols`, or (row, column, value) `cells`.

        In a semiring other than the reals, adding is its own sum: or, min, max.
        """
        self.change(update={name: told})

    def assign(self, name: str, **told: Unpack[Assigned]) -> None:
        """Replace `rows` or `cols` of an input by what `to` says, or (row, column, value) `cells`.

        In a semiring other than the reals, what does not improve on the old values cannot be
        reached by adding: the views are computed anew, and the report says so.
        """
        self.change(assign={name: told})

    def change(
        self,
        *,
        update: Mapping[str, Added] | None = None,
        assign: Mapping[str, Assigned] | None = None,
    ) -> None:
        """Change several inputs at once: all of them, or, on an error, none.

        Each is told what `update` or `assign` would be.

        >>> from freshview.linear import matrix
        >>> p = Program({"C": matrix("A", "n") @ matrix("B", "n")}, A=[[1.0]], B=[[2.0]])
        >>> p.change(update={"A": {"u": [1], "v": [1]}}, assign={"B": {"rows": [0], "to": [[5]]}})
        >>> p["C"]
        array([[10.]])
        """
        for told in (update or {}, assign or {}):
            if not isinstance(told, Mapping) or not all(
                isinstance(of, Mapping) for of in told.values()
            ):
                raise BadUpdate(
                    f"a change cannot be {told!r}",
                    instead="give, by the names of inputs, what update or assign would be told",
                )
        moves = [self._added(name, told) for name, told in (update or {}).items()]
        moves += [self._replaced(name, told) for name, told in (assign or {}).items()]
        names = [m.name for m in moves]
        for name in names:
            if names.count(name) > 1:
                raise BadUpdate(f"{name} is updated and assigned at once")
        moves = [m for m in moves if m.rank]
        for m in moves:
            check_change(self._input(m.name), m.left, m.right)
        if not moves:
            return
        self._measure(moves)
        self._commit(moves)
        self.report.updates += 1
        self._watch(self._shrunk(moves))
        if self._counted and self._counted.recount(self.report.updates, self.values):
            self._choices.clear()
            self._choose()

    def _measure(self, moves: Sequence[Move]) -> None:
        if self.ring.is_ring:
            for m in moves:
                self._swell.begin(m.name, partial(self.ring.length, self.values[m.name]))

    def _shrunk(self, moves: Sequence[Move]) -> bool:
        """Whether an input was much larger a while ago: the views rounded as it was then."""
        if not self.ring.is_ring:
            return False
        found = False
        for m in moves:
            length = partial(self.ring.length, self.values[m.name])
            found = self._swell.shrunk(m.name, m.left, m.right, length) or found
        return found

    def _watch(self, shrunk: bool = False) -> None:
        """Measure the drift when it is time, or when rounding may have been magnified enough."""
        if not self.ring.is_ring:
            return
        self._risk += sensitivity(self.normal, self.values, self.sizes, self.ring)
        due = self.report.updates % self.check_every == 0
        if due or shrunk or self._risk > self.drift_bound:
            self.check()

    def _added(self, name: str, told: Added) -> Move:
        shape = self._shape(name)
        return Move(name, *factors(name, shape, self.ring, **told))

    def _replaced(self, name: str, told: Assigned) -> Move:
        new = replacement(name, self._shape(name), self.ring, **told)
        old = self.ring.at(self.values[name], new.index)
        if self.ring.is_ring:
            return Move(name, *new.spread(new.values - old), exact=new)
        lost = not np.array_equal(self.ring.plus(old, new.values), new.values)
        return Move(name, *new.spread(new.values), new if lost else None)

    def _input(self, name: str) -> Input:
        found = [i for i in self.normal.inputs if i.name == name]
        if not found:
            known = listed(i.name for i in self.normal.inputs)
            raise UnknownName(f"there is no input {name}", instead=f"there is {known}")
        if not found[0].dynamic:
            raise FreshviewError(f"{name} is static", instead="declare it dynamic to update it")
        return found[0]

    def _shape(self, name: str) -> tuple[int, int]:
        self._input(name)
        rows, cols = self.values[name].shape
        return rows, cols

    def _commit(self, moves: Sequence[Move]) -> None:
        """Follow the changes one after the other by their triggers, or compute anew after all."""
        why = [w for m in moves if (w := self._why_anew(m))]
        if not why:
            # One trigger reads everything before it writes. After the first of several, copies
            # must be there to go back to.
            copies = self.values if len(moves) > 1 else ()
            try:
                with self._undone(copies):
                    for m in moves:
                        self._run(self._running[id(self._chosen(m).trigger)], m)
                        self._settle(m)
                return
            except Singular:
                why = [f"an update of {moves[0].name} made an inverse too sensitive"]
            except NotConverged:
                why = [f"after an update of {moves[0].name} an iteration did not settle"]
        with self._undone([m.name for m in moves]):
            for m in moves:
                self._put(m)
                self._settle(m)
            self._again({m.name for m in moves}, "; ".join(why))

    def _why_anew(self, m: Move) -> str:
        """Why a change is not followed by its trigger; nothing if it is."""
        if m.lost is not None:
            return f"what {m.name} loses cannot be subtracted in {self.ring.name}"
        chosen = self._chosen(m)
        if chosen.strategy != "reevaluate":
            return ""
        return f"an update of rank {m.rank} of {m.name}: {chosen.why}"

    def _put(self, m: Move) -> None:
        """Change an input alone."""
        if m.lost is None:
            left, right = self.ring.put(m.left), self.ring.put(m.right)
            self.values[m.name] = self.ring.accumulate(self.values[m.name], left, right)
        else:
            new = np.array(self.ring.host(self.values[m.name]))
            new[m.lost.index] = m.lost.values
            self.values[m.name] = self.ring.put(new)

    def _settle(self, m: Move) -> None:
        """What was assigned is there as it was given: old + (new - old) may be another number."""
        values = self.values[m.name]
        if m.exact is not None and isinstance(values, np.ndarray):
            values[m.exact.index] = m.exact.values

    def _run(self, t: Trigger, m: Move) -> None:
        self.values.update(followed(t, m, self.values, self.ring, self.sizes, self.report.rounds))

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
            self._lay(self._columns)
            raise

    def _again(self, changed: Iterable[str], why: str) -> None:
        """Compute anew whatever depends on the inputs that changed."""
        inputs = {i.name for i in self.normal.inputs}
        stale = set(changed)
        for s in self.normal.statements:
            if free(s.term) & stale:
                stale.add(s.name)
        fresh = {n: a for n, a in self.values.items() if n in inputs or n not in stale}
        for n in self._kept - fresh.keys():
            self._compute(n, fresh)
        self.values = {n: fresh[n] for n in self._kept}
        self._lay(self._columns)
        self._told(why)

    def _told(self, why: str) -> None:
        """Note that views were computed anew."""
        self.report.reevaluations += 1
        self.report.reasons.append(why)
        del self.report.reasons[:-REMEMBERED]

    def check(self) -> float:
        """Measure the drift; beyond the bound, compute the views anew and measure again."""
        if not self.ring.is_ring:
            return 0.0  # choices do not round
        self._risk = 0.0
        found = drift(self.normal, self.values, self.sizes, self.ring)
        self.report.worst_drift = max(self.report.worst_drift, found)
        least = FRESH * sensitivity(self.normal, self.values, self.sizes, self.ring)
        if found > max(self.drift_bound, least):
            self._all_again(f"the drift {found:.1e} exceeded {self.drift_bound:.1e}")
            found = drift(self.normal, self.values, self.sizes, self.ring)
        self.report.drift = found
        return found

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
        """Refuse what is no matrix of this program, and say what is."""
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
        if language not in emit.LANGUAGES:
            raise FreshviewError(
                f"there is no code in {language!r}",
                instead=f"ask for one of {', '.join(emit.LANGUAGES)}",
            )
        return emit.LANGUAGES[language](self.trigger(name, rank))

    def explain(self, name: str, rank: int = 1) -> str:
        """Which strategy follows an input, why, and what is kept."""
        self._input(name)
        t = self.trigger(name, rank)
        views = self._kept - {i.name for i in self.normal.inputs}
        cell = np.dtype(self.ring.dtype).itemsize
        held = {v: self.values[v].shape[0] * self.values[v].shape[1] * cell for v in views}
        rounds = {
            s.name: found
            for s in self.normal.statements
            if (found := self.report.rounds.get(s.name)) and isinstance(s.term, Until)
        }
        text = explained(self.choice(name, rank), t, held, rounds)
        return text + sparse(self._fill(name), t) + lying(self._columns)
