"""The steps of a routine as text: where each runs, and what moves for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from freshview.distributed.matrix.terms import (
    Begin,
    Evaluate,
    Exchange,
    Fill,
    Follow,
    Gather,
    Grow,
    Join,
    Keep,
    Multiply,
    Operand,
    Plus,
    Replace,
    Scatter,
    Step,
    Total,
)
from freshview.linear.language.show import number, show
from freshview.linear.language.terms import Transpose

FORMS = {
    "rows": "by rows",
    "columns": "by columns",
    "partial": "summands",
    "whole": "all of it",
    "local": "broadcast",
    "slice": "broadcast, own rows",
}

WAYS = {
    "whole": "rows to every worker",
    "reduce": "summands to where their rows are",
    "columns": "rows to where their columns are",
    "place": "rows to their places in the stack",
}


def show_steps(steps: Iterable[Step]) -> str:
    """A line for each step."""
    return "".join(f"  {_line(s)}\n" for s in steps if not isinstance(s, Begin))


def _line(s: Step) -> str:
    match s:
        case Begin():
            return ""
        case Evaluate(name, term, _):
            return f"driver   {name} := {show(term)}"
        case Follow(view, left, right):
            by = "" if right is None else f" * {show(Transpose(right))}"
            return f"driver   {view} += {show(left)}{by}"
        case Replace(view, spread):
            return f"{'workers ' if spread else 'driver  '} cells of {view} := values"
        case Multiply(name, left, right, into):
            kind = "summands" if into == "partial" else "rows"
            how = f"{left.name} {FORMS[left.form]}, {right.name} {FORMS[right.form]}"
            return f"workers  {name} := {_name(left)} * {_name(right)}    -- {kind}: {how}"
        case Total(name, items):
            return f"workers  {name} := {' + '.join(_item(by, i) for by, i in items)}    -- rows"
        case Join(name, parts):
            return f"workers  {name} := [{', '.join(map(_name, parts))}]    -- rows"
        case Grow(view, left, right):
            return f"workers  {view} += {left} * {right}'    -- own blocks, both sides broadcast"
        case Plus(view, by, _):
            return f"workers  {view} += {_name(by)}    -- own blocks"
        case Keep(view, by):
            return f"workers  {view} := {_name(by)}    -- own blocks"
        case Scatter(name, size):
            return f"move     {name} to all the workers    -- {size} cells each"
        case Gather(name, source, size):
            if source.form == "partial":
                return f"move     {name} to the driver    -- summands of {size} cells each"
            return f"move     {name} to the driver    -- {size} cells"
        case Exchange():
            return f"move     {s.name}: {WAYS[s.how]}    -- {s.size} cells"
        case _:
            assert_never(s)


def _name(o: Operand) -> str:
    return f"{o.name}'" if o.transposed else o.name


def _item(by: float, item: Operand | Fill) -> str:
    text = f"{item.kind}({item.rows}, {item.cols})" if isinstance(item, Fill) else _name(item)
    return text if by == 1 else f"{number(by)} * {text}"
