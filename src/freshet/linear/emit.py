"""Triggers as text for other systems: an Octave function, or a Python one over NumPy.

Both take the old views and the factors of an update, and give the new views. The order of every
product is written out, as the sizes made it cheapest.
"""

from __future__ import annotations

from freshet.linear.build import mul, transpose
from freshet.linear.show import Grouping, Words, number, show
from freshet.linear.terms import Expr, Filled, Identity, Statement, Until
from freshet.linear.trigger import Change, Dense, Trigger
from freshet.linear.walk import free, subterms

NUMPY = Words(
    times="{} @ {}",
    turned="{}.T",
    zeros="np.zeros(({}, {}))",
    ones="np.ones(({}, {}))",
    eye="np.eye({})",
    inverse="np.linalg.inv({})",
    beside="np.hstack([{}])",
    above="np.vstack([{}])",
    below=", ",
    power=" ** ",
    apart=True,
)


def octave(t: Trigger) -> str:
    """The trigger as an Octave function of the old views."""
    views, arguments = _signature(t)
    lines = [f"function [{', '.join(views)}] = on_{t.input}({', '.join(arguments)})"]
    lines += [f"  {line}" for line in _sizes(t, "{name} = {function}({of}, {axis});", 1)]
    for s in t.assignments:
        lines += [f"  {line}" for line in _octave(s, t.grouping)]
    for u in t.updates:
        lines.append(f"  {u.view} = {u.view} + {show(_change(u.change))};")
    for s in t.again:
        lines += [f"  {line}" for line in _octave(s, t.grouping)]
    return "\n".join([*lines, "end"]) + "\n"


def numpy(t: Trigger) -> str:
    """The trigger as a Python function of the old views; the views that it gets change in place."""
    views, arguments = _signature(t)
    lines = ["import numpy as np", "", "", f"def on_{t.input}({', '.join(arguments)}):"]
    lines += [f"    {line}" for line in _sizes(t, "{name} = {of}.shape[{axis}]", 0)]
    for s in t.assignments:
        lines += [f"    {line}" for line in _numpy(s, t.grouping)]
    lines += [f"    {u.view} += {show(_change(u.change), t.grouping, NUMPY)}" for u in t.updates]
    for s in t.again:
        lines += [f"    {line}" for line in _numpy(s, t.grouping)]
    return "\n".join([*lines, f"    return {', '.join(views)}"]) + "\n"


def _octave(s: Statement, grouping: Grouping) -> list[str]:
    """A statement; an iteration is a loop."""
    if not isinstance(s.term, Until):
        return [f"{s.name} = {show(s.term, grouping)};"]
    x, e = s.term.name, s.term
    lines = [
        f"{x} = {show(e.start, grouping)};",
        "while true",
        f"  {s.name} = {show(e.body, grouping)};",
    ]
    if e.unit:
        lines += [
            f"  {s.name} = {s.name} / norm({s.name}, 'fro');",
            f"  [~, most] = max(abs({s.name}(:)));",
            f"  {s.name} = {s.name} * sign({s.name}(most));",
        ]
    moved = f"norm({s.name} - {x}, 'fro') <= {number(e.tolerance)} * norm({s.name}, 'fro')"
    return [*lines, f"  if {moved}, break; end", f"  {x} = {s.name};", "end"]


def _numpy(s: Statement, grouping: Grouping) -> list[str]:
    if not isinstance(s.term, Until):
        return [f"{s.name} = {show(s.term, grouping, NUMPY)}"]
    x, e = s.term.name, s.term
    lines = [
        f"{x} = {show(e.start, grouping, NUMPY)}",
        "while True:",
        f"    {s.name} = {show(e.body, grouping, NUMPY)}",
    ]
    if e.unit:
        lines += [
            f"    {s.name} = {s.name} / np.linalg.norm({s.name})",
            f"    {s.name} = {s.name} * np.sign({s.name}.flat[np.abs({s.name}).argmax()])",
        ]
    moved = f"np.linalg.norm({s.name} - {x}) <= {number(e.tolerance)} * np.linalg.norm({s.name})"
    return [*lines, f"    if {moved}:", "        break", f"    {x} = {s.name}"]


def _change(change: Change) -> Expr:
    if isinstance(change, Dense):
        return change.term
    return mul(change.left, transpose(change.right))


def _signature(t: Trigger) -> tuple[list[str], list[str]]:
    """The views that change, and all that is read, the factors of the update last."""
    views = [u.view for u in t.updates] + [s.name for s in t.again]
    local = {s.name for s in t.assignments} | {t.left, t.right}
    read = {n for s in (*t.assignments, *t.again) for n in free(s.term)} - local
    return views, [*views, *sorted(read - set(views)), t.left, t.right]


def _sizes(t: Trigger, form: str, first: int) -> list[str]:
    """Statements for the named sizes that constants in the trigger need."""
    wanted: set[str] = set()
    for s in (*t.assignments, *t.again):
        wanted |= _named(s.term)
    lines = []
    _, arguments = _signature(t)
    for name in sorted(wanted):
        for of in reversed(arguments):
            m = t.scope[of]
            axis = 0 if str(m.rows) == name else 1 if str(m.cols) == name else None
            if axis is not None:
                lines.append(form.format(name=name, function="size", of=of, axis=axis + first))
                break
    return lines


def _named(e: Expr) -> set[str]:
    found: set[str] = set()
    for t in subterms(e):
        if isinstance(t, Filled):
            found |= {v for s in (t.rows, t.cols) for m, _ in s.terms for v in m}
        elif isinstance(t, Identity):
            found |= {v for m, _ in t.size.terms for v in m}
    return found
