"""The kernel of a program as text after every pass: what `freshview explain --passes` prints."""

from __future__ import annotations

from freshview.calculus.functions import BUILTINS, Functions
from freshview.codegen.layout import text as layout_text
from freshview.codegen.layout.check import check as check_layout
from freshview.codegen.loops import text as loops_text
from freshview.codegen.loops.check import check as check_loops
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.codegen.pipeline import Draft, Pass, drafts
from freshview.depth import deep
from freshview.program.terms import Program
from freshview.program.text import show_program

ACTS_ON = {
    "widen": "it is for decimals of up to 18 digits",
    "derive": "it is for maps that only say where another one has rows, counts that a map of more"
    " keys has, and joins of maps that are kept",
    "caches": "the plan has no view caches",
    "defer": "it is for maps that only queries read, and that are recomputed from other maps alone",
    "listings": "it is for a map that only ORDER BY with LIMIT searches, with a row for each record"
    " of a table",
    "directories": "it is for a table of one key without indexes, which a trigger asks by the same"
    " column as a slice of another one; neither may leave out rows, or be computed from the other",
    "share": "it is for statements that begin alike",
    "share_lookups": "it is for look-ups by the same columns of a row, one of which always happens,"
    " in a table that these statements do not write",
    "mark_stale": "it is for maps that are late or deferred",
    "merge_tests": "it is for a test with nothing inside but another test",
    "one_write": "it is for sums that are added to one record, each where it is there",
    "preaggregate": "it is for loops over a batch that do nothing but add to one table: whole"
    " numbers, decimals of 64 bits or products of doubles, by keys that are columns, no doubles",
    "prefetch": "it is for look-ups by columns of a row as they are, no doubles",
    "running_sums": "it is for a range of an ordered index by one column that ends by a sum over"
    " the entries on one side of its end, and by nothing else of it",
    "prune_sums": "it is for sums over a range of an ordered index of which something is not read",
    "touch": "no query has the keys of its maps, so two reads of it are compared",
}
"""What a pass needs to change anything, for those who wonder why it has not."""


@deep
def show_passes(
    program: Program,
    functions: Functions = BUILTINS,
    options: KernelPasses = USUAL_PASSES,
    check: bool = False,
) -> str:
    """What each pass has changed; `check` makes sure that it is well formed."""
    parts = []
    before = {"program": show_program(program), "layout": "", "loops": ""}
    last = dict.fromkeys(before, "")
    for step, draft in drafts(program, functions, options):
        if check:
            _check(draft)
        after = _levels(draft)
        changed = [level for level, text in after.items() if text != before[level]]
        head = _head(step, changed=bool(changed))
        texts = [f"== {level}\n{after[level].rstrip()}\n" for level in changed]
        parts.append("\n".join([head, *texts]))
        before = after
        last |= dict.fromkeys(changed, step.name)
    parts.append(f"-- kernel: the layout after {last['layout']}, the loops after {last['loops']}")
    ordered = [t.name for t in draft.layout.tables.values() if t.orders]
    if ordered:
        parts.append(
            f"-- note: ordered indexes of {', '.join(ordered)} answer in O(log n), in O(log² n) "
            "where a search has sums inside; the estimate of the program counts a walk"
        )
    return "\n".join([*parts, ""])


def _head(step: Pass, *, changed: bool) -> str:
    """What a pass does; if it has changed nothing, why."""
    acts_on = f": {ACTS_ON[step.name]}" if step.name in ACTS_ON else ""
    return f"-- {step.name}: {step.does}" + ("" if changed else f" (nothing changed{acts_on})")


def _levels(d: Draft) -> dict[str, str]:
    """The text of every level."""
    return {
        "program": show_program(d.program),
        "layout": layout_text.show(d.layout),
        "loops": loops_text.show(d.loops),
    }


def _check(d: Draft) -> None:
    check_layout(d.layout)
    check_loops(d.loops, d.layout, d.program, d.functions)
