"""The text of distributed programs, after every pass.

    M[a]^[a] += Sum[a](M1[a, b]^[a] * Repart[a](M2[a, b]^[b]));        a placed statement

    PLACE M BY (a);                                                    a map's location
    DISTRIBUTED {                                                      a block
      send_1[a, b] := Sum[a, b]((DELTA R)(a, b, c));
    }
    LOCAL {
      got_1 := Repart[a](send_1);
    }

A location is written [a] for Dist(a), and by its name else: [local], [random], [replicated].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from freshview.calculus.pretty_print import after_head
from freshview.calculus.terms import Delta, Expr, View
from freshview.calculus.text import show
from freshview.calculus.walk import subterms
from freshview.distributed.locations import AtomLocations
from freshview.distributed.terms import (
    Block,
    Compute,
    Dist,
    Distributed,
    Everywhere,
    Kind,
    Local,
    Location,
    MapPlacement,
    Placed,
    PlacedStatement,
    Random,
    Replicated,
    Routine,
    Slice,
    Step,
    Transfer,
)
from freshview.program.abbreviate import abbreviate

VERBS: dict[Kind, str] = {
    "scatter": "Scatter",
    "repart": "Repart",
    "gather": "Gather",
    "keep": "Keep",
}


def show_location(at: Location) -> str:
    """A location between brackets.

    >>> show_location(Dist(("a", "b"))), show_location(Local())
    ('[a, b]', '[local]')
    """
    match at:
        case Local():
            return "[local]"
        case Dist(keys):
            return f"[{', '.join(keys)}]"
        case Slice(keys, axis, (n, m)):
            return f"[{axis} of {n} x {m} by {', '.join(keys)}]"
        case Random(whole):
            return "[random, whole rows]" if whole else "[random]"
        case Replicated():
            return "[replicated]"
        case Everywhere():
            return "[everywhere]"
        case _:
            assert_never(at)


def show_placed(s: PlacedStatement, places: AtomLocations, indent: int = 0) -> str:
    """A statement with its transformers in the term, and the location of every atom."""
    target = f"{show(s.target)}^{show_location(places.atom(s.target))}"
    text = _show_term(abbreviate(s.source.term, s.target.vars * 2), s.source, places)
    return _after(f"{target} {s.op}", text, indent)


def _show_term(e: Expr, p: Placed, places: AtomLocations) -> str:
    text = show(e)
    for t in sorted({t for t in subterms(e) if isinstance(t, View | Delta)}, key=show):
        atom = show(t)
        if isinstance(t, View) and t.name in places.maps:
            text = text.replace(atom, f"{atom}^{show_location(places.atom(t))}")
    for m in p.moves:
        inner = _show_term(abbreviate(m.body.term, m.view.vars * 2), m.body, places)
        text = text.replace(show(m.view), f"{_verb(m.kind, m.to)}({inner})")
    return text


def _verb(kind: Kind, to: Location) -> str:
    return VERBS[kind] if isinstance(to, Local) else VERBS[kind] + show_location(to)


def show_step(s: Step, indent: int = 0) -> str:
    """A step, over several lines if it is long."""
    match s:
        case Transfer(kind, source, target, to):
            return f"{target} := {_verb(kind, to)}({source});"
        case Compute(statement, _):
            head = f"{show(statement.target)} {statement.op}"
            return _after(head, show(statement.term), indent)
        case _:
            assert_never(s)


def show_short(s: Step, indent: int = 0) -> str:
    """A step without the columns that nothing reads."""
    if isinstance(s, Transfer):
        return show_step(s, indent)
    old = s.statement
    term = abbreviate(old.term, old.target.vars * 2)
    return show_step(replace(s, statement=replace(old, term=term)), indent)


def _after(head: str, text: str, indent: int) -> str:
    return after_head(head, text, indent, indent + 2, opened=False) + ";"


def show_block(b: Block, *, short: bool = False) -> str:
    """A block; `short` leaves out the columns that nothing reads."""
    one = show_short if short else show_step
    return "\n".join([f"{b.mode.upper()} {{", *(f"  {one(s, 2)}" for s in b.steps), "}"])


def show_maps(placements: Iterable[MapPlacement]) -> str:
    """The locations of maps, one a line."""
    return "\n".join(f"PLACE {placement.name} {_place(placement.at)};" for placement in placements)


def _place(at: Location) -> str:
    match at:
        case Dist(keys):
            return f"BY ({', '.join(keys)})"
        case Slice(keys, axis, (n, m)):
            return f"IN {axis.upper()} OF A GRID {n} x {m} BY ({', '.join(keys)})"
        case Local():
            return "ON DRIVER"
        case Replicated():
            return "ON ALL WORKERS"
        case Everywhere():
            return "EVERYWHERE"
        case Random():
            return "ANYHOW"
        case _:
            assert_never(at)


def show_routine(r: Routine, *, short: bool = False) -> str:
    """A routine: its relations, and its blocks."""
    head = f"ON BATCH UPDATE OF {', '.join(r.relations)}" if r.relations else "ON SYSTEM READY"
    blocks = "\n".join(show_block(b, short=short) for b in r.blocks)
    return f"{head} {{\n{_indented(blocks)}\n}}" if blocks else f"{head} {{ }}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def show_distributed(d: Distributed, *, short: bool = False) -> str:
    """A whole program: the locations of its maps, and its routines."""
    parts = [show_maps(d.maps)]
    parts += [show_routine(r, short=short) for r in (d.ready, *d.routines) if r.blocks]
    for r in d.readouts:
        blocks = "\n".join(show_block(b, short=short) for b in r.blocks)
        parts.append(f"ON READ OF {r.query.name} {{\n{_indented(blocks)}\n}}")
    return "\n\n".join(parts) + "\n"
