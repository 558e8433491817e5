"""Decimals in 128 bits: the types of a program, all as wide as Arrow and Spark have them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from freshview.calculus.schema import Column
from freshview.calculus.terms import Const, Expr
from freshview.calculus.types import Type
from freshview.calculus.walk import bottom_up
from freshview.program.terms import Map, Program, Statement, Trigger


def widen(program: Program) -> Program:
    """The same program, whose kernel holds every decimal in 128 bits."""
    return replace(
        program,
        relations=tuple(replace(r, columns=_columns(r.columns)) for r in program.relations),
        maps=tuple(_map(m) for m in program.maps),
        triggers=tuple(_trigger(t) for t in program.triggers),
        queries=tuple(
            replace(q, columns=_columns(q.columns), term=_term(q.term)) for q in program.queries
        ),
    )


def _wide(t: Type) -> Type:
    return replace(t, wide=True) if t.kind == "decimal" else t


def _columns(columns: Iterable[Column]) -> tuple[Column, ...]:
    return tuple(replace(c, type=_wide(c.type)) for c in columns)


def _term(e: Expr) -> Expr:
    def rule(part: Expr) -> Expr | None:
        if isinstance(part, Const) and part.type.kind == "decimal" and not part.type.wide:
            return replace(part, type=_wide(part.type))
        return None

    return bottom_up(e, rule)


def _map(m: Map) -> Map:
    return replace(
        m,
        keys=_columns(m.keys),
        payload=_wide(m.payload),
        definition=_term(m.definition),
        inputs=_columns(m.inputs),
        fill=None if m.fill is None else _term(m.fill),
    )


def _trigger(t: Trigger) -> Trigger:
    def statement(s: Statement) -> Statement:
        return replace(s, term=_term(s.term))

    return replace(t, statements=tuple(map(statement, t.statements)))
