"""A maintained matrix program: inputs change by rows, columns, cells or products."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from freshet.errors import FreshetError, UnknownName
from freshet.linear import emit
from freshet.linear.changes import BadUpdate, Replacement, check_cells, factors, replacement
from freshet.linear.compile import Choice, candidates, choose, compile_source, phases
from freshet.linear.drift import drift
from freshet.linear.evaluate import Singular, evaluate
from freshet.linear.expression import Matrix
from freshet.linear.keep import kept, pruned
from freshet.linear.normal import Normal
from freshet.linear.options import Options, Strategy
from freshet.linear.rates import measured
from freshet.linear.semiring import Array, Semiring, semiring
from freshet.linear.sizes import Size
from freshet.linear.terms import Input, Source, Statement
from freshet.linear.text import read_source
from freshet.linear.trigger import Dense, Trigger, names
from freshet.linear.walk import free

MAGNIFIES = 1e6
"""How much Woodbury's formula may magnify errors before the inverse is computed anew."""

LARGE = 1 << 16
"""From how many cells of input on strategies are compared in seconds, not in operations."""

REMEMBERED = 100
"""How many reasons a report keeps: the last ones."""


@dataclass
class Report:
    """What a program has done so far; `reasons` tell why it was last computed anew."""

    updates: int = 0
    reevaluations: int = 0
    drift: float = 0.0
    worst_drift: float = 0.0
    reasons: list[str] = field(default_factory=list)


