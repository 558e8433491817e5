"""Which pairs of terms have one for both signs."""

from __future__ import annotations

import pytest

from freshview.calculus.terms import View
from freshview.calculus.text import read, show
from freshview.codegen.loops.terms import Batch, Let, Times
from freshview.codegen.options import KernelPasses
from freshview.codegen.pipeline import plan_kernel
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.signs import both, signed
from freshview.program.terms import Program, Statement
from freshview.sql.load import load


@pytest.mark.parametrize(
    ("plus", "minus", "expected"),
    [
        ("M[a]", "M[a]", "M[a]"),
        ("a * M[a]", "-1 * a * M[a]", "sign' * a * M[a]"),
        ("2 * M[a] + 1", "-2 * M[a] + 1", "2 * sign' * M[a] + 1"),
        ("M[a] + N[a] * b", "N[a] * b - M[a]", "sign' * M[a] + N[a] * b"),
        ("a * (M[a] + b)", "-1 * a * (M[a] - b)", "sign' * a * (M[a] + sign' * b)"),
        (
            "Sum[](S(a, b) * (M[b] + 1))",
            "Sum[](S(a, b) * (M[b] - 1))",
            "Sum[](S(a, b) * (M[b] + sign'))",
        ),
        (
            "(x := M[a] + a) * {x > 3}",
            "(x := M[a] - a) * {x > 3}",
            "(x := M[a] + sign' * a) * {x > 3}",
        ),
        ("M[a]", "N[a]", None),
        ("M[a] + N[a]", "M[a] + N[a] + 1", None),
        ("a * M[a]", "2 * a * M[a]", None),
    ],
)
def test_signed(plus: str, minus: str, expected: str | None) -> None:
    term = signed(read(plus), read(minus))
    assert (None if term is None else show(term)) == expected


def test_statements_match_one_by_one() -> None:
    m, n = View("M", ("a",)), View("N", ("a",))
    plus = [Statement(m, "+=", read("N[a] + 1")), Statement(n, "+=", read("1"))]
    minus = [Statement(m, "+=", read("1 - N[a]")), Statement(n, "+=", read("-1"))]
    together = both(plus, minus)
    assert together is not None
    assert [show(s.term) for s in together] == ["sign' * N[a] + 1", "sign'"]
    assert both(plus, minus[:1]) is None
    assert both(plus, minus[::-1]) is None
    replaced = [Statement(m, ":=", read("N[a]"))]
    assert both(replaced, replaced) == replaced
    assert both(replaced, [Statement(m, ":=", read("2 * N[a]"))]) is None


def test_a_join_with_itself_has_one_code() -> None:
    sql = "CREATE STREAM r (k INT NOT NULL, v INT NOT NULL);\n"
    sql += "SELECT COUNT(*) AS n FROM r a, r b WHERE a.k = b.k;"
    catalog, queries = load(sql, "signs", default_name="q")
    program = compile_queries(queries, list(catalog.relations.values()), DeltaOptions(mode="tuple"))
    assert parts(program, KernelPasses()) == ["Let"]
    assert parts(program, KernelPasses(signs=False)) == ["insert", "delete"]


def parts(program: Program, passes: KernelPasses) -> list[str]:
    """How a row of the stream is taken: its count at once, or each time by itself."""
    [f] = [f for f in plan_kernel(program, passes=passes).loops.functions if f.kind == "relation"]
    [batch] = f.body
    assert isinstance(batch, Batch)
    counts = [s for s in batch.body if isinstance(s, Let | Times)]
    return [s.event if isinstance(s, Times) else type(s).__name__ for s in counts]
