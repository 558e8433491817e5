"""Which first rows are read off an ordered index."""

from __future__ import annotations

import pytest

import freshview
from freshview.calculus.terms import Top
from freshview.calculus.text import read
from freshview.codegen.kernel.source import write
from freshview.codegen.library.compiler import find_compiler
from freshview.codegen.lower.first_rows import first_rows_of
from freshview.codegen.options import KernelPasses
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions, Mode
from freshview.program.terms import Program
from freshview.sql.load import load
from tests.differential.sql_cases import FIRSTS, SCHEMA


def choice_of(text: str, *bound: str) -> tuple[str, list[str], tuple[str, ...]] | None:
    e = read(text)
    assert isinstance(e, Top)
    f = first_rows_of(e, set(bound))
    return None if f is None else (f.atom.name, [o.var for o in f.order], f.groups)


@pytest.mark.parametrize(
    "text",
    [
        "Top[g; x; 1](M[g, x])",
        "Top[g; x desc; 1]({y > 3} * M[x, g])",
        "Top[g; x; 1](M[g, x] + (x := y))",
        "Top[g; x; 1]((x := y) * {y > 3} - N[y] * K[x, y] + M[g, x])",
        "Top[g; x; 3](Exists(M[g, x]))",
    ],
)
def test_the_first_entries_of_a_map(text: str) -> None:
    assert choice_of(text, "g", "y") == ("M", ["x"], ())


def test_ties_are_broken_by_the_other_variables() -> None:
    assert choice_of("Top[g; x desc; 1](M[c, g, b, x])", "g") == ("M", ["x", "b", "c"], ())


def test_one_choice_for_each_group() -> None:
    assert choice_of("Top[g; x; 1](M[g, x])") == ("M", ["x"], ("g",))


@pytest.mark.parametrize(
    "text",
    [
        "Top[g; x; 1](Sum[g, x](M[g, x, z]))",  # an entry is not a row
        "Top[g; x; 1](-M[g, x])",
        "Top[g; x; 1](M[g, x] * y)",
        "Top[g; x; 1](M[g, x] * N[x])",
        "Top[g; x; 1]((x := y))",
        "Top[h; x; 1](M[h, x] + (x := y) * (h := y))",  # groups that only the rest may have
    ],
)
def test_other_choices(text: str) -> None:
    assert choice_of(text, "g", "y") is None


def program(sql: str, mode: Mode = "tuple") -> Program:
    catalog, queries = load(f"{SCHEMA};\n{sql}")
    return compile_queries(queries, list(catalog.relations.values()), DeltaOptions(mode=mode))


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("sql", FIRSTS)
def test_an_index_serves(sql: str, mode: Mode) -> None:
    assert "first_rows<" in write(program(sql, mode)).text
    assert (
        "first_rows<" not in write(program(sql, mode), passes=KernelPasses(first_rows=False)).text
    )


def test_an_extreme_is_no_scan() -> None:
    """Among the rows of all the data, the first one is found without a walk through them."""
    p = program("SELECT SUM(m) FROM (SELECT MIN(c) AS m FROM r) x")
    assert write(p).scans == ()
    assert write(p, passes=KernelPasses(first_rows=False, defer=False)).scans != ()


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("rest", ["NULLIF(t, 1)", "CASE WHEN t = 1 THEN NULL ELSE t END"])
def test_rows_beside_the_index_have_the_type_of_the_whole_choice(rest: str) -> None:
    """NULL, the only value of the rows beside the index, gave its type to all the rows."""
    answers = []
    for engine in ("reference", "native"):
        db = freshview.connect(engine=engine)
        db.execute(
            f"""CREATE STREAM r (i INT NOT NULL, t INT NOT NULL);
            CREATE VIEW first AS SELECT {rest} AS x FROM r ORDER BY x NULLS LAST LIMIT 3;
            CREATE VIEW others AS SELECT i, COUNT(*) AS n FROM r
              WHERE NOT EXISTS (SELECT x FROM first f WHERE f.x = r.t) GROUP BY i;"""
        )
        db.insert("r", [(0, 1), (3, 30), (1, 13), (2, 14), (5, 31)])
        answers.append(sorted(db.view("others").rows()))
    assert answers == [[(0, 1), (5, 1)], [(0, 1), (5, 1)]]


def test_a_comparison_with_the_order_only_says_where_the_walk_begins() -> None:
    assert choice_of("Top[g; x; 1](M[g, x] * {x > y})", "g", "y") == ("M", ["x"], ())
