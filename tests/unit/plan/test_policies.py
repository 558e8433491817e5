"""Policies: what a view says of being recomputed goes before what its database says."""

from __future__ import annotations

from pathlib import Path

import pytest

import freshview as fv
from freshview.errors import FreshviewError, StrictRefusal, UnsupportedSql

TABLES = "CREATE STREAM r (a INT NOT NULL, b INT NOT NULL); CREATE STREAM s (a INT, b INT);"
BY_DELTAS = "SELECT r.a, SUM(s.b) AS t FROM r JOIN s ON r.a = s.a GROUP BY r.a"
COMPARED = "SELECT a FROM r WHERE b > (SELECT SUM(s.b) FROM s WHERE s.a < r.a)"


def notes(policy: str, query: str, **settings: object) -> list[str]:
    db = fv.connect(engine="reference", **settings)  # type: ignore[arg-type]
    db.execute(f"{TABLES} CREATE VIEW v TBLPROPERTIES ('policy' = '{policy}') AS {query}")
    return list(db.program("v").notes)


def test_full_recomputes_and_incremental_does_not() -> None:
    assert "policy: full" in notes("full", BY_DELTAS)
    assert any("v is recomputed when r changes" in n for n in notes("full", BY_DELTAS))
    for strategy in ("auto", "reeval"):
        assert not [n for n in notes("incremental", BY_DELTAS, strategy=strategy) if "is rec" in n]


def test_incremental_names_what_is_recomputed_all_the_same() -> None:
    assert [n for n in notes("incremental", COMPARED) if "v is recomputed when s changes" in n]


def test_strict_refuses_with_the_node() -> None:
    notes("strict", BY_DELTAS)
    with pytest.raises(StrictRefusal, match=r"v is recomputed when s changes: .*s_b"):
        notes("strict", COMPARED)
    notes("auto", COMPARED, strict=True)


def test_a_script_has_a_policy_for_views_that_name_none(tmp_path: Path) -> None:
    db = fv.connect(engine="reference")
    script = f"{TABLES} CREATE VIEW v AS {BY_DELTAS};"
    db.execute(f"{script} CREATE VIEW w TBLPROPERTIES (policy = auto) AS {COMPARED}", policy="full")
    assert "policy: full" in db.program("v").notes
    assert "policy: auto" in db.program("w").notes
    db.snapshot(tmp_path / "kept")
    again = fv.restore(tmp_path / "kept")
    assert "policy: full" in again.program("v").notes
    assert "policy: auto" in again.program("w").notes


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(UnsupportedSql, match="the policy 'lazy'"):
        notes("lazy", BY_DELTAS)
    with pytest.raises(FreshviewError, match="no policy 'lazy'; use one of auto, incremental"):
        fv.connect().execute(TABLES, policy="lazy")


def test_other_properties_are_said_to_be_ignored() -> None:
    db = fv.connect(engine="reference")
    db.execute(f"{TABLES} CREATE VIEW v COMMENT 'x' TBLPROPERTIES ('owner' = 'me') AS {BY_DELTAS}")
    text = db.view("v").explain()
    assert "COMMENT of 'v' is ignored" in text
    assert "TBLPROPERTIES (owner) of 'v' is ignored" in text


def test_explain_is_a_screen_and_says_what_to_expect() -> None:
    db = fv.connect(engine="reference", statistics=fv.Sizes(rows={"r": 1e6, "s": 1e6}))
    db.execute(f"{TABLES} CREATE VIEW v AS {BY_DELTAS}")
    text = db.view("v").explain()
    assert len(text.splitlines()) < 30
    assert "== program" not in text
    assert "a row of r: about " in text
    assert "with the sizes that were given" in text
    assert "== program" in db.view("v").explain(verbose=True)
    small = fv.connect(engine="reference")
    small.execute(f"{TABLES} CREATE VIEW v AS {BY_DELTAS}")
    assert "10,000 rows in a stream" in small.view("v").explain()


def test_the_forecast_follows_the_sizes() -> None:
    from freshview.program.forecast import forecast

    db = fv.connect(engine="reference", strategy="first-order")
    db.execute(f"{TABLES} CREATE VIEW v AS {BY_DELTAS}")
    few, many = (
        forecast(db.program("v"), fv.Sizes(rows={"r": n, "s": n})) for n in (1_000.0, 100_000.0)
    )
    assert sum(b for _, _, b in many.maps) > 50 * sum(b for _, _, b in few.maps)
    assert many.steps["r"] > few.steps["r"]
