"""What happens to a query on its way to a program, in words and terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from freshview.calculus.pretty_print import show_term
from freshview.calculus.schema import Query
from freshview.program.abbreviate import abbreviate, abbreviate_program
from freshview.program.terms import Program
from freshview.program.text import show_program
from freshview.runtime.database.compiled_plan import CompiledPlan
from freshview.simplify import trace


def explain(
    query: Query,
    program: Program,
    note: str = "",
    recipe: CompiledPlan | None = None,
    centre: Mapping[str, float] = MappingProxyType({}),
) -> str:
    """Every stage of a view: its term, each rule that changed it, the choice made, the program.

    Last comes the engine that runs it: a kernel, if there is its recipe; else `note` says why not.
    `centre` is what a kernel takes from the variables of cofactors.

    Columns that nothing reads are shown as `..`; `freshview compile` writes the whole text.
    """
    columns = ", ".join(f"{c.name} {c.type}" for c in query.columns)
    seen = query.vars * 2
    steps = [f"-- {rule}\n{show_term(abbreviate(term, seen))}" for rule, term in trace(query.term)]
    choice = program.notes or ("every map is maintained by deltas",)
    return "\n\n".join(
        [
            f"== view {query.name}({columns})",
            f"== calculus\n{show_term(abbreviate(query.term, seen))}",
            "\n".join(["== simplified", *(steps or ["no rule applies"])]),
            "\n".join(["== choice", *choice]),
            f"== program\n{show_program(abbreviate_program(replace(program, notes=()))).rstrip()}",
            *(["\n".join(["== engine", *_engine(note, recipe, centre)])] if note or recipe else []),
        ]
    )


def _engine(note: str, recipe: CompiledPlan | None, centre: Mapping[str, float]) -> list[str]:
    if recipe is None:
        return [f"reference: {note}"]
    lines = ["native"]
    for name in recipe.deferred:
        lines.append(f"{name} is recomputed when it is read")
    for statement in recipe.scans:
        lines.append(f"O(data), it walks through all the rows of a map: {statement}")
    taken = [f"{name} - {x:.6g}" for name, x in centre.items() if x]
    if taken:
        lines.append(f"sums are about a centre, which keeps their digits: {', '.join(taken)}")
    return lines
