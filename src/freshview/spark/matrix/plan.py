"""From a matrix program and its triggers to the schedules of the driver and the workers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from freshview.distributed.matrix.communication_cost import pays
from freshview.distributed.matrix.placement import Placer
from freshview.distributed.matrix.spread import SpreadRule
from freshview.distributed.matrix.stages import schedule_steps
from freshview.distributed.matrix.terms import COLS, ROWS, VALUES, Begin, MatrixSchedule, Multiply
from freshview.linear.compile.normal import Normal
from freshview.linear.compile.trigger import Dense, Trigger
from freshview.linear.execute.run_trigger import MAGNIFIES
from freshview.linear.language.meta import Meta
from freshview.linear.language.sizes import size
from freshview.linear.language.terms import Statement, Var
from freshview.linear.language.walk import free
from freshview.spark.matrix.work import READY, MatrixPlan

RECOMPUTE = "anew"
LEFT, RIGHT = "#u", "#v"
"""The factors of an update after which views are recomputed."""


def following(name: str) -> str:
    """The routine that maintains views by deltas after an update of an input."""
    return f"follow {name}"


def recomputing(name: str) -> str:
    """The routine that adds to an input and recomputes the views that depend on it."""
    return f"{RECOMPUTE} {name}"


def replacing(name: str) -> str:
    """The routine that replaces cells of an input and recomputes the views that depend on it."""
    return f"replace {name}"


@dataclass(frozen=True)
class PlanInput:
    """The input of the planner: a program, its views, and the trigger of each input, if any."""

    normal: Normal
    kept: frozenset[str]
    triggers: Mapping[str, Trigger | None]
    rank: str
    """The name of the rank of an update."""


def plan_matrices(w: PlanInput, rule: SpreadRule, workers: int, copies: str | bool) -> MatrixPlan:
    """The plan with all its routines; which views are copied by columns is decided first."""
    if copies is not False:
        wanted = _multiplied_on_both_sides(w, rule)
        if copies == "auto":
            triggers = [t for t in w.triggers.values() if t is not None]
            wanted = frozenset(v for v in wanted if pays(v, triggers, rule.sizes, workers))
        rule = replace(rule, copied=wanted)
    return _Planner(w, rule).plan()


def _multiplied_on_both_sides(w: PlanInput, rule: SpreadRule) -> frozenset[str]:
    """The views that some trigger multiplies from the left and from the right."""
    plan = _Planner(w, rule).plan()
    names = set()
    for name in w.triggers:
        for s in plan.schedules.get(following(name), MatrixSchedule((), ())).steps:
            if isinstance(s, Multiply) and s.into == "partial" and s.right.form == "slice":
                names.add(s.left.name)
    return frozenset(names & plan.spread.keys())


def stale(normal: Normal, kept: frozenset[str], changed: str) -> list[Statement]:
    """The statements to recompute after a change of an input; all of them, if none is named.

    Unchanged views are read; intermediate results of changed ones are recomputed.
    """
    inputs = {i.name for i in normal.inputs}
    moved = {changed}
    for s in normal.statements:
        if not changed or free(s.term) & moved:
            moved.add(s.name)
    there = inputs | (kept - moved)
    wanted = kept & (moved - inputs)
    for s in reversed(normal.statements):
        if s.name in wanted:
            wanted |= free(s.term) - there
    return [s for s in normal.statements if s.name in wanted]


class _Planner:
    def __init__(self, w: PlanInput, rule: SpreadRule) -> None:
        self.w = w
        self.rule = rule
        self.schedules: dict[str, MatrixSchedule] = {}
        self.shapes: dict[str, Mapping[str, tuple[int, int]]] = {}
        self.lefts: dict[str, str] = {}

    def plan(self) -> MatrixPlan:
        w, rule = self.w, self.rule
        self._routine(READY, partial(self._again, ""))
        self._routine(RECOMPUTE, partial(self._again, ""))
        for name, trigger in w.triggers.items():
            if trigger is not None:
                self._routine(following(name), partial(self._trigger, trigger), MAGNIFIES)
                self.lefts[following(name)] = trigger.left
            self._routine(recomputing(name), partial(self._add, name))
            if w.normal.semiring != "real":
                self._routine(replacing(name), partial(self._replace, name))
        spread = {
            n: (rule.at(m.rows), rule.at(m.cols))
            for n, m in w.normal.scope.items()
            if n in w.kept and rule.is_large(m)
        }
        on_driver = tuple(sorted(w.kept - spread.keys()))
        return MatrixPlan(
            w.normal.semiring,
            dict(rule.sizes),
            w.rank,
            self.lefts,
            self.schedules,
            self.shapes,
            spread,
            on_driver,
            rule.copied,
        )

    def _routine(self, name: str, fill: Callable[[Placer], None], limit: float = math.inf) -> None:
        placer = Placer(self.rule, dict(self.w.normal.scope), limit)
        if name == READY:
            placer.steps.append(Begin())
        fill(placer)
        self.schedules[name] = schedule_steps(placer.steps, self.rule.copied)
        self.shapes[name] = placer.shapes

    def _again(self, changed: str, p: Placer) -> None:
        for s in stale(self.w.normal, self.w.kept, changed):
            if s.name in self.w.kept:
                p.define(s.name, s.term)
            else:
                p.assign(s.name, s.term)

    def _trigger(self, t: Trigger, p: Placer) -> None:
        p.scope.update({n: t.scope[n] for n in (t.left, t.right)})
        for s in t.assignments:
            p.assign(s.name, s.term)
        for u in t.updates:
            if isinstance(u.change, Dense):
                p.add(u.view, u.change.term)
            else:
                p.follow(u.view, u.change.left, u.change.right)

    def _add(self, name: str, p: Placer) -> None:
        m, rank = self.w.normal.scope[name], size(self.w.rank)
        p.scope |= {LEFT: Meta(m.rows, rank), RIGHT: Meta(m.cols, rank)}
        p.follow(name, Var(LEFT), Var(RIGHT))
        self._again(name, p)

    def _replace(self, name: str, p: Placer) -> None:
        p.replace(name, (ROWS, COLS, VALUES))
        self._again(name, p)
