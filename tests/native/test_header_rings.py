"""Rings of C++ headers in kernels: after every batch the same as their Python twins."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import freshview as fv
from freshview.errors import FreshviewError
from freshview.runtime.compile import kernels

needs_compiler = pytest.mark.skipif(kernels.compiler() is None, reason="there is no C++ compiler")
pytestmark = [pytest.mark.native, needs_compiler]

HEADERS = {
    "RingAvg": """
struct RingAvg {
    int count;
    long sum;  // not right behind the count
    static RingAvg zero;
    RingAvg(int c, long s) : count(c), sum(s) {}
    RingAvg() : count(0), sum(0) {}
    RingAvg& operator+=(const RingAvg& r) { count += r.count; sum += r.sum; return *this; }
};
RingAvg RingAvg::zero = RingAvg(0, 0);
RingAvg operator*(const RingAvg& l, const RingAvg& r) {
    return RingAvg(l.count * r.count, l.sum * r.count + r.sum * l.count);
}
RingAvg operator*(int alpha, const RingAvg& r) { return RingAvg(alpha * r.count, alpha * r.sum); }
RingAvg f(int postcode) { return RingAvg(1, postcode); }
""",
    "Moments": """
#pragma once
#include "power.hpp"
namespace { double twice(double x) { return x + x; } }
class Moments {
    int unused = 0;  // the numbers below are read, this one is not
  public:
    double rows = 0, sums[2] = {0, 0};
    static const Moments zero;
    Moments() = default;
    Moments(double n, double s, double q) : rows(n), sums{s, q} {}
    bool isZero() const { return rows == 0 && sums[0] == 0 && sums[1] == 0; }
    void operator+=(const Moments& m) {
        rows += m.rows, sums[0] += m.sums[0], sums[1] += m.sums[1];
    }
};
const Moments Moments::zero;
Moments operator*(const Moments& a, const Moments& b) {
    return Moments(a.rows * b.rows, a.sums[0] * b.rows + b.sums[0] * a.rows,
                   a.sums[1] * b.rows + b.sums[1] * a.rows + twice(a.sums[0] * b.sums[0]));
}
Moments operator*(int n, const Moments& m) {
    return Moments(n * m.rows, n * m.sums[0], n * m.sums[1]);
}
Moments f(double x) { return Moments(1, x, power(x, 2)); }
""",
}
POWER = "inline double power(double x, int n) { return n ? x * power(x, n - 1) : 1; }\n"
TABLES = (
    "CREATE STREAM r (a INT NOT NULL, b INT); CREATE STREAM s (a INT NOT NULL, c INT NOT NULL);"
)
VIEWS = """
CREATE VIEW whole AS SELECT SUM([{f}](b)) AS p FROM r NATURAL JOIN s;
CREATE VIEW both AS SELECT a, SUM([{f}](b) * [{f}](c)) AS p FROM r NATURAL JOIN s GROUP BY a;
"""


def average(x: Any) -> tuple[float, ...]:
    """The numbers of a pair; zero is a whole number in the reference engine."""
    return (x.count, x.sum) if x else (0, 0)


def moments(x: Any) -> tuple[float, ...]:
    """The numbers of the cofactor of the only variable, x."""
    return (x.count, x.sums.get("x", 0), x.products.get(("x", "x"), 0)) if x else (0, 0, 0)


def started(engine: Any, script: Path, text: str) -> fv.Database:
    db = fv.connect(engine=engine)
    db.execute(text, str(script))
    return db


@pytest.mark.parametrize(
    ("ring", "twin", "numbers"),
    [("RingAvg", "pair: Pair", average), ("Moments", "square: Cofactor", moments)],
)
def test_the_same_as_its_twin_in_python(
    ring: str, twin: str, numbers: Callable[[Any], tuple[float, ...]], tmp_path: Path
) -> None:
    (tmp_path / "ring.hpp").write_text(HEADERS[ring])
    (tmp_path / "power.hpp").write_text(POWER)
    script = tmp_path / "q.sql"
    script.touch()
    declared = f"{TABLES} CREATE TYPE {ring} FROM FILE 'ring.hpp'; {VIEWS.format(f=f'f: {ring}')}"
    native = started("native", script, declared)
    words = VIEWS.format(f=twin).replace("[square: Cofactor](", "[cofactor: Cofactor]('x', ")
    reference = started("reference", script, TABLES + words)
    rng, live = random.Random(ring), {"r": [], "s": []}  # type: ignore[var-annotated]
    seen = set()
    for _ in range(25):
        name = rng.choice("rs")
        rows = [live[name].pop() for _ in range(rng.randint(0, len(live[name])) // 2)]
        new = [
            (rng.randrange(3), None if name == "r" and rng.random() < 0.2 else rng.randint(-9, 9))
            for _ in range(rng.randint(0, 6))
        ]
        live[name] += new
        rng.shuffle(live[name])
        change = {name: [*((row, -1) for row in rows), *((row, 1) for row in new)]}
        for db in (native, reference):
            db.apply(change)
        for view in ("whole", "both"):
            here = {row[:-1]: tuple(row[-1]) for row in native.view(view).rows()}
            there = {row[:-1]: numbers(row[-1]) for row in reference.view(view).rows()}
            # A group whose rows are all unknown is there, except among cofactors.
            assert {k: x for k, x in here.items() if any(x)} == {
                k: x for k, x in there.items() if any(x)
            }
            seen.update(here.values())
    assert len(seen) > 20
    assert native.view("both").engine == "native"


def test_arrow_has_a_column_for_every_number(tmp_path: Path) -> None:
    (tmp_path / "ring.hpp").write_text(HEADERS["RingAvg"])
    script = tmp_path / "q.sql"
    script.touch()
    text = f"{TABLES} CREATE TYPE RingAvg FROM FILE 'ring.hpp'; {VIEWS.format(f='f: RingAvg')}"
    db = started("auto", script, text)
    db.apply({"r": [((1, 5), 2)], "s": [((1, 7), 1)]})
    assert db.view("both").engine == "native"  # no other engine could serve it, not even for now
    assert db.view("both").to_arrow().to_pylist() == [{"a": 1, "p.count": 2, "p.sum": 24}]
    assert db.view("both").lookup(a=1) == [(1, (2, 24))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class P { int n; public: static P zero;", "no number of the ring P .* is public"),
        ("struct P { int n; P(const P& p) : n(p.n) {} P() {} static P zero;", "byte by byte"),
    ],
)
def test_what_a_kernel_cannot_hold_is_refused(text: str, said: str, tmp_path: Path) -> None:
    rest = " P& operator+=(P); }; P operator*(P, P); P operator*(int, P); P f(int);"
    (tmp_path / "ring.hpp").write_text(text + rest)
    script = tmp_path / "q.sql"
    script.touch()
    with pytest.raises(FreshviewError, match=said):
        started(
            "native",
            script,
            f"{TABLES} CREATE TYPE P FROM FILE 'ring.hpp';"
            "CREATE VIEW v AS SELECT SUM([f: P](b)) FROM r",
        )


WEIGHED = """
CREATE TYPE RingAvg FROM FILE 'ring.hpp';
CREATE STREAM r (a INT, b DOUBLE); CREATE TABLE s (a INT, c INT, d DECIMAL(8, 2));
CREATE VIEW both AS SELECT c, SUM([f: RingAvg](a) * (a * 2) * (b + 1) * d) AS p
  FROM r NATURAL JOIN s GROUP BY c;
