"""Rows that no statement notices never reach the log; all the others do."""

from __future__ import annotations

from datetime import date

import pytest

from freshview.distributed.batches.predicate_pushdown import Test as Rule
from freshview.distributed.batches.predicate_pushdown import pushed_predicates
from freshview.distributed.batches.prepare import prepare
from freshview.distributed.compile import distribute
from freshview.ivm.compile import compile_queries
from freshview.sql.load import load

STREAM = """
CREATE STREAM sales (id INT NOT NULL, shop VARCHAR NOT NULL, day DATE NOT NULL, rebate INT,
  price DECIMAL(10, 2) NOT NULL);
"""


def rules(*wheres: str) -> tuple[Rule, ...]:
    """What rows of `sales` must pass for views with these conditions."""
    views = [
        f"CREATE VIEW v{i} AS SELECT shop, SUM(price) AS total FROM sales WHERE {w} GROUP BY shop;"
        for i, w in enumerate(wheres)
    ]
    catalog, queries = load(STREAM + "\n".join(views))
    program = compile_queries(queries, list(catalog.relations.values()))
    return pushed_predicates(prepare(distribute(program))).get("sales", ())


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("day > DATE '2024-01-31'", [Rule("day", ">", date(2024, 1, 31))]),
        ("3 >= id AND shop <> 'a'", [Rule("id", "<=", 3), Rule("shop", "<>", "a")]),
        ("id = 3 OR shop = 'a'", []),
        ("rebate > 3", []),  # it may be NULL
        ("price > 3", []),  # decimals and integers are compared by no one rule
        ("id > 2.5", []),
    ],
)
def test_conditions_of_one_view(where: str, wanted: list[Rule]) -> None:
    assert sorted(rules(where), key=repr) == wanted


def test_only_what_all_views_ask_for_is_asked_of_rows() -> None:
    assert rules("id > 3 AND shop = 'a'", "id > 3 AND shop = 'b'") == (Rule("id", ">", 3),)
    assert rules("id > 3", "shop = 'a'") == ()
    assert rules("id > 3", "id > 4") == ()


def test_a_relation_that_is_kept_whole_elsewhere_is_not_sifted() -> None:
    assert rules("id > 3", "price > (SELECT AVG(s.price) FROM sales s)") == ()
