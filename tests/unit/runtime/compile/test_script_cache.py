"""Scripts from the cache mean what they mean when they are translated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import freshview
from freshview.runtime.compile import script_cache
from freshview.runtime.compile.script_cache import load_script
from freshview.sql import Catalog
from freshview.sql.load import load
from workloads import WORKLOADS

SCRIPT = """
CREATE STREAM `odd name` (`a b` INT, t TIMESTAMP NOT NULL, m DECIMAL(30, 2), PRIMARY KEY (t))
  FROM FILE 'r.csv' LINE DELIMITED CSV (delimiter := '|');
CREATE TABLE s (k STRING NOT NULL);
CREATE VIEW v AS SELECT m, COUNT(*) AS n FROM `odd name` WHERE t > TIMESTAMP '2024-01-02 03:04:05'
  GROUP BY m ORDER BY n DESC NULLS FIRST LIMIT 3;
SELECT k FROM s WHERE k LIKE 'it''s%';
"""


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "freshview" / "scripts"


def twice(sql: str, file: str, catalog: Catalog) -> Catalog:
    """The catalog after a script, from the cache; it and the queries must be as translated."""
    load_script(sql, file, catalog)
    wanted, queries = load(sql, file, catalog)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("freshview.sql.load.load", lambda *_: pytest.fail("it was translated"))
        after, again = load_script(sql, file, catalog)
    assert again == queries
    assert (after.relations, after.sources) == (wanted.relations, wanted.sources)
    assert dict(after.views) == dict(wanted.views)
    return after


def test_a_script_comes_back_as_it_was() -> None:
    after = twice(SCRIPT, "<text>", Catalog())
    twice("CREATE VIEW w AS SELECT n FROM v", "<text>", after)  # a view over a view


@pytest.mark.parametrize("workload", sorted(WORKLOADS))
def test_the_workloads_come_back_as_they_were(workload: str) -> None:
    one = WORKLOADS[workload]
    schema = twice(one.schema.read_text(), str(one.schema), Catalog())
    for path in one.queries().values():
        twice(path.read_text(), str(path), schema)


def test_what_was_declared_before_is_part_of_the_key() -> None:
    """The same text over other columns is another view."""
    view = "CREATE VIEW v AS SELECT a FROM r"
    for kind in ("INT", "STRING"):
        db = freshview.connect(engine="reference")
        db.execute(f"CREATE STREAM r (a {kind} NOT NULL)")
        db.execute(view)
        assert str(db.view("v").schema[0].type) == kind.lower()
    with pytest.raises(freshview.FreshviewError, match="already declared"):
        db.execute(view)


def test_own_functions_are_never_cached(empty_cache: Path) -> None:
    for factor in (2, 3):
        db = freshview.connect(engine="reference")
        db.register_function("scaled", lambda x, by=factor: x * by, "int")
        db.execute("CREATE STREAM r (a INT NOT NULL); SELECT scaled(a) AS a FROM r")
        db.insert("r", [(5,)])
        assert db.views[0].rows() == [(5 * factor,)]
    assert not empty_cache.exists()


def test_a_damaged_entry_is_translated_again(empty_cache: Path) -> None:
    script = "CREATE STREAM r (a INT NOT NULL)"
    load_script(script, "<text>", Catalog())
    (path,) = empty_cache.iterdir()
    whole = path.read_bytes()
    for damaged in (whole.replace(b"int", b"bool"), whole[:-9], b"", b"[]"):
        path.write_bytes(damaged)
        catalog, _ = load_script(script, "<text>", Catalog())
        assert str(catalog.relation("r").columns[0].type) == "int"


def test_a_translator_is_known_by_all_its_files() -> None:
    """Every module that is loaded to translate a script is part of the hash."""
    script = (
        "import sys; from freshview.sql.load import load; load('CREATE STREAM r (a INT); "
        "SELECT a, SUM(a) AS s FROM r GROUP BY a ORDER BY s LIMIT 2');"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'freshview'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = {Path(name).resolve() for name in done.stdout.split()}
    hashed = {script_cache.PACKAGE / name for name in script_cache.translator_sources()}
    assert loaded - hashed == set()
