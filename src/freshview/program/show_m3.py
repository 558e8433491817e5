"""M3 as the papers print it.

    CREATE TYPE Ring FROM FILE 'ring.hpp';
    CREATE STREAM R(A int, B double);
    DECLARE MAP AGG_VIEW_B(Ring)[][A: int] := AggSum([A], (R(A, B) * [f_B: Ring](B)));
    DECLARE QUERY SUM := AGG_VIEW_A(Ring)[][];
    ON BATCH UPDATE OF R { AGG_VIEW_B(Ring)[][A] += DELTA_AGG_VIEW_B(Ring)[][A]; }

Functions of values stand as [f](x).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from freshview.calculus.build import is_zero
from freshview.calculus.pretty_print import Document, DocumentPart, Indented, NewLine, lay_out
from freshview.calculus.schema import Relation
from freshview.calculus.scope import is_value
from freshview.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.text import show_name as in_term
from freshview.calculus.text import show_names, show_value
from freshview.calculus.types import INT, Type
from freshview.errors import ProgramProblem
from freshview.program.listing import Listing
from freshview.program.terms import Map, Statement, Trigger
from freshview.program.text import show_name, show_sections

STEP = 4


def show_m3(p: Listing) -> str:
    """A listing as text."""
    known = p.payloads()
    sections = [
        ("TYPES", [f"CREATE TYPE {n} FROM FILE '{path}';" for n, path in p.types]),
        ("RELATIONS", [_show_relation(r) for r in p.relations]),
        ("MAPS", [_show_map(m, known) for m in p.maps]),
        (
            "QUERIES",
            [f"DECLARE QUERY {show_name(n)} := {show_term(v, known)};" for n, v in p.queries],
        ),
        ("TRIGGERS", [_show_trigger(t, known) for t in p.triggers]),
    ]
    return show_sections(sections)


def show_type(t: Type, *, payload: bool = False) -> str:
    """A type in the words of M3: rings by their names, counts as long.

    >>> from freshview.calculus.types import ring
    >>> show_type(INT), show_type(INT, payload=True), show_type(ring("Ring"))
    ('int', 'long', 'Ring')
    """
    if t.kind == "ring":
        return t.ring
    return "long" if payload and t == INT else str(t)


def _show_relation(r: Relation) -> str:
    columns = ", ".join(f"{show_name(c.name)} {show_type(c.type)}" for c in r.columns)
    return f"CREATE {'TABLE' if r.static else 'STREAM'} {in_term(r.name)}({columns});"


def _show_map(m: Map, known: Mapping[str, Type]) -> str:
    keys = ", ".join(f"{in_term(c.name)}: {show_type(c.type)}" for c in m.keys)
    head = f"DECLARE MAP {in_term(m.name)}({show_type(m.payload, payload=True)})[][{keys}] :="
    if is_zero(m.definition):
        return f"{head} 0L;"
    return _after(head, m.definition, known, 0)


def _show_trigger(t: Trigger, known: Mapping[str, Type]) -> str:
    head = "ON SYSTEM READY" if t.event == "ready" else f"ON BATCH UPDATE OF {in_term(t.relation)}"
    lines = [f"{' ' * STEP}{show_statement(s, known, STEP)}" for s in t.statements]
    return "\n".join([f"{head} {{", *lines, "}"])


def show_statement(s: Statement, known: Mapping[str, Type], indent: int = 0) -> str:
    """One statement, over several lines if it is long."""
    return _after(f"{show_term(s.target, known)} {s.op}", s.term, known, indent)


def _after(head: str, term: Expr, known: Mapping[str, Type], indent: int) -> str:
    column = indent + len(head) + len(" ;")
    return f"{head} {lay_out(_document(term, known), indent, column)};"


def _document(e: Expr, known: Mapping[str, Type]) -> Document:
    return Document(show_term(e, known), lambda: _broken(e, known))


def _broken(e: Expr, known: Mapping[str, Type]) -> Iterable[DocumentPart]:
    """What a sum adds up stands on its own, and every factor but the first below its product."""
    match e:
        case Sum(keys, body):
            yield f"AggSum([{show_names(keys)}],"
            yield NewLine(STEP)
            yield Indented(_document(body, known), STEP, STEP)
            yield NewLine()
            yield ")"
        case Mul((first, *rest)):
            yield "("
            yield Indented(_document(first, known), 0, 1)
            for f in rest:
                yield NewLine(STEP)
                yield "* "
                yield Indented(_document(f, known), STEP, STEP + 2)
            yield ")"
        case _:
            yield show_term(e, known)


def show_term(e: Expr, known: Mapping[str, Type]) -> str:
    """A term on one line: products in twos, as M3 writes them.

    >>> from freshview.calculus.text import read
    >>> show_term(read("Sum[A](V[A, B] * [f: Ring](A) * [g: Ring](B))"), {"V": INT})
    'AggSum([A], (V(long)[][A, B] * ([f: Ring](A) * [g: Ring](B))))'
    """

    def shown(x: Expr) -> str:
        return show_term(x, known)

    match e:
        case Const(value, _):
            return show_value(value)
        case Var(name):
            return in_term(name)
        case Rel(name, names):
            return f"{in_term(name)}({show_names(names)})"
        case Delta(name, names):
            return f"(DELTA {in_term(name)})({show_names(names)})"
        case View(name, names):
            payload = show_type(known[name], payload=True)
            return f"{in_term(name)}({payload})[][{show_names(names)}]"
        case Apply(fn, args, into):
            title = f"[{fn}: {into}]" if into else f"[{fn}]"
            return f"{title}({', '.join(map(shown, args))})"
        case Cmp(op, left, right):
            return f"{{{shown(left)} {op} {shown(right)}}}"
        case Add(terms):
            return f"({' + '.join(map(shown, terms))})"
        case Mul(parts):
            return _product(parts, known)
        case Sum(keys, body):
            return f"AggSum([{show_names(keys)}], {shown(body)})"
        case Lift(var, body):
            return f"({in_term(var)} := {shown(body)})"
        case Exists(body):
            return f"Exists({shown(body)})"
        case Top():
            raise ProgramProblem("M3 has no first rows", instead="use another strategy")
        case _:
            assert_never(e)


def _product(parts: tuple[Expr, ...], known: Mapping[str, Type]) -> str:
    """Data before functions, each in twos from the left; a number goes with the functions."""
    number = [f for f in parts[:1] if isinstance(f, Const)]
    rest = parts[len(number) :]
    data = [f for f in rest if not is_value(f)]
    if not data or any(is_value(f) for f in rest[: len(data)]):
        return _in_twos([show_term(f, known) for f in parts])
    functions = [show_term(f, known) for f in (*number, *rest[len(data) :])]
    first = _in_twos([show_term(f, known) for f in data])
    return f"({first} * {_in_twos(functions)})" if functions else first


def _in_twos(texts: list[str]) -> str:
    out = texts[0]
    for text in texts[1:]:
        out = f"({out} * {text})"
    return out
