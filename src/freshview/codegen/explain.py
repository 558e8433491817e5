"""The kernel of a program as text after every pass: what `freshview explain --passes` prints."""

from __future__ import annotations

from freshview.calculus.functions import BUILTINS, Functions
from freshview.codegen.layout import text as layout_text
from freshview.codegen.layout.check import check as check_layout
from freshview.codegen.loops import text as loops_text
from freshview.codegen.loops.check import check as check_loops
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.codegen.pipeline import Draft, drafts
from freshview.depth import deep
from freshview.program.terms import Program
from freshview.program.text import show_program


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
        head = f"-- {step.name}: {step.does}" + ("" if changed else " (nothing changed)")
        texts = [f"== {level}\n{after[level].rstrip()}\n" for level in changed]
        parts.append("\n".join([head, *texts]))
        before = after
        last |= dict.fromkeys(changed, step.name)
    parts.append(f"-- kernel: the layout after {last['layout']}, the loops after {last['loops']}\n")
    return "\n".join(parts)


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
