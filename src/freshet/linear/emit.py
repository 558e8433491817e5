"""Triggers as text for other systems: an Octave function, or a Python one over NumPy.

Both take the old views and the factors of an update, and give the new views. The order of every
product is written out, as the sizes made it cheapest.
"""

from __future__ import annotations

from typing import assert_never

from freshet.linear.build import mul, transpose
from freshet.linear.cost import chain, dims
from freshet.linear.show import Grouping, Tree, number, show
from freshet.linear.sizes import Size
from freshet.linear.terms import (
    Above,
    Add,
    Beside,
    Expr,
    Identity,
    Inverse,
    Iterate,
    Let,
    Mul,
    Ones,
    Scale,
    Transpose,
    Var,
    Zero,
)
from freshet.linear.trigger import Change, Dense, Trigger
from freshet.linear.walk import free, subterms


def octave(t: Trigger) -> str:
    """The trigger as an Octave function of the old views."""
    views, arguments = _signature(t)
    lines = [f"function [{', '.join(views)}] = on_{t.input}({', '.join(arguments)})"]
    lines += [f"  {line}" for line in _sizes(t, "{name} = {function}({of}, {axis});", 1)]
    grouping = _grouping(t)
    lines += [f"  {s.name} = {show(s.term, grouping)};" for s in t.assignments]
    for u in t.updates:
        lines.append(f"  {u.view} = {u.view} + {show(_change(u.change))};")
    lines += [f"  {s.name} = {show(s.term, grouping)};" for s in t.again]
    return "\n".join([*lines, "end"]) + "\n"


def numpy(t: Trigger) -> str:
    """The trigger as a Python function of the old views; the views that it gets change in place."""
    views, arguments = _signature(t)
    lines = ["import numpy as np", "", "", f"def on_{t.input}({', '.join(arguments)}):"]
    lines += [f"    {line}" for line in _sizes(t, "{name} = {of}.shape[{axis}]", 0)]
    writer = _Numpy(t)
    lines += [f"    {s.name} = {writer.text(s.term)}" for s in t.assignments]
    lines += [f"    {u.view} += {writer.text(_change(u.change))}" for u in t.updates]
    lines += [f"    {s.name} = {writer.text(s.term)}" for s in t.again]
    return "\n".join([*lines, f"    return {', '.join(views)}"]) + "\n"


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
        if isinstance(t, Zero | Ones):
            found |= {v for s in (t.rows, t.cols) for m, _ in s.terms for v in m}
        elif isinstance(t, Identity):
            found |= {v for m, _ in t.size.terms for v in m}
    return found


def _grouping(t: Trigger) -> Grouping:
    def grouping(factors: tuple[Expr, ...]) -> Tree:
        return chain(dims(factors, t.scope), t.sizes)[1]

    return grouping


class _Numpy:
    def __init__(self, t: Trigger) -> None:
        self.grouping = _grouping(t)

    def text(self, e: Expr) -> str:
        """A term in NumPy's words; sums and products in parentheses where they need them."""
        match e:
            case Var(name):
                return name
            case Zero(rows, cols):
                return f"np.zeros(({_size(rows)}, {_size(cols)}))"
            case Ones(rows, cols):
                return f"np.ones(({_size(rows)}, {_size(cols)}))"
            case Identity(n):
                return f"np.eye({_size(n)})"
            case Scale(by, body):
                return f"{number(by)} * {self.inner(body)}"
            case Transpose(body):
                return f"{self.inner(body)}.T"
            case Inverse(body):
                return f"np.linalg.inv({self.text(body)})"
            case Add(terms):
                return " + ".join(self.text(t) for t in terms)
            case Mul(factors):
                return self.product(factors, self.grouping(factors))
            case Beside(parts):
                return f"np.hstack([{', '.join(self.text(p) for p in parts)}])"
            case Above(parts):
                return f"np.vstack([{', '.join(self.text(p) for p in parts)}])"
            case Let() | Iterate():
                raise AssertionError("triggers have no binders")
            case _:
                assert_never(e)

    def inner(self, e: Expr) -> str:
        text = self.text(e)
        return f"({text})" if isinstance(e, Add | Mul | Scale) else text

    def product(self, factors: tuple[Expr, ...], tree: Tree) -> str:
        if isinstance(tree, int):
            return self.inner(factors[tree])
        left, right = (self.product(factors, side) for side in tree)
        return f"{left} @ " + (right if isinstance(tree[1], int) else f"({right})")


def _size(s: Size) -> str:
    return str(s).replace("^", " ** ")
