"""The schedule of steps in turns of the driver and jobs of the workers, each as early as possible.

A job ends where the driver needs a result before workers can continue. An exchange begins a new
stage. A matrix is overwritten after all the steps that read its old values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from freshview.distributed.matrix.terms import (
    COLS,
    ROWS,
    VALUES,
    AtDriver,
    AtWorkers,
    Begin,
    Evaluate,
    Exchange,
    Follow,
    Form,
    Gather,
    Grow,
    Join,
    Keep,
    MatrixSchedule,
    Multiply,
    Operand,
    Plus,
    Replace,
    Scatter,
    Stage,
    Step,
    Total,
    Turn,
)
from freshview.linear.language.walk import free

Key: TypeAlias = tuple[Form, str]
At: TypeAlias = tuple[int, float]
"""A job, and a stage of it; infinity is its end."""

BEFORE: At = (0, 0)
END = float("inf")


def schedule_steps(steps: Sequence[Step], copied: Iterable[str] = ()) -> MatrixSchedule:
    """The turns and jobs of a routine."""
    walk = _Walk(frozenset(copied), _rewritten(steps))
    for s in steps:
        walk.step(s)
    return walk.done(tuple(steps))


def _rewritten(steps: Sequence[Step]) -> frozenset[str]:
    """Matrices of the driver that some step changes."""
    return frozenset(
        s.view for s in steps if isinstance(s, Follow) or (isinstance(s, Replace) and not s.spread)
    )


@dataclass
class _Walk:
    copied: frozenset[str]
    rewritten: frozenset[str]
    turns: dict[int, list[AtDriver | Scatter]] = field(default_factory=lambda: defaultdict(list))
    stages: dict[At, list[AtWorkers | Exchange]] = field(default_factory=lambda: defaultdict(list))
    receives: dict[At, list[Scatter | Exchange]] = field(default_factory=lambda: defaultdict(list))
    gathers: dict[int, list[Gather]] = field(default_factory=lambda: defaultdict(list))
    driver_has: dict[str, int] = field(default_factory=dict)
    """The turn from which the driver has a matrix."""
    looked: dict[str, int] = field(default_factory=dict)
    """The last turn in which the driver reads a matrix."""
    ready: dict[Key, At] = field(default_factory=dict)
    """The stage from which workers have a piece."""
    read: dict[Key, At] = field(default_factory=dict)
    """The last stage in which a piece is read."""
    waiting: dict[str, Scatter] = field(default_factory=dict)
    """Matrices to broadcast at their first read."""

    def step(self, s: Step) -> None:
        """Place one step, after those before it."""
        match s:
            case Begin():
                self.turns[0].append(s)
                self._place_on_workers(s, (), ())
            case Evaluate(name, term, _):
                self._place_on_driver(s, free(term), name)
            case Follow(view, left, right):
                known = free(left) | (free(right) if right is not None else frozenset())
                self._place_on_driver(s, known | {view}, view)
            case Replace(view, spread):
                if spread:
                    self._place_on_workers(
                        s, self._pieces(view, ROWS, COLS, VALUES), self._pieces(view)
                    )
                else:
                    self._place_on_driver(s, {view}, view)
            case Multiply(name, left, right, into):
                self._place_on_workers(s, (_key(left), _key(right)), ((into, name),))
            case Total(name, items):
                keys = [_key(i) for _, i in items if isinstance(i, Operand)]
                self._place_on_workers(s, keys, (("rows", name),))
            case Join(name, parts):
                self._place_on_workers(s, [_key(p) for p in parts], (("rows", name),))
            case Grow(view, left, right):
                self._place_on_workers(s, self._pieces(view, left, right), self._pieces(view))
            case Plus(view, by, columns):
                keys = [_key(o) for o in (by, columns) if o is not None]
                self._place_on_workers(s, [*keys, *self._pieces(view)], self._pieces(view))
            case Keep(view, by):
                self._place_on_workers(s, (_key(by),), (("rows", view),))
            case Scatter():
                self._scatter(s)
            case Gather():
                self._gather(s)
            case Exchange():
                self._exchange(s)
            case _:
                assert_never(s)

    def _pieces(self, view: str, *sent: str) -> tuple[Key, ...]:
        """The pieces of a view, and broadcast matrices."""
        keys: list[Key] = [("rows", view)]
        if view in self.copied:
            keys.append(("columns", view))
        return (*keys, *(("local", n) for n in sent))

    # ---------------------------------------------------------------- the driver

    def _place_on_driver(self, s: AtDriver, reads: Iterable[str], writes: str) -> None:
        names = set(reads)
        turn = max([self.driver_has.get(n, 0) for n in names] + [self.looked.get(writes, 0)])
        self.turns[turn].append(s)
        for n in names:
            self.looked[n] = max(self.looked.get(n, 0), turn)
        self.driver_has[writes] = turn

    def _scatter(self, s: Scatter) -> None:
        turn = self.driver_has.get(s.name, 0)
        if s.name not in self.rewritten:
            self.waiting[s.name] = s
            self.ready["local", s.name] = (turn, 0)
            return
        before = self.read.get(("local", s.name))
        if before is not None:
            turn = max(turn, before[0] + 1)  # some stage still reads the last broadcast
        self._broadcast(s, turn)

    def _broadcast(self, s: Scatter, turn: int) -> None:
        self.waiting.pop(s.name, None)
        self.turns[turn].append(s)
        self.looked[s.name] = max(self.looked.get(s.name, 0), turn)
        self.ready["local", s.name] = (turn, 0)
        self.receives[turn, 0].append(s)
        self.stages[turn, 0]  # creates the stage that receives it

    def _gather(self, s: Gather) -> None:
        key = _key(s.source)
        job, _ = self.ready.get(key, BEFORE)
        self.stages[self.ready.get(key, BEFORE)]
        self.gathers[job].append(s)
        self.driver_has[s.name] = job + 1
        self._note(key, (job, END))

    # ---------------------------------------------------------------- workers

    def _place_on_workers(self, s: AtWorkers, reads: Iterable[Key], writes: Iterable[Key]) -> None:
        keys, targets = list(reads), list(writes)
        at = self._after([self.ready.get(k, BEFORE) for k in keys], targets)
        for form, name in keys:
            if form == "local" and name in self.waiting:
                self._broadcast(self.waiting[name], int(at[0]))
        self.stages[at].append(s)
        for k in keys:
            self._note(k, at)
        for k in targets:
            self.ready[k] = at

    def _exchange(self, s: Exchange) -> None:
        key, target = _key(s.source), _received(s)
        job, stage = self._after([self.ready.get(key, BEFORE)], [target])
        self.stages[job, stage].append(s)
        self.receives[job, stage + 1].append(s)
        self.stages[job, stage + 1]
        self._note(key, (job, stage + 1))  # its own piece is read when the others are received
        self.ready[target] = max((job, stage + 1), self.ready.get(target, BEFORE))

    def _after(self, ready: Iterable[At], targets: Iterable[Key]) -> At:
        """The first stage with all the inputs, after the last read of the targets."""
        latest = max([BEFORE, *ready, *(self.read.get(k, BEFORE) for k in targets)])
        return (latest[0] + 1, 0) if latest[1] == END else latest

    def _note(self, key: Key, at: At) -> None:
        self.read[key] = max(self.read.get(key, BEFORE), at)

    # ---------------------------------------------------------------- all of it

    def done(self, steps: tuple[Step, ...]) -> MatrixSchedule:
        """The schedule of all the steps."""
        jobs = 1 + max([int(j) for j, _ in self.stages], default=-1)
        turns = tuple(
            Turn(tuple(self.gathers[t - 1]) if t else (), tuple(self.turns[t]))
            for t in range(jobs + 1)
        )
        assert max(self.turns, default=0) <= jobs
        return MatrixSchedule(turns, tuple(self._job(j) for j in range(jobs)), steps)

    def _job(self, job: int) -> tuple[Stage, ...]:
        count = 1 + max((int(s) for j, s in self.stages if j == job), default=0)
        stages = []
        for s in range(count):
            at = (job, float(s))
            gathers = tuple(self.gathers[job]) if s == count - 1 else ()
            stages.append(Stage(tuple(self.receives[at]), tuple(self.stages[at]), gathers))
        return tuple(stages)


def _key(o: Operand) -> Key:
    return ("local", o.name) if o.form == "slice" else (o.form, o.name)


def _received(s: Exchange) -> Key:
    """The piece that results from an exchange."""
    return (s.how, s.name) if s.how in ("whole", "columns") else ("rows", s.name)
