"""Plans: what rules do to them, what components they have, what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, timedelta
from random import Random

import pytest

from freshview.dataflow import Stream, count, from_sql, source, table, total
from freshview.dataflow.plan.physical import show_topology
from freshview.dataflow.plan.terms import BadPlan, Join
from freshview.dataflow.plan.theta_condition import Compared, Distance, local_conditions
from freshview.draw.svg import show_svg
from freshview.errors import AmbiguousName, BadRow, FreshviewError, UnknownName, UnsupportedSql
from freshview.sql.terms import Name

A = {"k": "int", "v": "int", "t": "int"}


def streams(*names: str) -> list[Stream]:
    return [source(n, A, time="t", delay=0) for n in names]


def test_conditions_go_down_and_columns_stay_away() -> None:
    a, b = streams("a", "b")
    plan = a.map(lambda r: {"k": r.k, "w": r.v + 1, "u": r.t}).join(b)
    plan = plan.filter(lambda r: (r.a.k == r.b.k) & (r.w > 3) & (r.b.v < 5))
    assert str(plan.group_by(lambda r: r.b.v).optimized()) == (
        "Aggregate by b.v: b.v, COUNT(*) AS n\n"
        "  Join on a.k = b.k\n"
        "    Project a.k\n"
        "      Project a.k, a.v + 1 AS w, a.t AS u\n"
        "        Filter (a.v + 1) > 3\n"
        "          Scan a\n"
        "    Project b.k, b.v\n"
        "      Filter b.v < 5\n"
        "        Scan b"
    )


def test_a_filter_stays_above_the_last_rows() -> None:
    """Else another row would be among the last ones."""
    a, b = (source(n, A, appends=True) for n in "ab")
    plan = a.join(b, lambda a, b: a.k == b.k).on_tuple_window(3).filter(lambda r: r.a.v > 2)
    assert str(plan.optimized()).splitlines() == [
        "Join on a.k = b.k and a.v > 2, window of the last 3 rows",
        "  Scan a",
        "  Scan b",
    ]
    groups = a.group_by(lambda r: r.k).on_tuple_window(3).filter(lambda g: g.k > 2)
    assert str(groups.optimized()).startswith("Filter k > 2")


def test_the_most_selective_join_comes_first() -> None:
    a, b, c = streams("a", "b", "c")
    plan = a.join(b, lambda a, b: a.v < b.v).join(c, lambda r, c: r.a.k == c.k)
    lines = str(plan.optimized()).splitlines()
    assert [line.strip() for line in lines] == [
        "Join on a.v < b.v",
        "Join on a.k = c.k",
        "Scan a",
        "Scan c",
        "Scan b",
    ]
    small = plan.optimized({"a": 1e6, "c": 1e6, "b": 1})
    assert str(small).startswith("Join on a.k = c.k")


def test_joins_of_other_windows_stay_in_their_order() -> None:
    a, b, c = streams("a", "b", "c")
    plan = a.join(b, lambda a, b: a.v < b.v).on_sliding_window(5)
    plan = plan.join(c, lambda r, c: r.a.k == c.k).on_sliding_window(9)
    assert plan.optimized().logical == plan.logical


def test_components() -> None:
    a, b, c = streams("a", "b", "c")
    plan = a.filter(lambda r: r.v > 1).join(b, lambda a, b: a.v < b.v)
    plan = plan.join(c, lambda r, c: r.b.k == c.k).group_by(lambda r: r.c.v, n=count())
    topology = plan.physical(joiners=8, sizes={"a": 1e4, "b": 20, "c": 1e4})
    kinds = {c.name: (c.kind, [str(e.by) for e in c.inputs]) for c in topology.components}
    assert kinds == {
        "a": ("source", []),
        "b": ("source", []),
        "c": ("source", []),
        "join": ("join", ["hash(b.k = c.k)"] * 2),
        "join_2": ("join", ["grid rows", "grid columns"]),
        "groups": ("groups", ["one place"]),
    }
    assert sum(c.parallelism for c in topology.components if c.kind == "join") <= 8
    text = show_topology(topology)
    assert "no key can partition both sides" in text
    assert "join_2 x" in show_svg(plan.picture(joiners=8))


def test_the_last_rows() -> None:
    """Beside a list of all rows, for groups and for a join."""
    random = Random(3)
    a, b = (source(n, {"k": "int", "v": "int"}, appends=True) for n in "ab")
    groups = a.group_by(lambda r: r.k, n=count(), s=lambda r: total(r.v)).on_tuple_window(5)
    pairs = a.join(b, lambda a, b: a.k == b.k).on_tuple_window(4)
    flow, joined = groups.run(engine="reference"), pairs.run(joiners=3, engine="reference")
    rows: list[tuple[int, int]] = []
    came: dict[str, list[tuple[tuple[int, int], int]]] = {"a": [], "b": []}
    for _ in range(12):
        batch = {
            n: [(random.randint(0, 2), random.randint(0, 9)) for _ in range(random.randint(0, 4))]
            for n in "ab"
        }
        rows += batch["a"]
        flow.push({"a": batch["a"]})
        last = rows[-5:]
        wanted = {
            (k, sum(r[0] == k for r in last), sum(r[1] for r in last if r[0] == k)) for k, _ in last
        }
        assert set(flow.rows()) == wanted
        seen = len(came["b"])
        came["a"] += [(row, seen) for row in batch["a"]]
        seen = len(came["a"])
        came["b"] += [(row, seen) for row in batch["b"]]
        joined.push(batch)
        assert Counter(joined.rows()) == Counter(
            (*r, *s)
            for i, (r, r_seen) in enumerate(came["a"])
            for j, (s, s_seen) in enumerate(came["b"])
            if r[0] == s[0] and (i >= s_seen - 4 if s_seen > i else j >= r_seen - 4)
        )


def test_dates_and_timestamps() -> None:
    day = source("day", {"d": "date", "v": "int"}, time="d", delay=1)
    flow = day.group_by(n=count()).on_tumbling_window(7).run(engine="reference")
    flow.push({"day": [(date(2024, 1, d), d) for d in (1, 3, 4, 9)]})
    # Weeks since 1970-01-01, a Thursday.
    assert sorted(flow.rows()) == [(date(2023, 12, 28), 2), (date(2024, 1, 4), 2)]
    at = source("at", {"t": "timestamp"}, time="t", delay=0)
    other = source("other", {"t": "timestamp"}, time="t", delay=0)
    near = at.join(other, lambda a, b: a.t >= b.t - timedelta(minutes=5))
    flow = near.on_sliding_window(600_000_000).run(engine="reference")
    noon = datetime(2024, 1, 1, 12)
    flow.push({"at": [(noon,)], "other": [(noon + timedelta(minutes=m),) for m in (-11, -9, 5, 6)]})
    late = [noon - timedelta(minutes=9), noon + timedelta(minutes=5)]
    assert sorted(row[1] for row in flow.rows()) == late


def test_days_are_not_microseconds() -> None:
    """A bound between a date and a timestamp is none that a band has."""
    plan = from_sql("""
        CREATE STREAM a (d DATE NOT NULL);
        CREATE STREAM b (ts TIMESTAMP NOT NULL);
        CREATE VIEW v AS SELECT a.d, b.ts FROM a JOIN b
          ON b.ts >= a.d + INTERVAL '1' DAY AND b.ts <= a.d + INTERVAL '2' DAY;
    """)
    first = date(2024, 1, 1)
    stamps = [datetime(2024, 1, d, h) for d, h in ((1, 5), (2, 5), (3, 0), (3, 1))]
    with plan.run(engine="reference") as flow:
        flow.push({"a": [(first,)], "b": [(t,) for t in stamps]})
        assert sorted(flow.rows()) == [(first, t) for t in stamps[1:3]]


def test_a_bound_without_a_distance_ends_a_band() -> None:
    join = pair(lambda a, b: (b.v >= a.v) & (b.v <= a.v + 5)).optimized().logical
    assert isinstance(join, Join)
    assert [c for c in local_conditions(join) if isinstance(c, Distance)] == [
        Distance(Name("v", "a"), Name("v", "b"), 0, 5)
    ]
    one = pair(lambda a, b: b.v >= a.v).optimized().logical
    assert isinstance(one, Join)
    assert [type(c) for c in local_conditions(one)] == [Compared]


def test_a_stream_beside_itself() -> None:
    (a,) = streams("a")
    flow = a.join(a.named("b"), lambda a, b: a.v < b.v).group_by(n=count()).run(joiners=2)
    flow.push({"a": [(1, 1, 0), (1, 2, 0), (1, 3, 0)]})
    assert flow.rows() == [(3,)]
    flow.apply({"a": [((1, 2, 0), -1)]})
    assert flow.rows() == [(1,)]


def test_tables_have_no_time() -> None:
    a = source("a", {"k": "int", "t": "int"}, time="t", delay=0)
    names = table("names", {"k": "int", "name": "string"})
    flow = a.join(names, lambda a, n: a.k == n.k).on_sliding_window(2).run(joiners=1)
    flow.push({"names": [(1, "one")]})
    flow.push({"a": [(1, 0), (1, 100)]})
    assert len(flow.rows()) == 2


def test_a_watermark_purges_joiners() -> None:
    a, b, c = streams("a", "b", "c")
    plan = a.join(b, lambda a, b: a.k == b.k).on_sliding_window(2)
    flow = plan.join(c, lambda r, c: r.a.k == c.k).on_sliding_window(2).run(joiners=2)
    for t in range(0, 400, 4):
        flow.push({n: [(1, 1, t)] for n in "abc"})
    assert len(flow.rows()) == 100
    assert all(m.purged_bytes > m.load for m in flow.metrics.values())


def test_a_bad_batch_leaves_all_as_it_was() -> None:
    a, b = streams("a", "b")
    flow = a.join(b, lambda a, b: 6 // (a.v - b.v) > 1, rowwise=True).run(joiners=1)
    flow.push({"a": [(1, 3, 0)]})
    with pytest.raises(ZeroDivisionError):
        flow.push({"b": [(1, 3, 0)]})
    with pytest.raises(BadRow):
        flow.push({"a": [(1, 5, 0)], "b": [(1, "x", 0)]})
    flow.push({"b": [(1, 1, 0)]})
    assert flow.rows() == [(1, 3, 0, 1, 1, 0)]


def test_half_of_a_batch_is_not_the_last_word() -> None:
    a, b, c = streams("a", "b", "c")
    plan = a.join(b, lambda a, b: a.k == b.k)
    flow = plan.join(c, lambda r, c: 1 // (r.a_v - c.v) > 0, rowwise=True).run()
    flow.push({"a": [(1, 3, 0)], "c": [(1, 3, 0)]})
    with pytest.raises(ZeroDivisionError):
        flow.push({"b": [(1, 1, 0)]})
    with pytest.raises(BadPlan, match="start the plan anew"):
        flow.push({"a": [(2, 3, 0)]})


def pair(on: Callable[..., object]) -> Stream:
    a, b = streams("a", "b")
    return a.join(b, on)


def near() -> Stream:
    return pair(lambda a, b: (a.v <= b.v + 2) & (a.v >= b.v - 1))


def test_a_join_by_ranges() -> None:
    by_ranges = near().explain(ranges={"join": [10, 20]})
    assert "<- a by range(a.v; 10, 20)" in by_ranges
    assert "<- b by range(b.v; 10, 20)" in by_ranges
    assert "join: join, 3 parts" in by_ranges
    rng = Random(3)
    rows = {name: [(k, rng.randrange(30), k) for k in range(60)] for name in "ab"}
    with near().run(ranges={"join": [10, 20]}) as flow, near().run() as other:
        assert flow.push(rows) == other.push(rows)
        assert flow.metrics["join"].storage.keys() == {0, 1, 2}
        assert Counter(flow.rows()) == Counter(other.rows())
        assert flow.rows()


REFUSED = {
    "a window over no time": (
        lambda: source("a", {"k": "int"}).group_by(n=count()).on_sliding_window(5),
        BadPlan,
        "no time",
    ),
    "the last rows of a join": (
        lambda: streams("a")[0].join(streams("b")[0]).group_by(n=count()).on_tuple_window(5),
        BadPlan,
        "only appends",
    ),
    "windows of a filter": (
        lambda: streams("a")[0].filter(lambda r: r.v > 1).on_sliding_window(5),
        BadPlan,
        "call join or group_by",
    ),
    "two of a name": (lambda: streams("a")[0].join(streams("a")[0]), AmbiguousName, "named"),
    "no column": (lambda: streams("a")[0].filter(lambda r: r.z > 1), UnknownName, "a.k"),
    "and": (lambda: streams("a")[0].filter(lambda r: r.k > 1 and r.v > 1), BadPlan, "write &"),
    "a constant": (lambda: streams("a")[0].filter(lambda r: True), BadPlan, "rowwise"),
    "no delay": (lambda: source("a", A, time="t"), BadPlan, "how late"),
    "no joiners": (lambda: streams("a")[0].run(joiners=0), BadPlan, "one or more"),
    "ranges of an equality": (
        lambda: pair(lambda a, b: a.k == b.k).explain(ranges={"join": [3]}),
        BadPlan,
        "cannot go by ranges",
    ),
    "ranges of no join": (
        lambda: near().run(ranges={"joint": [3]}),
        BadPlan,
        "no join is called 'joint'",
    ),
    "outer joins": (
        lambda: from_sql("CREATE STREAM r (a INT); SELECT r.a FROM r LEFT JOIN r s ON r.a = s.a"),
        UnsupportedSql,
        "connect",
    ),
    "subqueries": (
        lambda: from_sql("CREATE STREAM r (a INT); SELECT a FROM r WHERE a > (SELECT 1)"),
        BadPlan,
        "connect",
    ),
    "texts and numbers": (
        lambda: streams("a")[0].filter(lambda r: r.k > "x"),
        FreshviewError,
        "string",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    make, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        make()


def test_views_over_views() -> None:
    plan = from_sql("""
        CREATE STREAM r (a INT NOT NULL, b INT NOT NULL);
        CREATE VIEW per AS SELECT a, COUNT(*) AS n FROM r GROUP BY a;
        SELECT x.a, s.b FROM per x JOIN (SELECT b, a + 1 AS a FROM r) s ON x.n > s.b AND x.a <> s.a
    """)
    flow = plan.run(joiners=2)
    flow.push({"r": [(1, 1), (1, 0), (2, 1)]})
    assert sorted(flow.rows()) == sorted(
        (x, b)
        for x, n in ((1, 2), (2, 1))
        for a, b in ((1, 1), (1, 0), (2, 1))
        if n > b and x != a + 1
    )
