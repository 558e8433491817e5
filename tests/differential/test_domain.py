"""Values at the ends of their ranges, in lock step: engines accept, refuse and show the same.

Streams are of such values, so that about a third of the batches is refused. After each batch all
the views of all the engines are equal, also where it was refused: then they are as before.
"""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

import freshview
from freshview.codegen.library.compiler import find_compiler
from freshview.distributed.compile import distribute
from freshview.distributed.schedule_blocks import schedule_blocks
from freshview.errors import BadRow, BadValue, Overflow
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.spark.nodes.reference_node import ReferenceNode
from freshview.sql.load import load
from tests.differential.test_nodes import Cluster
from tests.thin import only, thin

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

SCHEMA = """
CREATE STREAM t (k BIGINT NOT NULL, x BIGINT NOT NULL, y BIGINT,
                 d DECIMAL(38, 2) NOT NULL, e DECIMAL(38, 4));
CREATE STREAM u (k BIGINT NOT NULL, z BIGINT NOT NULL, s STRING);
"""
VIEWS = (
    "SELECT k, SUM(x) AS s FROM t GROUP BY k",
    "SELECT SUM(x * y) AS s, COUNT(*) AS n FROM t",
    "SELECT k, x * y AS p, x + y AS q FROM t",
    "SELECT SUM(d) AS s, SUM(e) AS f FROM t",
    "SELECT k, SUM(d * e) AS s FROM t GROUP BY k",
    "SELECT SUM(t.d * u.z) AS s, COUNT(*) AS n FROM t, u WHERE t.k = u.k",
    "SELECT t.k, SUM(t.x * u.z) AS s FROM t, u WHERE t.k = u.k GROUP BY t.k",
    "SELECT t.k, COUNT(*) AS n FROM t"
    " WHERE (SELECT SUM(u.z) FROM u WHERE u.k = t.k) > 3 GROUP BY t.k",
    "SELECT k, MAX(x) AS m, MIN(d) AS l FROM t GROUP BY k",
    "SELECT SUM(x) * 2 AS s, SUM(x) + SUM(y) AS w FROM t",
    "SELECT a.k, SUM(a.x * b.x) AS s FROM t a, t b WHERE a.k = b.k GROUP BY a.k",
    "SELECT ABS(x) AS a, -x AS m, ROUND(e, 2) AS r, FLOOR(d) AS f FROM t",
    "SELECT k, s FROM (SELECT k, SUM(x) AS s FROM t GROUP BY k) q WHERE s > 0",
    "SELECT SUM(s) AS m FROM (SELECT k, SUM(x) AS s FROM t GROUP BY k) q",
    "SELECT CASE WHEN x > 0 THEN d ELSE e END AS c FROM t",
    "SELECT t.d, u.z FROM t JOIN u ON t.d = u.z",
    "SELECT a.d, SUM(b.x) AS s FROM t a LEFT JOIN t b ON a.d = b.e GROUP BY a.d",
    "SELECT u.k, u.z FROM u WHERE u.z IN (SELECT e FROM t WHERE t.k = u.k)",
)
MOST = (1 << 63) - 1
INTS = (0, 1, -1, 2, MOST, -MOST, MOST - 1, 1 << 62, -(1 << 62), 1 << 32, 3037000499, 3037000500)
UNITS = (0, 1, -100, 10**17, 10**18 - 1, MOST, 1 << 63, -(1 << 63), 10**20, 10**37, 10**38 - 1)

Row = tuple[Any, ...]


def whole(r: random.Random) -> int:
    return r.choice((*INTS, r.randint(-MOST, MOST), r.randint(-9, 9)))


def scaled(r: random.Random, scale: int) -> Decimal:
    sign, units = r.choice("-+"), r.choice(UNITS)
    return Decimal(f"{sign}{abs(units)}E-{scale}")


def row_of(r: random.Random, relation: str) -> Row:
    k = r.randint(1, 3)
    if relation == "u":
        return k, whole(r), r.choice((None, "a", "é"))
    return k, whole(r), r.choice((None, whole(r))), scaled(r, 2), r.choice((None, scaled(r, 4)))


def batch_of(r: random.Random, held: dict[str, Counter[Row]]) -> dict[str, list[tuple[Row, int]]]:
    """Rows that come, and rows that go, of one stream or of both; none goes that is not there."""
    batch = {}
    for name in r.sample(("t", "u"), r.randint(1, 2)):
        net: Counter[Row] = Counter()
        for _ in range(r.randint(1, 3)):
            if held[name] and r.random() < 0.45:
                net[r.choice(sorted(held[name], key=repr))] -= 1
            else:
                net[row_of(r, name)] += r.choice((1, 1, 2, 3))
        batch[name] = [(row, n) for row, n in net.items() if n and held[name][row] + n >= 0]
    return batch


def verdict(db: Any, batch: dict[str, list[tuple[Row, int]]]) -> str:
    try:
        db.apply(batch)
    except (Overflow, BadRow, BadValue) as e:
        return "overflow" if isinstance(e, Overflow) else str(e)
    return "taken"


def shown(db: Any, view: str) -> Any:
    try:
        return Counter(db.view(view).rows())
    except Overflow:
        return "overflow"