"""
DOUBLE_PRODUCT = """
RingAvg operator*(double x, const RingAvg& r) { return RingAvg(x * r.count, x * r.sum); }
"""


@pytest.mark.parametrize("strategy", ["auto", "higher-order", "first-order", "factorized"])
def test_a_double_beside_an_element(strategy: Any, tmp_path: Path) -> None:
    """Listing 4.8: what is not a whole number scales an element, by the header's own operator."""
    header = HEADERS["RingAvg"].replace("int count;\n    long sum;", "double count, sum;")
    header = header.replace("int c, long s", "double c, double s") + DOUBLE_PRODUCT
    (tmp_path / "ring.hpp").write_text(header)
    script = tmp_path / "q.sql"
    script.touch()
    db = fv.connect(engine="native", strategy=strategy)
    db.execute(WEIGHED, str(script))
    db.load("s", [(1, 7, Decimal("0.50")), (2, 7, Decimal("2.25"))])
    rows = [(1, 0.5), (1, 2.0), (2, -0.25), (2, None)]
    live: list[tuple[int, float | None]] = []
    for change in ([0, 1], [2, 3], [~0], [~2, ~3]):
        for i in change:
            row = rows[i if i >= 0 else ~i]
            db.apply({"r": [(row, 1 if i >= 0 else -1)]})
            live.append(row) if i >= 0 else live.remove(row)
        weights = [
            (a, a * 2 * (b + 1) * (0.5 if a == 1 else 2.25)) for a, b in live if b is not None
        ]
        expected = (sum(w for _, w in weights), sum(a * w for a, w in weights))
        [(c, element)] = db.view("both").rows()
        assert (c, tuple(element)) == (7, pytest.approx(expected))


def test_a_double_is_not_cut_off_to_an_int(tmp_path: Path) -> None:
    (tmp_path / "ring.hpp").write_text(HEADERS["RingAvg"])
    script = tmp_path / "q.sql"
    script.touch()
    db = fv.connect(engine="native")
    with pytest.raises(FreshviewError, match=r"add RingAvg operator\*\(double, const RingAvg&\)"):
        db.execute(WEIGHED, str(script))
