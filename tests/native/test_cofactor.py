"""Cofactors in kernels: after every batch the same as the reference engine's."""

from __future__ import annotations

import random

import pytest

from freshview.algebra import Cofactor
from freshview.calculus.build import const
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Apply, Var
from freshview.calculus.types import DOUBLE, INT
from freshview.codegen.cpp.ring_types import read_cofactor
from freshview.codegen.kernel.source import emit
from freshview.codegen.library.compiler import find_compiler
from freshview.errors import NotNative
from freshview.factorized.compile import compile_joins
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.terms import natural_join
from freshview.ivm.options import Mode
from freshview.program.terms import Program
from freshview.reference.engine.engine import ReferenceEngine
from freshview.runtime.compile.kernel_engine import kernel_engine

RELATIONS = (
    Relation("R", (Column("A", INT), Column("B", DOUBLE))),
    Relation("S", (Column("A", INT), Column("C", INT), Column("E", INT))),
    Relation("T", (Column("C", INT), Column("D", DOUBLE))),
)


def program(keys: str, variables: str, mode: Mode = "batch") -> Program:
    lifts = tuple(Apply("cofactor", (const(v), Var(v)), "Cofactor") for v in variables)
    return compile_joins(
        {"q": natural_join(RELATIONS, tuple(keys), lifts)}, RELATIONS, ViewTreeOptions(mode=mode)
    )


def batch(
    rng: random.Random, r: Relation, live: list[tuple[object, ...]]
) -> list[tuple[tuple, int]]:
    """Some new rows, and some that go; whole numbers, so that sums are exact in any order."""
    rows: list[tuple[tuple, int]] = []
    for _ in range(rng.randint(1, 20)):
        if live and rng.random() < 0.35:
            rows.append((live.pop(rng.randrange(len(live))), -1))
        else:
            new = tuple(
                rng.randint(0, 4) if c.type == INT else float(rng.randint(-50, 50))
                for c in r.columns
            )
            live.append(new)
            rows.append((new, 1))
    return rows


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize(("keys", "variables"), [("", "ABCDE"), ("A", "BDE"), ("C", "EAB")])
def test_the_same_as_the_reference(keys: str, variables: str, mode: Mode) -> None:
    p = program(keys, variables, mode)
    reference, native = ReferenceEngine(p), kernel_engine(p)
    rng = random.Random(f"{keys} {variables}")
    live: dict[str, list[tuple[object, ...]]] = {r.name: [] for r in RELATIONS}
    names = [c.name for c in native.kernel.queries[0].columns][len(keys) :]
    for _ in range(25):
        r = rng.choice(RELATIONS)
        rows = batch(rng, r, live[r.name])
        reference.apply({r.name: rows})
        native.apply({r.name: rows})
        there = {row[:-1]: row[-1] or Cofactor() for row in reference.read("q")}
        here = {
            row[: len(keys)]: read_cofactor(names, row[len(keys) :])
            for row, _ in native.instance.read_rows(0)
        }
        assert here == there
    assert any(x.products for x in there.values())


def test_names_tell_the_numbers() -> None:
    text = emit(program("A", "BD"))
    assert '"payload[B, D]"' in text
    assert '"payload[]"' in text


def test_other_rings_stay_with_the_reference_engine() -> None:
    lifts = (Apply("pair", (Var("B"),), "Pair"),)
    p = compile_joins({"q": natural_join(RELATIONS, (), lifts)}, RELATIONS)
    with pytest.raises(NotNative, match="Pair"):
        emit(p)
