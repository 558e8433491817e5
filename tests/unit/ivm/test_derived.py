"""Views that are read by their changes: the program of a query over them."""

from __future__ import annotations

import pytest

import freshview
from freshview.calculus.schema import Column, Query
from freshview.calculus.text import read, show
from freshview.calculus.types import INT
from freshview.errors import StrictRefusal
from freshview.factorized.readout import NotFactorized
from freshview.ivm.derived import relational
from freshview.plan.compile import compile_queries
from freshview.plan.options import PlanOptions
from freshview.program.check import check_program
from freshview.program.merge import merge, only
from freshview.program.terms import Program
from freshview.runtime.database.declarations import (
    Defined,
    read_declaration,
    show_declaration,
)
from freshview.sql.load import load
from freshview.sql.lower import view

SCRIPT = """
    CREATE STREAM t (a INT, b INT);
    CREATE TABLE s (a INT, b INT);
    CREATE VIEW low AS SELECT a, SUM(b) AS b FROM t GROUP BY a;
    CREATE VIEW high AS SELECT b, COUNT(*) AS n FROM low GROUP BY b;
    CREATE VIEW top AS SELECT SUM(n) AS n FROM high;
"""


@pytest.fixture
def by_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "LARGEST", 0)


def plan(sql: str = "", options: PlanOptions | None = None) -> Program:
    """The program of the last view."""
    catalog, queries = load(SCRIPT + sql)
    relations = list(catalog.relations.values())
    program = compile_queries(queries[-1:], relations, options or PlanOptions())
    check_program(program)
    return program


def test_a_small_query_has_its_views_written_out() -> None:
    assert not plan().derived
    assert not any("by their changes" in note for note in plan().notes)


@pytest.mark.usefixtures("by_changes")
class TestByChanges:
    def test_changes_are_written_first_each_behind_what_it_reads(self) -> None:
        program = plan()
        [trigger] = [t for t in program.triggers if t.event == "batch"]
        assert [q.name for q in program.derived] == ["low", "high"]
        assert [s.target.name for s in trigger.statements][:2] == ["low_change", "high_change"]
        assert all(s.op == ":=" for s in trigger.statements[:2])
        assert all(s.op == "+=" for s in trigger.statements[2:])

    def test_a_note_names_the_views(self) -> None:
        [note] = [n for n in plan().notes if "by their changes" in n]
        assert note.startswith("read by their changes: low, high;")

    def test_the_change_of_a_view_is_no_recomputation(self) -> None:
        plan(options=PlanOptions(strict=True))

    def test_what_reads_a_view_that_is_recomputed_is_recomputed(self) -> None:
        larger = "CREATE VIEW q AS SELECT a, b FROM t WHERE b > (SELECT SUM(b) FROM t);"
        over = larger + "CREATE VIEW r AS SELECT a, COUNT(*) AS n FROM q GROUP BY a;"
        program = plan(over, PlanOptions(strategy="higher-order"))
        assert any(n.startswith("view q is recomputed when t changes") for n in program.notes)
        assert not any(m.is_change for m in program.maps)
        with pytest.raises(StrictRefusal, match="view q is recomputed when t changes"):
            plan(over, PlanOptions(strategy="higher-order", strict=True))

    def test_view_trees_refuse_them(self) -> None:
        with pytest.raises(NotFactorized, match="'top' reads the changes of 'low', 'high'"):
            plan(options=PlanOptions(strategy="factorized"))

    def test_merged_programs_write_a_change_once(self) -> None:
        catalog, queries = load(SCRIPT)
        relations = list(catalog.relations.values())
        options = PlanOptions(strategy="higher-order")
        program = merge(compile_queries([q], relations, options) for q in queries)
        check_program(program)
        assert [m.name for m in program.maps if m.is_change] == ["low_change", "high_change"]
        assert [q.name for q in only(program, "high").derived] == ["low"]
        assert not only(program, "low").derived

    def test_rows_that_follow_from_static_tables_are_there_from_the_start(self) -> None:
        db = freshview.connect(engine="reference")
        db.execute(SCRIPT)
        db.execute("CREATE VIEW q AS SELECT x.a, y.b FROM s x LEFT JOIN t y ON x.a = y.a")
        db.execute("CREATE VIEW r AS SELECT b, COUNT(*) AS n FROM q GROUP BY b")
        db.execute("CREATE VIEW p AS SELECT MAX(n) AS n FROM r")
        db.load("s", [(1, 1), (2, 1)])
        assert db.view("r").to_pylist() == [{"b": None, "n": 2}]
        assert db.view("p").to_pylist() == [{"n": 2}]
        db.insert("t", [(1, 5)])
        assert db.view("p").to_pylist() == [{"n": 1}]
        db.delete("t", [(1, 5)])
        assert db.view("r").to_pylist() == [{"b": None, "n": 2}]

    def test_subscribers_hear_of_the_change_within_one_version(self) -> None:
        db = freshview.connect(engine="reference")
        db.execute(SCRIPT)
        db.view("high").track()
        start = db.version
        db.apply({"t": [((1, 5), 1), ((2, 5), 1)]})
        assert db.version == start + 1
        changes = db.view("high").changes(since=start).to_pylist()
        assert [(row["b"], row["n"]) for row in changes] == [(5, 2)]

    def test_cofactors_of_a_database_refuse_them(self) -> None:
        """They are kept by view trees."""
        db = freshview.connect(engine="reference")
        db.execute(SCRIPT)
        with pytest.raises(NotFactorized, match="'m' reads the changes of 'low', 'high'"):
            freshview.models.Cofactor(db, "SELECT b, n FROM high", name="m")

    def test_a_snapshot_has_the_views_that_a_term_reads(self) -> None:
        _, queries = load(SCRIPT)
        declared = Defined(queries[-1], "auto")
        assert read_declaration(show_declaration(declared)) == declared


def test_a_column_that_is_shown_twice_is_two_columns_of_a_relation() -> None:
    columns = (Column("x", INT), Column("y", INT))
    both = relational(Query("q", columns, ("a", "a"), read("R(a)")))
    assert both.vars == ("a", "a_1")
    assert show(both.term) == "R(a) * (a_1 := a)"
