"""What programs forget: which maps, by which tests, and why others are kept."""

from __future__ import annotations

import pytest

from freshview.calculus.scope import base_relations
from freshview.plan.compile import compile_queries
from freshview.plan.options import PlanOptions
from freshview.program.check import check_program
from freshview.program.expiry import forgetful, what_is_lost
from freshview.program.terms import Program
from freshview.program.text import read_program, show_program
from freshview.program.updates import Mode
from freshview.sql.load import load

STREAMS = """
CREATE STREAM a (t INT NOT NULL, k INT NOT NULL, WATERMARK FOR t AS t - 3);
CREATE STREAM b (t INT NOT NULL, k INT NOT NULL, WATERMARK FOR t AS t);
CREATE STREAM d (t DOUBLE NOT NULL, WATERMARK FOR t AS t);
CREATE STREAM m (t TIMESTAMP NOT NULL, WATERMARK FOR t AS t);
CREATE STREAM n (t INT NOT NULL, k INT NOT NULL);
"""
A, B = "`a's watermark`", "`b's watermark`"


def compiled(select: str, mode: Mode = "batch") -> Program:
    catalog, queries = load(STREAMS + select)
    read = base_relations(queries[0])
    used = [r for r in catalog.relations.values() if r.name in read]
    program = compile_queries(queries, used, PlanOptions("higher-order", mode))
    check_program(program)
    assert read_program(show_program(program)) == program
    return program


def lost(select: str, mode: Mode = "batch") -> dict[str, str]:
    return what_is_lost(compiled(select, mode))


@pytest.mark.parametrize("mode", ["batch", "tuple"])
@pytest.mark.parametrize(
    ("condition", "of_a", "of_b"),
    [
        (
            "a.t BETWEEN b.t - 5 AND b.t + 7",
            f"{{t < ({B} + (-5))}}",
            f"{{t < ({A} + (-7))}}",
        ),
        ("a.t >= b.t AND a.t < b.t + 7", f"{{t < {B}}}", f"{{t < ({A} + (-7))}}"),
        ("ABS(a.t - b.t) < 5", f"{{(-(t - {B})) >= 5}}", f"{{({A} - t) >= 5}}"),
        ("a.t = b.t", f"{{t < {B}}}", f"{{t < {A}}}"),
        ("a.t >= b.t", f"{{t < {B}}}", ""),
        ("a.t > 2 * b.t", f"{{t < 2 * {B}}}", ""),
        ("a.k = b.k", "", ""),
        ("a.t <> b.t", "", ""),
        ("a.t * b.t > 5", "", ""),
    ],
)
def test_what_conditions_bound(mode: Mode, condition: str, of_a: str, of_b: str) -> None:
    texts = lost(f"SELECT COUNT(*) AS n FROM a JOIN b ON {condition}", mode).values()
    assert {_plain(text) for text in texts} == {of_a, of_b} - {""}


def _plain(text: str) -> str:
    """A test without the name that its key happens to have."""
    for name in ("a_t", "b_t"):
        text = text.replace(name, "t")
    return text


def test_doubles_are_asked_as_the_statement_asks() -> None:
    texts = lost("SELECT COUNT(*) AS n FROM d x JOIN d y ON x.t <= y.t + 0.1 AND x.t >= y.t - 0.1")
    assert texts
    assert all("(-0.1e0)" in t or "+ 0.1e0" in t for t in texts.values())


def test_months_are_as_long_as_they_are() -> None:
    texts = lost(
        "SELECT COUNT(*) AS n FROM m x JOIN m y "
        "ON x.t BETWEEN y.t - INTERVAL 1 MONTH AND y.t + INTERVAL 1 MONTH"
    )
    assert any("add_months" in t for t in texts.values())


def test_a_chain_of_windows() -> None:
    program = compiled(
        "SELECT COUNT(*) AS n FROM a x JOIN b y ON x.t BETWEEN y.t - 5 AND y.t + 5 "
        "JOIN a z ON z.t BETWEEN y.t - 2 AND y.t"
    )
    assert len(forgetful(program)) == 2
    assert any("(-5) + (-2)" in text for text in what_is_lost(program).values())


def test_what_a_stream_without_a_watermark_asks_for_is_kept() -> None:
    program = compiled("SELECT COUNT(*) AS n FROM a JOIN n ON a.t BETWEEN n.t - 5 AND n.t + 5")
    [kept] = [note for note in program.notes if "is kept" in note]
    assert "changes of n read it, which has no watermark" in kept
    assert len(forgetful(program)) == 1  # the rows of n, which only a asks for


def test_results_and_what_is_recomputed_from_are_kept() -> None:
    band = "a.t BETWEEN b.t - 5 AND b.t + 5"
    program = compiled(f"SELECT a.t, COUNT(*) AS n FROM a JOIN b ON {band} GROUP BY a.t")
    assert forgetful(program)
    assert program.queries[0].name not in forgetful(program)
    catalog, queries = load(f"{STREAMS} SELECT COUNT(*) AS n FROM a JOIN b ON {band}")
    again = compile_queries(
        queries, list(catalog.relations.values()), PlanOptions(strategy="reeval")
    )
    assert not forgetful(again)


def test_programs_without_event_time_are_as_they_were() -> None:
    program = compiled("SELECT COUNT(*) AS c FROM n x JOIN n y ON x.t BETWEEN y.t - 5 AND y.t + 5")
    assert not any(t.relation.startswith("watermark") for t in program.triggers)
    assert not any("windows" in note for note in program.notes)
