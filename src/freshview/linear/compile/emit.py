"""Triggers as text for other systems: an Octave function, or a Python one over NumPy.

Both take the old views and the factors of an update, and give the new views. The order of every
product is written out, as the sizes made it cheapest.
"""

from __future__ import annotations

from dataclasses import dataclass

from freshview.errors import FreshviewError
from freshview.linear.compile.trigger import Trigger, change_term
from freshview.linear.language.show import MATLAB, Words, number, show
from freshview.linear.language.terms import Expr, Filled, Identity, Statement, Until, Var
from freshview.linear.language.walk import free, subterms


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes statements; of an iteration, x is the last round and y the next."""

    words: Words
    end: str
    loop: str
    unit: tuple[str, ...]
    stop: tuple[str, ...]
    close: tuple[str, ...]


OCTAVE = Language(
    MATLAB,
    ";",
    "while true",
    (
        "  {y} = {y} / norm({y}, 'fro');",
        "  [~, most] = max(abs({y}(:)));",
        "  {y} = {y} * sign({y}(most));",
    ),
    ("  if norm({y} - {x}, 'fro') <= {tolerance} * norm({y}, 'fro'), break; end",),
    ("end",),
)
NUMPY = Language(
    Words(
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
    ),
    "",
    "while True:",
    (
        "  {y} = {y} / np.linalg.norm({y})",
        "  {y} = {y} * np.sign({y}.flat[np.abs({y}).argmax()])",
    ),
    ("  if np.linalg.norm({y} - {x}) <= {tolerance} * np.linalg.norm({y}):", "    break"),
    (),
)


def octave(t: Trigger) -> str:
    """The trigger as an Octave function of the old views."""
    views, arguments = _signature(t)
    lines = _sizes(t, "{name} = {function}({of}, {axis});", 1)
    lines += [x for s in t.assignments for x in _statement(s, t, OCTAVE)]
    lines += [f"{u.view} = {u.view} + {show(change_term(u.change))};" for u in t.updates]
    lines += [x for s in t.again for x in _statement(s, t, OCTAVE)]
    head = f"function [{', '.join(views)}] = on_{t.input}({', '.join(arguments)})"
    return "\n".join([head, *(f"  {line}" for line in lines), "end"]) + "\n"


def numpy(t: Trigger) -> str:
    """The trigger as a Python function of the old views; the views that it gets change in place."""
    views, arguments = _signature(t)
    lines = _sizes(t, "{name} = {of}.shape[{axis}]", 0)
    lines += [x for s in t.assignments for x in _statement(s, t, NUMPY)]
    for u in t.updates:
        lines.append(f"{u.view} += {show(change_term(u.change), t.grouping, NUMPY.words)}")
    lines += [x for s in t.again for x in _statement(s, t, NUMPY)]
    lines.append(f"return {', '.join(views)}")
    head = ["import numpy as np", "", "", f"def on_{t.input}({', '.join(arguments)}):"]
    return "\n".join([*head, *(f"    {line}" for line in lines)]) + "\n"


LANGUAGES = {"octave": octave, "numpy": numpy}


def emit(t: Trigger, language: str) -> str:
    """The trigger as a function in a language, or a refusal that names the known ones."""
    if language not in LANGUAGES:
        raise FreshviewError(
            f"there is no code in {language!r}",
            instead=f"ask for one of {', '.join(LANGUAGES)}",
        )
    return LANGUAGES[language](t)


def _statement(s: Statement, t: Trigger, language: Language) -> list[str]:
    """A statement; an iteration is a loop."""

    def write(name: str, e: Expr) -> str:
        return f"{name} = {show(e, t.grouping, language.words)}{language.end}"

    e = s.term
    if not isinstance(e, Until):
        return [write(s.name, e)]
    names = {"x": e.name, "y": s.name, "tolerance": number(e.tolerance)}
    after = [*(language.unit if e.unit else ()), *language.stop]
    return [
        write(e.name, e.start),
        language.loop,
        f"  {write(s.name, e.body)}",
        *(line.format(**names) for line in after),
        f"  {write(e.name, Var(s.name))}",
        *language.close,
    ]


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
    names: set[str] = set()
    for t in subterms(e):
        if isinstance(t, Filled):
            names |= {v for s in (t.rows, t.cols) for m, _ in s.terms for v in m}
        elif isinstance(t, Identity):
            names |= {v for m, _ in t.size.terms for v in m}
    return names