def in_lock_step(seed: int, views: list[str], batches: int = 20) -> Counter[str]:
    r = random.Random(seed)
    names = [f"v{i}" for i in range(len(views))]
    sql = SCHEMA + "".join(f"CREATE VIEW {n} AS {v};" for n, v in zip(names, views, strict=True))
    engines = [freshview.connect(engine="reference"), freshview.connect(engine="native")]
    for db in engines:
        db.execute(sql)
    engines.append(freshview.connect())  # with a warm cache: kernels from the start
    engines[-1].execute(sql)
    held: dict[str, Counter[Row]] = {"t": Counter(), "u": Counter()}
    verdicts: Counter[str] = Counter()
    for _ in range(batches):
        batch = batch_of(r, held)
        answers = [verdict(db, batch) for db in engines]
        assert len(set(answers)) == 1, (answers, batch)
        verdicts[answers[0]] += 1
        if answers[0] == "taken":
            for name, rows in batch.items():
                held[name].update(dict(rows))
                held[name] += Counter()  # without those that are gone
        for name in names:
            first, *others = (shown(db, name) for db in engines)
            assert all(other == first for other in others), (name, first, others, batch)
    return verdicts


@pytest.mark.parametrize("number", thin(range(len(VIEWS)), 2))
def test_engines_agree_at_the_ends(number: int) -> None:
    verdicts = in_lock_step(number, [VIEWS[number]])
    assert verdicts["taken"]


def test_several_views_agree_at_the_ends() -> None:
    verdicts = in_lock_step(100, list(VIEWS[:4]), batches=40)
    assert verdicts["taken"]
    assert verdicts["overflow"]


WRAPPED = (207, 218, 225)
"""Seeds of sums of decimals that kernels once did not bring back after a refused batch."""


@pytest.mark.parametrize("seed", only(range(200, 260), WRAPPED.__contains__))
def test_many_streams_agree_at_the_ends(seed: int) -> None:
    r = random.Random(-seed)
    in_lock_step(seed, r.sample(VIEWS, r.randint(1, 3)), batches=40)


class Reference(Cluster):
    """The same cluster with nodes on dictionaries."""

    def __init__(self, d: Any, workers: int, functions: Any) -> None:
        self.d = d
        self.relations = {r.name: r for r in d.program.relations}
        self.driver = ReferenceNode(d, "driver", functions)  # type: ignore[assignment]
        self.workers = [ReferenceNode(d, "worker", functions) for _ in range(workers)]  # type: ignore[misc]


@pytest.mark.parametrize("view", [VIEWS[0], VIEWS[4]], ids=["integers", "decimals"])
def test_nodes_refuse_what_databases_refuse(view: str) -> None:
    """A batch of inserts, so that no number comes back into its range."""
    catalog, queries = load(f"{SCHEMA} CREATE VIEW v AS {view};", "<text>")
    program = compile_queries(queries, list(catalog.relations.values()), DeltaOptions(mode="batch"))
    d = schedule_blocks(distribute(program, functions=catalog.functions))
    long = Decimal("9" * 20 + ".00")
    first = [((1, MOST, 1, long, Decimal(10**10)), 1), ((2, 5, 1, long, Decimal(1)), 1)]
    more = [((1, 1, 1, long, Decimal(10**20)), 1)]
    for make in (Cluster, Reference):
        cluster = make(d, 2, catalog.functions)
        cluster.load({})
        cluster.apply("t", first)
        before = cluster.read("v")
        assert len(before) == 2
        with pytest.raises(Overflow):
            cluster.apply("t", more)
    db = freshview.connect(engine="reference")
    db.execute(f"{SCHEMA} CREATE VIEW v AS {view};")
    db.apply({"t": first})
    assert set(db.view("v").rows()) == set(before)
    with pytest.raises(Overflow):
        db.apply({"t": more})


@pytest.mark.parametrize(
    ("strategy", "mode"), [("higher-order", "batch"), ("first-order", "tuple")]
)
def test_numbers_of_different_digits_are_keys_of_one_another(strategy: Any, mode: Any) -> None:
    """A number is sought among those with fewer digits; one with more of them equals none."""
    views = {
        "joined": "SELECT t.k, t.e, t.d FROM t JOIN u ON t.e = u.z AND t.k = u.k",
        "alone": "SELECT a.e, b.d FROM t a LEFT JOIN t b ON a.e = b.d",
        "member": "SELECT z FROM u WHERE z NOT IN (SELECT e FROM t WHERE t.k = u.k)",
        "latest": "SELECT x, d FROM t a WHERE d = (SELECT MAX(e) FROM t b WHERE b.x = a.d)",
        "most": "SELECT z FROM u WHERE z = (SELECT MAX(d) FROM t WHERE t.e = u.z)",
    }
    rows = [
        (1, 1, 1, Decimal("1.00"), Decimal("1.0000")),
        (1, 2, None, Decimal("1.25"), Decimal("1.2500")),
        (1, 2, 2, Decimal("2.00"), Decimal("1.0001")),
        (2, 1, None, Decimal("-2.00"), None),
        (2, 2, 3, Decimal("0.00"), Decimal("-2.0000")),
    ]
    others = [(1, 1, None), (1, -2, "a"), (2, -2, "a"), (2, 0, None)]
    engines = [freshview.connect(strategy, mode, engine=e) for e in ("reference", "native")]
    for db in engines:
        db.execute(SCHEMA + "".join(f"CREATE VIEW {n} AS {sql};" for n, sql in views.items()))
    batches = [{"t": rows[:3], "u": others[:1]}, {"t": rows[3:]}, {"u": others[1:]}]
    seen: set[str] = set()
    for sign in (1, -1, 1):
        for batch in batches:
            for db in engines:
                db.apply({name: [(row, sign) for row in new] for name, new in batch.items()})
            for view in views:
                first, second = (shown(db, view) for db in engines)
                assert first == second, (view, sign, batch)
                seen.update({view} if first else ())
    assert seen == views.keys()
