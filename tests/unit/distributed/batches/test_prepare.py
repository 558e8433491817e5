"""What nodes run means the same as what was compiled, and costs less."""

from __future__ import annotations

import pytest

from freshview.calculus.terms import View
from freshview.calculus.text import read
from freshview.distributed.batches.prepare import prepare
from freshview.distributed.batches.prune_columns import prune_columns
from freshview.distributed.batches.share_batch_work import share_batch_work
from freshview.distributed.compile import distribute
from freshview.distributed.options import DistributionOptions
from freshview.distributed.simulate import Simulation
from freshview.distributed.terms import Compute, Dist, Distributed, Replicated
from freshview.ivm.compile import compile_queries
from freshview.program.terms import Statement
from freshview.spark.nodes.node_program import group_by_batch
from freshview.sql.load import load

SHOP = """
CREATE STREAM orders (id INT NOT NULL, customer INT NOT NULL, note INT NOT NULL, PRIMARY KEY (id));
CREATE STREAM items (id INT NOT NULL, line INT NOT NULL, price INT NOT NULL,
  PRIMARY KEY (id, line));
"""

JOIN = """
SELECT o.customer, SUM(i.price) AS total
FROM orders o, items i WHERE o.id = i.id GROUP BY o.customer
"""

NESTED = """
SELECT SUM(i.price) AS total FROM items i
WHERE i.price < (SELECT SUM(j.price) FROM items j WHERE j.id = i.id)
"""


def distributed(sql: str, *, deliver: bool = True) -> Distributed:
    catalog, queries = load(SHOP + f"CREATE VIEW q AS {sql};")
    program = compile_queries(queries, list(catalog.relations.values()))
    return distribute(program, options=DistributionOptions(workers=2, deliver=deliver))


def columns(d: Distributed, relation: str) -> list[str]:
    [declared] = [r for r in d.program.relations if r.name == relation]
    return [c.name for c in declared.columns]


def steps(d: Distributed) -> list[Compute]:
    blocks = [b for r in d.routines for b in r.blocks]
    return [s for b in blocks for s in b.steps if isinstance(s, Compute)]


def test_batches_are_delivered_where_they_are_joined() -> None:
    arrivals = distributed(JOIN).placement.batches
    assert arrivals["items"] == Dist(("id",))
    assert arrivals["orders"] in (Dist(("id",)), Replicated())
    assert not distributed(JOIN, deliver=False).placement.batches


def test_columns_that_nobody_reads_go() -> None:
    thin = prune_columns(distributed(JOIN))
    assert columns(thin, "orders") == ["id", "customer"]
    assert columns(thin, "items") == ["id", "price"]


def test_a_batch_of_which_only_the_number_counts_keeps_a_column() -> None:
    assert (
        len(columns(prune_columns(distributed("SELECT COUNT(*) AS n FROM orders")), "orders")) == 1
    )


def test_rows_that_are_told_apart_keep_their_columns() -> None:
    kept = columns(
        prune_columns(distributed("SELECT DISTINCT note, customer FROM orders")), "orders"
    )
    assert {"note", "customer"} <= set(kept)


def test_parts_of_a_batch_are_made_once() -> None:
    plain, shared = distributed(NESTED), share_batch_work(distributed(NESTED))
    parts = [h.name for r in shared.routines for h in r.maps if h.name.startswith("part")]
    assert parts
    assert len(steps(shared)) == len(steps(plain)) + len(parts)


@pytest.mark.parametrize("sql", [JOIN, NESTED])
def test_the_views_are_the_same(sql: str) -> None:
    plain, ready = distributed(sql), prepare(distributed(sql))
    kept = {r.name: r for r in ready.program.relations}
    full = {r.name: r for r in plain.program.relations}
    before, after = Simulation(plain, workers=3), Simulation(ready, workers=3)
    before.load()
    after.load()
    for batch in range(4):
        rows = {
            "items": [((i % 7, i + batch, 5 * i % 11), -1 if i % 5 == 4 else 1) for i in range(20)],
            "orders": [((i, i % 3, batch), 1) for i in range(batch, batch + 3)],
        }
        rows = {n: r for n, r in rows.items() if n in kept and n in plain.routines[-1].relations}
        before.apply(rows)
        thin = {}
        for name, changes in rows.items():
            names = [c.name for c in full[name].columns]
            at = [names.index(c.name) for c in kept[name].columns]
            thin[name] = [(tuple(row[i] for i in at), n) for row, n in changes]
        after.apply(thin)
        assert before.read("q") == after.read("q")


def runs(*texts: str) -> list[str]:
    """The targets of statements, in the order in which `group_by_batch` puts them."""
    statements = []
    for text in texts:
        target, _, term = text.partition(" += ")
        statements.append(Statement(View(target, ()), "+=", read(term)))
    return [s.target.name for s in group_by_batch(statements)]


def test_statements_of_one_batch_stand_together() -> None:
    first, other = "p += (DELTA R)(a)", "m += p[] * n[]"
    assert runs(first, other, "q += (DELTA R)(b)") == ["p", "q", "m"]
    assert runs(first, other, "q += (DELTA S)(b)") == ["p", "m", "q"]
    assert runs(first, other, "q += (DELTA R)(b) * m[]") == ["p", "m", "q"]  # reads what m wrote
    assert runs(first, other, "n += (DELTA R)(b)") == ["p", "m", "n"]  # m reads it before
    assert runs(first, other, "m += (DELTA R)(b)") == ["p", "m", "m"]
    assert runs(other, "k += p[]", "q += (DELTA R)(b)") == ["m", "k", "q"]
