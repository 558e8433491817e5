"""`freshview explain`: it shows what `connect()` runs, and says so where that is something else."""

from __future__ import annotations

from pathlib import Path

import pytest

import freshview
from freshview.program.text import show_program
from tests.unit.cli.test_app import Shell, one_line, shell

__all__ = ["shell"]
WORKLOADS = Path(__file__).resolve().parents[3] / "workloads"


@pytest.fixture(params=["tpch_papers/q03", "finance/vwap"])
def query(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A query of the workloads, and what it reads, as one script."""
    folder, name = request.param.split("/")
    texts = [(WORKLOADS / folder / f"{part}.sql").read_text() for part in ("schema", name)]
    path = tmp_path / "query.sql"
    path.write_text("\n".join(texts))
    return path


def sections(text: str) -> dict[str, str]:
    """What stands under each heading."""
    parts = [part.partition("\n") for part in ("\n" + text).split("\n== ")[1:]]
    return {head: body.strip() for head, _, body in parts}


@pytest.mark.parametrize("options", [{}, {"engine": "reference"}, {"strategy": "first-order"}])
def test_it_shows_the_program_of_a_database(
    shell: Shell, query: Path, options: dict[str, str]
) -> None:
    db = freshview.connect(**options)  # type: ignore[arg-type]
    [view] = db.execute(query.read_text())
    switches = [word for name, value in options.items() for word in (f"--{name}", value)]
    printed = sections(shell("explain", query, "--verbose", *switches).out)
    own = sections(view.explain(verbose=True))
    for part in ("calculus", "simplified", "choice", "program"):
        assert printed[part] == own[part]
    runs_first = "the reference engine runs the same program" in printed.get("engine", "")
    assert runs_first == ("engine" not in options)


def test_the_passes_begin_with_the_same_program(shell: Shell, query: Path) -> None:
    db = freshview.connect()
    [view] = db.execute(query.read_text())
    assert show_program(db.program(view.name)).rstrip() in shell("explain", query, "--passes").out
    refused = shell("explain", query, "--passes", "--engine", "reference")
    one_line(refused, "--passes shows the kernel of this process; drop --spark, --dtree and")


def test_functions_that_a_kernel_asks_python_for_are_named(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "query.sql"
    path.write_text("CREATE STREAM r (a STRING); CREATE VIEW v AS SELECT upper(a) AS a FROM r;")
    done = shell("explain", path, "--verbose")
    told = "computed in Python, for all the rows of a batch at once, before the trigger: upper"
    assert told in sections(done.out)["engine"]
    assert "ON + r(" in done.out
    assert shell("explain", path, "--engine", "native").code == 0


def test_views_of_one_program_name_each_other(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "query.sql"
    path.write_text(
        "CREATE STREAM r (a INT); CREATE VIEW u AS SELECT SUM(a) AS n FROM r;"
        "CREATE STREAM s (a INT); CREATE VIEW v AS SELECT COUNT(*) AS n FROM r;"
        "CREATE VIEW w AS SELECT COUNT(*) AS n FROM s;"
    )
    done = shell("explain", path, "v")
    assert "one program keeps this view and u;" in sections(done.out)["shared"]
    assert "shared" not in sections(shell("explain", path, "w").out)
