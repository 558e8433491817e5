"""ASOF JOIN as it is written: MATCH_CONDITION, an inequality, USING, a tolerance."""

from __future__ import annotations

import freshview as fv

SCHEMA = (
    "CREATE STREAM trades (s STRING, t INT NOT NULL, size INT NOT NULL);"
    "CREATE STREAM quotes (s STRING, t INT NOT NULL, bid INT NOT NULL);"
)
FORMS = {
    "matched": "MATCH_CONDITION (trades.t >= quotes.t) ON trades.s = quotes.s",
    "compared": "ON trades.s = quotes.s AND quotes.t <= trades.t",
    "used": "USING (s, t)",
}


def test_all_forms_say_the_same_as_rows_come_and_go() -> None:
    db = fv.connect(engine="reference")
    db.execute(SCHEMA)
    for name, form in FORMS.items():
        join = f"SELECT size, bid FROM trades ASOF LEFT JOIN quotes {form}"
        db.execute(f"CREATE VIEW {name} AS {join}")
    near = "trades.s = quotes.s AND trades.t - quotes.t <= 1"
    db.execute(
        "CREATE VIEW recent AS SELECT size, bid FROM trades ASOF JOIN quotes "
        f"MATCH_CONDITION (trades.t >= quotes.t) ON {near}"
    )

    def rows(name: str) -> list[object]:
        return sorted(db.view(name).rows(), key=str)

    db.insert("trades", [("a", 5, 1), ("a", 1, 2), ("b", 9, 3), (None, 9, 4)])
    db.insert("quotes", [("a", 2, 20), ("a", 4, 40), ("a", 6, 60), ("b", 3, 30), (None, 1, 10)])
    for name in FORMS:
        assert rows(name) == [(1, 40), (2, None), (3, 30), (4, None)]
    assert rows("recent") == [(1, 40)]
    db.delete("quotes", ("a", 4, 40))
    for name in FORMS:
        assert rows(name) == [(1, 20), (2, None), (3, 30), (4, None)]
    assert rows("recent") == []
    db.insert("quotes", [("a", 5, 51), ("a", 5, 50)])  # equally near: the first by its columns
    for name in FORMS:
        assert rows(name)[0] == (1, 50)