class Program:
    """Results of a matrix program that follow their inputs.

    `what` is a program as text, or expressions by the names of their results. Arrays for the
    inputs come by name. Every `check_every` updates the drift from rounding is measured; beyond
    `drift_bound`, all the views are computed anew. `measure` says whether `auto` compares seconds,
    by rates measured once a process, or operations; if nothing is said, large inputs decide.

    >>> from freshet.linear import matrix
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
        **inputs: object,
    ) -> None:
        self.source = _source(what, semiring)
        self.ring: Semiring = _ring(self.source.semiring)
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
        cells = sum(a.size for a in self.values.values())
        measure = (cells >= LARGE) if measure is None else measure
        self.rates = measured() if measure and self.ring.is_ring else None
        self.normal: Normal = compile_source(self.source, self.options)
        self._definitions = {s.name: s for s in self.normal.statements}
        self._compiled: dict[tuple[str, int], dict[Strategy, Trigger]] = {}
        self._choices: dict[tuple[str, int], Choice] = {}
        self._running: dict[int, Trigger] = {}
        self._kept: frozenset[str] = frozenset()
        for i in self.normal.inputs:
            if i.dynamic:
                self.choice(i.name)
        self._keep()

    def _bind(self, given: Mapping[str, object]) -> dict[str, Array]:
        """The arrays of the inputs; the first use of a size tells its value."""
        names = {i.name for i in self.source.inputs}
        for name in given:
            if name not in names:
                raise UnknownName(f"there is no input {name}", instead=f"there is {_list(names)}")
        found: dict[str, Array] = {}
        for i in self.source.inputs:
            if i.name not in given:
                raise UnknownName(f"the input {i.name} has no value")
            array = self.ring.read(given[i.name])
            if array.shape[0] == 1 and i.cols.number == 1 and np.ndim(given[i.name]) == 1:  # type: ignore[arg-type]
                array = np.ascontiguousarray(array.T)  # a plain list for a column
            if array.ndim != 2:
                raise BadUpdate(f"{i.name} has {array.ndim} dimensions", instead="expected two")
            for s, n in zip((i.rows, i.cols), array.shape, strict=True):
                self._measure(i, s, n)
            check_cells(i.name, array, self.ring)
            _check_traits(i, array)
            found[i.name] = array
        return found

    def _measure(self, i: Input, s: Size, n: int) -> None:
        if len(s.terms) == 1 and len(s.terms[0][0]) == 1 and s.terms[0][1] == 1:
            self.sizes.setdefault(s.terms[0][0][0], float(n))
        unknown = {v for m, _ in s.terms for v in m} - self.sizes.keys()
        if not unknown and s.at(self.sizes) != n:
            wanted = f"{int(s.at(self.sizes))}" + ("" if s.number is not None else f" ({s})")
            raise BadUpdate(f"{i.name} has a side of {n}, but {wanted} is wanted there")

    def choice(self, name: str, rank: int = 1) -> Choice:
        """The trigger for updates of an input of this rank, and why it was chosen.

        Triggers are compiled for ranks of 1, 2, 4, 8 ...; which strategy is cheapest is asked for
        every rank.
        """
        if (name, rank) not in self._choices:
            bucket = 1 << max(0, rank - 1).bit_length()
            if (name, bucket) not in self._compiled:
                options = replace(self.options, rank=bucket)
                self._compiled[name, bucket] = candidates(self.normal, name, options)
            chosen = choose(self._compiled[name, bucket], self.sizes, rank, self.rates)
            self._choices[name, rank] = chosen
            self._keep()
        return self._choices[name, rank]

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

    def _compute(self, name: str, into: dict[str, Array]) -> Array:
        """A view from its definition, and whatever that needs, into `into`."""
        if name not in into:
            s = self._definitions[name]
            for other in sorted(free(s.term)):
                self._compute(other, into)
            into[name] = self._owned(evaluate(s.term, into, self.ring, self.sizes), into)
        return into[name]

    def _owned(self, array: Array, others: Mapping[str, Array]) -> Array:
        """The array, or a copy where it shares memory with another matrix."""
        if array.base is not None or any(array is o for o in others.values()):
            return np.array(array, order="C", copy=True)
        return np.ascontiguousarray(array)

    def update(
        self,
        name: str,
        *,
        rows: object = None,
        cols: object = None,
        cells: Sequence[tuple[int, int, Any]] | None = None,
        u: object = None,
        v: object = None,
    ) -> None:
        """Add to an input: u * v', or v to rows, or u to columns, or (row, column, value) cells.

        In a semiring other than the reals, adding is its own sum: or, min, max.
        """
        shape = self._input(name)
        left, right = factors(name, shape, self.ring, rows=rows, cols=cols, cells=cells, u=u, v=v)
        self._apply(name, left, right)

    def assign(
        self,
        name: str,
        *,
        rows: object = None,
        cols: object = None,
        cells: Sequence[tuple[int, int, Any]] | None = None,
        to: object = None,
    ) -> None:
        """Replace rows, columns or cells of an input.

        In a semiring other than the reals, what does not improve on the old values cannot be
        reached by adding: the views are computed anew, and the report says so.
        """
        shape = self._input(name)
        told = replacement(name, shape, self.ring, rows=rows, cols=cols, cells=cells, to=to)
        old = self.values[name][told.index]
        if self.ring.is_ring:
            self._apply(name, *told.spread(told.values - old))
        elif np.array_equal(self.ring.plus(old, told.values), told.values):
            self._apply(name, *told.spread(told.values))
        else:
            self.report.updates += 1
            why = f"what {name} loses cannot be subtracted in {self.ring.name}"
            self._replace(name, told, why)

    def _input(self, name: str) -> tuple[int, int]:
        found = [i for i in self.normal.inputs if i.name == name]
        if not found:
            known = _list({i.name for i in self.normal.inputs})
            raise UnknownName(f"there is no input {name}", instead=f"there is {known}")
        if not found[0].dynamic:
            raise FreshetError(f"{name} is static", instead="declare it dynamic to update it")
        rows, cols = self.values[name].shape
        return rows, cols

    def _apply(self, name: str, left: Array, right: Array) -> None:
        rank = left.shape[1]
        if rank == 0:
            return
        for i in self.normal.inputs:
            if i.name == name and i.traits:
                _check_change(i, left, right)
        self.report.updates += 1
        chosen = self.choice(name, rank)
        if chosen.strategy == "reevaluate":
            why = f"an update of rank {rank} of {name}: {chosen.why}"
            self._anew(name, left, right, why)
            return
        try:
            self._run(self._running[id(chosen.trigger)], left, right)
        except Singular:
            why = f"an update of {name} made an inverse too sensitive"
            self._anew(name, left, right, why)
            return
        if self.ring.is_ring and self.report.updates % self.check_every == 0:
            self.check()

    def _run(self, t: Trigger, left: Array, right: Array) -> None:
        """A trigger: all the changes over the old views, then the updates in place."""
        local: dict[str, Array] = {**self.values, t.left: left, t.right: right}
        known = {**self.sizes, str(t.rank): float(left.shape[1])}
        for s in t.assignments:
            found = evaluate(s.term, local, self.ring, known, MAGNIFIES)
            local[s.name] = found.copy() if names(s.term) else found
        for u in t.updates:
            view = self.values[u.view]
            if isinstance(u.change, Dense):
                self.ring.plus(view, evaluate(u.change.term, local, self.ring, known), out=view)
            else:
                sides = (u.change.left, u.change.right)
                p, q = (evaluate(e, local, self.ring, known) for e in sides)
                self.ring.accumulate(view, p, q)

    def _anew(self, name: str, left: Array, right: Array, why: str) -> None:
        """Add to an input, and compute anew whatever depends on it."""
        with self._undone(name):
            self.ring.accumulate(self.values[name], left, right)
            self._again(name, why)

    def _replace(self, name: str, told: Replacement, why: str) -> None:
        """Replace cells of an input, and compute anew whatever depends on it."""
        with self._undone(name):
            self.values[name][told.index] = told.values
            self._again(name, why)

    @contextmanager
    def _undone(self, name: str) -> Iterator[None]:
        """If the new input admits no result, the program stays as it was."""
        before = dict(self.values)
        before[name] = before[name].copy()
        try:
            yield
        except Singular:
            self.values = before
            raise

    def _again(self, changed: str, why: str) -> None:
        """Compute anew whatever depends on an input; on all of them, if none is named."""
        stale: set[str] = {changed} if changed else {i.name for i in self.normal.inputs}
        inputs = {i.name for i in self.normal.inputs}
        for s in self.normal.statements:
            if free(s.term) & stale:
                stale.add(s.name)
        fresh = {n: a for n, a in self.values.items() if n in inputs or n not in stale}
        for n in self._kept - fresh.keys():
            self._compute(n, fresh)
        self.values = {n: fresh[n] for n in self._kept}
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
        found = drift(self.normal, self.values, self.sizes)
        self.report.worst_drift = max(self.report.worst_drift, found)
        if found > self.drift_bound:
            self._again("", f"the drift {found:.1e} exceeded {self.drift_bound:.1e}")
            found = drift(self.normal, self.values, self.sizes)
        self.report.drift = found
        return found

    def reevaluate(self) -> None:
        """Compute all the views anew."""
        self._again("", "as asked for")

    def __getitem__(self, name: str) -> Array:
        """A copy of an input, a result, or any matrix on the way to one."""
        if name not in self.values and name not in self._definitions:
            raise UnknownName(f"there is no matrix {name}")
        if name in self.values:
            return self.values[name].copy()
        return self._compute(name, dict(self.values))

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
            raise FreshetError(
                f"Octave and NumPy compute over the reals, not over {self.ring.name}"
            )
        t = self.trigger(name, rank)
        return emit.octave(t) if language == "octave" else emit.numpy(t)

    def explain(self, name: str, rank: int = 1) -> str:
        """Which strategy follows an input, why, and what is kept."""
        self._input(name)
        chosen = self.choice(name, rank)
        views = sorted(self._kept - {i.name for i in self.normal.inputs})
        cells = sum(self.values[v].nbytes for v in views)
        ranks = ", ".join(f"{v} {r}" for v, r in self.trigger(name, rank).ranks().items())
        return (
            f"{name}: {chosen.strategy}, since {chosen.why}\n"
            f"cost: {self.trigger(name, rank).cost()}\n"
            f"ranks: {ranks or 'none'}\n"
            f"views: {', '.join(views)} ({cells:,} bytes)\n"
        )


def _source(what: str | Source | Matrix | Mapping[str, Matrix], ring: str) -> Source:
    if isinstance(what, str | Source):
        found = read_source(what) if isinstance(what, str) else what
        if not found.statements:
            raise FreshetError("a program has at least one result")
        return found if not ring else replace(found, semiring=ring)
    results = {"result": what} if isinstance(what, Matrix) else dict(what)
    if not results:
        raise FreshetError("a program has at least one result")
    inputs: dict[str, Input] = {}
    statements = []
    for name, m in results.items():
        for n, i in m.inputs.items():
            if inputs.setdefault(n, i) != i:
                raise FreshetError(f"{n} is declared twice, and differently")
        statements.append(Statement(name, m.term))
    for name in results:
        if name in inputs:
            raise FreshetError(f"{name} is an input and a result", instead="rename one of them")
    return Source(tuple(inputs.values()), tuple(statements), tuple(results), ring or "real")


def _ring(name: str) -> Semiring:
    return semiring(name)


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names))


def _check_traits(i: Input, a: Array) -> None:
    """What is declared of an input must be so: the triggers rely on it."""
    tests = {
        "symmetric": lambda: np.allclose(a, a.T, rtol=1e-12, atol=0, equal_nan=True),
        "diagonal": lambda: not np.count_nonzero(a - np.diag(np.diag(a))),
        "lower": lambda: not np.count_nonzero(np.triu(a, 1)),
        "upper": lambda: not np.count_nonzero(np.tril(a, -1)),
    }
    for t in sorted(i.traits):
        if not tests[t]():
            raise BadUpdate(f"{i.name} is declared {t}, but its values are not")


def _check_change(i: Input, left: Array, right: Array) -> None:
    """A change must keep what is declared; that costs as much as the update of the input."""
    try:
        _check_traits(i, left @ right.T)
    except BadUpdate:
        traits = ", ".join(sorted(i.traits))
        raise BadUpdate(f"an update would make {i.name} no longer {traits}") from None
