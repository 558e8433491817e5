"""What happens to a query on its way to a program, in words and terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from freshview.calculus.pretty_print import show_term
from freshview.calculus.schema import Query
from freshview.calculus.terms import Expr
from freshview.program.abbreviate import abbreviate, abbreviate_program
from freshview.program.forecast import forecast
from freshview.program.query_keys import NotCollected
from freshview.program.statistics import Statistics
from freshview.program.terms import Program
from freshview.program.text import show_program
from freshview.reference.engine.changes import touching
from freshview.runtime.compile.compiled_plan import CompiledPlan
from freshview.runtime.views.joins import joins
from freshview.simplify import Rule, simplify

NOTHING_KNOWN = Statistics()


def explain(
    query: Query,
    program: Program,
    note: str = "",
    plan: CompiledPlan | None = None,
    centre: Mapping[str, float] = MappingProxyType({}),
    arrival: str = "",
    others: Sequence[str] = (),
    *,
    statistics: Statistics = NOTHING_KNOWN,
    verbose: bool = False,
) -> str:
    """How a view is kept: the choice, what it is expected to cost, its joins, what runs it.

    With `verbose` also every stage of it: its term, each rule that changed it, the program.

    Then comes the engine that runs it: a kernel, if there is its plan; else `note` says why not.
    Last, where its changes are not collected, the reason. `centre` is what a kernel takes from the
    variables of cofactors; `arrival` says since when it runs the view; `others` are the views that
    it keeps besides.

    Columns that nothing reads are shown as `..`; `freshview compile` writes the whole text.
    """
    columns = ", ".join(f"{c.name} {c.type}" for c in query.columns)
    compared = _compared(query, program, plan)
    joined = joins(program, ordered=plan is not None)
    expected = forecast(program, statistics)
    choice = program.notes or ("every map is maintained by deltas",)
    return "\n\n".join(
        [
            f"== view {query.name}({columns})",
            *(_stages(query) if verbose else []),
            "\n".join(["== choice", *choice]),
            *([_program(program)] if verbose else []),
            "\n".join(["== cost", *expected.lines(bool(statistics.rows))]),
            *(["\n".join(["== joins", *joined])] if joined else []),
            *(["\n".join(["== shared", _shared(others)])] if others else []),
            *(
                ["\n".join(["== engine", *_engine(program, note, plan, centre, arrival)])]
                if note or plan
                else []
            ),
            *(["\n".join(["== changes", *compared])] if compared else []),
        ]
    )


def _stages(query: Query) -> list[str]:
    """The term of a query, and after each rule that changed it."""
    seen = query.vars * 2
    steps: list[str] = []

    def record(rule: Rule, term: Expr) -> None:
        steps.append(f"-- {rule.__name__}\n{show_term(abbreviate(term, seen))}")

    simplify(query.term, listener=record)
    return [
        f"== calculus\n{show_term(abbreviate(query.term, seen))}",
        "\n".join(["== simplified", *(steps or ["no rule applies"])]),
    ]


def _program(program: Program) -> str:
    return f"== program\n{show_program(abbreviate_program(replace(program, notes=()))).rstrip()}"


def _compared(query: Query, program: Program, plan: CompiledPlan | None) -> list[str]:
    """Why the changes of a view are not collected while they are made, if they are not."""
    compared = plan.compared if plan else {}
    reasons = [why for name, why in compared.items() if name == query.name]
    try:
        for q in program.queries if plan is None else ():
            if q.name == query.name:
                touching(program, q)
    except NotCollected as why:
        reasons = [str(why)]
    return [f"O(view): for subscribers, two reads of it are compared, as {why}" for why in reasons]


def _shared(others: Sequence[str]) -> str:
    return f"one program keeps this view and {', '.join(others)}; a change is followed once"


def _in_python(plan: CompiledPlan) -> list[str]:
    """What is said of functions that have no C++."""
    ways = (
        (plan.host_batches, "for all the rows of a batch at once, before the trigger"),
        (plan.host_alone, "one by one, as the arguments are not columns of one batch"),
    )
    return [f"computed in Python, {how}: {', '.join(names)}" for names, how in ways if names]


def _engine(
    program: Program,
    note: str,
    plan: CompiledPlan | None,
    centre: Mapping[str, float],
    arrival: str,
) -> list[str]:
    if plan is None:
        return [f"reference: {note}"]
    lines = ["native", arrival] if arrival else ["native"]
    for name in plan.deferred:
        if any(m.name == name for m in program.maps):
            lines.append(f"{name} is recomputed when it is read")
    for name in plan.listed:
        if any(m.name == name for m in program.maps):
            lines.append(f"{name}, in order, follows the groups that have changed when it is read")
    lines += _in_python(plan)
    for statement in plan.scans:
        lines.append(f"O(data), it walks through all the rows of a map: {statement}")
    shifts = [f"{name} - {x:.6g}" for name, x in centre.items() if x]
    if shifts:
        lines.append(f"sums are about a centre, which keeps their digits: {', '.join(shifts)}")
    return lines
