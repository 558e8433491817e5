"""Predicate pushdown: rows that no statement reads are neither logged nor sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freshview.calculus.schema import Column
from freshview.calculus.terms import Cmp, Const, Delta, Expr, Mul, Op, Var
from freshview.calculus.types import Kind, Value
from freshview.calculus.walk import children
from freshview.distributed.terms import Distributed
from freshview.distributed.walk import statements

KINDS: tuple[Kind, ...] = ("int", "date", "timestamp", "string")
"""Types whose values every engine compares in the same way."""

_TURNED: dict[Op, Op] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Test:
    """A column, by its name, compared with a constant."""

    column: str
    op: Op
    value: Value

    __test__ = False  # pytest looks for classes of this name


def pushed_predicates(distributed: Distributed) -> dict[str, tuple[Test, ...]]:
    """By relation, the predicates that a row must pass to change anything.

    dR(a, b) * {a < 3} is 0 for a row with 3 or more: a test beside every dR of the program can be
    pushed down.
    """
    columns = {r.name: r.columns for r in distributed.program.relations}
    tests_by_relation: dict[str, set[Test]] = {}
    for s in statements(distributed):
        for delta, beside in _batches(s.term, ()):
            tests = set(_tests(delta, beside, columns[delta.name]))
            tests_by_relation[delta.name] = tests_by_relation.get(delta.name, tests) & tests
    return {n: tuple(sorted(tests, key=repr)) for n, tests in tests_by_relation.items() if tests}


def _batches(e: Expr, beside: tuple[Expr, ...]) -> Iterator[tuple[Delta, tuple[Expr, ...]]]:
    """The batches in a term, each with the factors of its product."""
    if isinstance(e, Delta):
        yield e, beside
    for child in children(e):
        yield from _batches(child, children(e) if isinstance(e, Mul) else ())


def _tests(delta: Delta, beside: tuple[Expr, ...], columns: tuple[Column, ...]) -> Iterator[Test]:
    for factor in beside:
        match factor:
            case Cmp(op, Var(name), Const(value, t)):
                pass
            case Cmp(turned, Const(value, t), Var(name)):
                op = _TURNED[turned]
            case _:
                continue
        for column, var in zip(columns, delta.vars, strict=True):
            plain = column.type.kind in KINDS and not column.type.nullable
            if var == name and plain and t.kind == column.type.kind and value is not None:
                yield Test(column.name, op, value)
