"""Models keep their digits: means far from zero, large rows that came and went, on every engine.

What is right is computed by NumPy from rows whose offset was taken away before: doubles near zero.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import freshview as fv
from freshview.runtime.compile import kernels

SINGLE = "CREATE STREAM a (k INT NOT NULL, x DOUBLE NOT NULL, z DOUBLE NOT NULL, y DOUBLE NOT NULL)"
JOINED = """
CREATE STREAM a (k INT NOT NULL, x DOUBLE NOT NULL, z DOUBLE NOT NULL);
CREATE STREAM b (k INT NOT NULL, y DOUBLE NOT NULL)
"""
CLOSE = {"rtol": 1e-8, "atol": 0.0}
Rows = list[tuple[Any, ...]]


@pytest.fixture(params=["reference", pytest.param("native", marks=pytest.mark.native)])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "native" and kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")
    return str(request.param)


@pytest.fixture(params=["single", "join"])
def shape(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class World:
    """A database with a cofactor, and the rows that are in the join now."""

    def __init__(self, engine: str, shape: str, offset: float, **options: Any) -> None:
        self.db = fv.connect(engine=engine, **options)  # type: ignore[arg-type]
        self.shape, self.offset = shape, offset
        self.db.execute(SINGLE if shape == "single" else JOINED)
        source = "a" if shape == "single" else "a NATURAL JOIN b"
        self.cof = fv.models.Cofactor(self.db, f"SELECT x, z, y FROM {source}")
        self.model = fv.models.LinearRegression(self.cof, "y")
        self.pca = fv.models.PCA(self.cof)
        self.rng = np.random.default_rng(7)
        self.rows: Rows = []

    def fresh(self, n: int, first: int = 0, keys: int = 10**9) -> Rows:
        """Rows (k, x, z, y) of the usual size."""
        x, z, e = self.rng.normal(size=(3, n))
        columns = (x, z + 0.5 * x, 2 * x - z + 0.1 * e)
        shifted = [(c + self.offset).tolist() for c in columns]
        return [((first + i) % keys, *row) for i, row in enumerate(zip(*shifted, strict=True))]

    def change(self, rows: Rows, sign: int = 1) -> None:
        if self.shape == "single":
            self.db.apply({"a": [(row, sign) for row in rows]})
        else:
            left = [((k, x, z), sign) for k, x, z, _ in rows]
            self.db.apply({"a": left, "b": [((k, y), sign) for k, _, _, y in rows]})

    def insert(self, rows: Rows) -> None:
        self.rows += rows
        self.change(rows)

    def delete(self, rows: Rows) -> None:
        for row in rows:
            self.rows.remove(row)
        self.change(rows, -1)

    def check(self) -> None:
        """Where every key has one row on each side."""
        self.compare(np.array([row[1:] for row in self.rows]))

    def compare(self, values: Any) -> None:
        """All models, without a warning."""
        near = values - self.offset  # exact: the doubles are close to each other
        x, y = near[:, :2], near[:, 2]
        centred = x - x.mean(axis=0)
        coef = np.linalg.lstsq(centred, y - y.mean(), rcond=None)[0]
        covariance = np.cov(near, rowvar=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_allclose(self.model.coef_, coef, **CLOSE)
            np.testing.assert_allclose(self.cof.covariance(), covariance, **CLOSE)
            np.testing.assert_allclose(
                self.pca.explained_variance_, np.linalg.eigvalsh(covariance)[::-1], **CLOSE
            )
            np.testing.assert_allclose(self.cof.mean(), values.mean(axis=0), **CLOSE)
            constant = y.mean() - coef @ x.mean(axis=0) + self.offset * (1 - coef.sum())
            size = abs(self.offset) * np.abs(coef).sum() + 1
            assert abs(self.model.intercept_ - constant) < 1e-8 * size

    @property
    def refills(self) -> int:
        [group] = [g for g in self.db.state.groups if g.views[0].query.name == self.cof.name]
        return group.refills


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8, -1e8])
def test_means_far_from_zero(engine: str, shape: str, offset: float) -> None:
    w = World(engine, shape, offset)
    for i in range(4):
        w.insert(w.fresh(50, 50 * i))
        w.check()
    w.delete(w.rows[::3])
    w.check()
    w.delete(w.rows[3:])  # three rows are left
    w.insert(w.fresh(20, 1000))
    w.check()
    assert w.refills <= 2
    assert ("about a centre" in w.cof.explain()) == (engine == "native")


@pytest.mark.parametrize("size", [1e7, 1e10, 1e100])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_large_rows_come_and_go(engine: str, shape: str, size: float, offset: float) -> None:
    w = World(engine, shape, offset)
    w.insert(w.fresh(100))
    w.check()
    big = [(1000, size, 1.5 * size, -size), (1001, 0.3 * size, -size, size)]
    w.change(big)
    w.change(w.fresh(5, 2000), 1)  # with no read while they are there
    w.change(big, -1)
    w.rng = np.random.default_rng(7)
    w.fresh(100)
    w.rows += w.fresh(5, 2000)
    w.check()
    w.change(big)
    w.cof.covariance()  # with one
    w.change(big, -1)
    w.check()
    w.insert(w.fresh(10, 3000))
    w.check()


def test_large_rows_within_a_batch(engine: str, shape: str) -> None:
    w = World(engine, shape, 0.0)
    old = (1000, 3e10, 1e10, 2e10)
    new = (1000, 3.1e10, 1e10, 2.2e10)
    w.insert(w.fresh(60))
    w.change([old])
    if shape == "single":
        w.db.apply({"a": [(old, -1), (new, 1)]})
    else:
        w.db.apply(
            {"a": [(old[:3], -1), (new[:3], 1)], "b": [((1000, old[3]), -1), ((1000, new[3]), 1)]}
        )
    w.change([new], -1)
    w.check()


@pytest.mark.parametrize("side", ["a", "b", "both"])
@pytest.mark.parametrize("late", [False, True])
def test_large_rows_in_a_group_with_others(engine: str, side: str, late: bool) -> None:
    """Keys have many rows on both sides; with `late`, the other side has none at that time."""
    w = World(engine, "join", 0.0)
    left = [((i % 5, *row[1:3]), 1) for i, row in enumerate(w.fresh(60))]
    right = [((i % 5, row[3]), 1) for i, row in enumerate(w.fresh(30))]
    big = {"a": [((2, 1e9, -3e9), 1)], "b": [((2, 4e9), 1)]}
    chosen = {n: rows for n, rows in big.items() if side in (n, "both")}
    hidden = "b" if side == "a" else "a"
    first = {"a": left, "b": right}
    w.db.apply({n: rows for n, rows in first.items() if not (late and n == hidden)})
    w.db.apply(chosen)
    w.db.apply({n: [(row, -1) for row, _ in rows] for n, rows in chosen.items()})
    if late:
        w.db.apply({hidden: first[hidden]})
    values = [(x, z, y) for (k, x, z), _ in left for (j, y), _ in right if k == j]
    w.compare(np.array(values))


def test_partners_come_and_go(engine: str) -> None:
    """A large row that stays, but meets no other any more."""
    w = World(engine, "join", 0.0)
    w.insert(w.fresh(50))
    w.db.insert("a", [(99, 1e9, 2e9)])
    w.db.insert("b", [(99, 1.0)] * 7)
    w.db.delete("b", [(99, 1.0)] * 7)
    w.check()


@pytest.mark.native
def test_a_kernel_that_takes_over() -> None:
    if kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")
    w = World("auto", "single", 1e7)
    for i in range(5):
        w.insert(w.fresh(600, 600 * i))
        w.check()
    for job in w.db._tiering.jobs:
        job.wait(120)
    w.insert(w.fresh(10, 9000))
    assert w.cof.engine == "native"
    w.check()


def test_ordinary_data_costs_nothing(engine: str, shape: str) -> None:
    w = World(engine, shape, 3.0)
    for i in range(5):
        w.insert(w.fresh(60, 60 * i))
        w.delete(w.rows[::4])
        w.check()
    assert w.refills == 0


def test_tails_that_are_heavy_cost_nothing(engine: str) -> None:
    w = World(engine, "single", 0.0)
    values = np.random.default_rng(1).standard_cauchy(size=(3000, 3)).tolist()
    w.insert([(i, *row) for i, row in enumerate(values)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for row in sorted(w.rows, key=lambda r: abs(r[1]))[:50]:
            w.delete([row])
            w.cof.covariance()
    assert w.refills == 0


def test_constant_columns(engine: str) -> None:
    w = World(engine, "single", 0.0)
    w.insert([(i, 0.1 + 1e8, float(i % 7), float(i % 3)) for i in range(40)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (w.cof.covariance()[0] == 0).all()
        with pytest.raises(fv.models.SingularSystem, match="'x' is constant"):
            _ = w.model.coef_
        odd = (100, 7.0, 0.0, 0.0)
        w.insert([odd])
        assert w.cof.covariance()[0, 0] > 0
        w.delete([odd])  # constant again
        assert (w.cof.covariance()[0] == 0).all()


def test_emptied_and_filled_again(engine: str, shape: str) -> None:
    w = World(engine, shape, 0.0)
    w.insert([(1, 1e16, 1.0, 3.0), (2, 0.1, 1e16, 0.2)])
    w.delete(list(w.rows))
    w.insert([(3, 5.0, 1.0, 2.0)])
    np.testing.assert_allclose(w.cof.mean(), [5.0, 1.0, 2.0], rtol=1e-12)
    w.insert(w.fresh(10, 10))
    w.check()


def test_snapshots_keep_the_centre(engine: str, tmp_path: Any) -> None:
    w = World(engine, "join", 1e8)
    w.insert(w.fresh(80))
    w.check()
    shown = w.cof.element()
    w.db.snapshot(tmp_path)
    w.db = fv.restore(tmp_path)
    w.cof = fv.models.Cofactor.attach(w.db, w.cof.name)
    w.model, w.pca = fv.models.LinearRegression(w.cof, "y"), fv.models.PCA(w.cof)
    assert w.cof.element() == shown
    w.check()
    w.insert(w.fresh(10, 500))
    w.check()
    assert w.refills == 0


def test_writers_follow_a_refill(engine: str) -> None:
    w = World(engine, "single", 1e7)
    writer = w.db.writer("a")
    for row in w.fresh(40):
        writer.insert(*row)
        w.rows.append(row)
    w.check()
    for row in w.fresh(40, 100):
        writer.insert(*row)
        w.rows.append(row)
    w.check()


def test_readers_see_the_numbers_themselves(engine: str) -> None:
    w = World(engine, "single", 1e6)
    w.insert(w.fresh(30))
    w.check()
    values = np.array([row[1:] for row in w.rows])
    element = w.cof.element()
    assert element.sums["x"] == pytest.approx(values[:, 0].sum(), rel=1e-14)
    assert element.product("x", "y") == pytest.approx(values[:, 0] @ values[:, 2], rel=1e-14)
    [row] = w.cof.to_arrow().to_pylist()
    assert row["payload[]"] == 30
    assert row["payload[z, z]"] == pytest.approx(values[:, 1] @ values[:, 1], rel=1e-14)
    assert row["payload[x]"] == element.sums["x"]


def test_categories_beside_a_far_mean(engine: str) -> None:
    db = fv.connect(engine=engine)  # type: ignore[arg-type]
    db.execute("CREATE STREAM r (c STRING NOT NULL, x DOUBLE NOT NULL, y DOUBLE NOT NULL)")
    cof = fv.models.Cofactor(db, "SELECT c, x, y FROM r", categorical=["c"])
    rng = np.random.default_rng(3)
    kinds = ["a", "b", "c"] * 20
    x = rng.normal(size=60) + 1e7
    y = 3 * (x - 1e7) + np.array([ord(k) for k in kinds]) + 0.1 * rng.normal(size=60)
    db.insert("r", list(zip(kinds, x.tolist(), y.tolist(), strict=True)))
    design = np.column_stack([[k == "b" for k in kinds], [k == "c" for k in kinds], x - 1e7])
    centred = design - design.mean(axis=0)
    want = np.linalg.lstsq(centred, y - y.mean(), rcond=None)[0]
    model = fv.models.LinearRegression(cof, "y")
    assert model.coef_names_ == ("c=b", "c=c", "x")
    np.testing.assert_allclose(model.coef_, want, **CLOSE)


def test_through_the_origin(engine: str) -> None:
    w = World(engine, "single", 1e4)
    w.insert(w.fresh(100))
    w.cof.covariance()
    model = fv.models.LinearRegression(w.cof, "y", ["x"], fit_intercept=False)
    x, y = (np.array([row[i] for row in w.rows]) for i in (1, 3))
    np.testing.assert_allclose(model.coef_, [x @ y / (x @ x)], rtol=1e-12)
    residual = ((y - x * model.coef_[0]) ** 2).sum()
    total = ((y - y.mean()) ** 2).sum()
    np.testing.assert_allclose(model.score(), 1 - residual / total, rtol=1e-6)


GROUPS = "SELECT g, x, y FROM r GROUP BY g"


def grouped(engine: str, means: dict[int, float], **options: Any) -> tuple[Any, Any, Any]:
    db = fv.connect(engine=engine, **options)  # type: ignore[arg-type]
    db.execute("CREATE STREAM r (g INT NOT NULL, x DOUBLE NOT NULL, y DOUBLE NOT NULL)")
    cof = fv.models.Cofactor(db, GROUPS)
    rng = np.random.default_rng(5)
    data = {}
    for g, mean in means.items():
        x = rng.normal(size=50) + mean
        data[g] = np.column_stack([x, 2 * (x - mean) + rng.normal(size=50)])
        db.insert("r", [(g, *row) for row in data[g].tolist()])
    return db, cof, data


def test_groups_that_are_all_far(engine: str) -> None:
    _, cof, data = grouped(engine, {1: 1e8, 2: 1e8 + 40, 3: 1e8 - 3})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for g, values in data.items():
            near = values - [1e8, 0]
            np.testing.assert_allclose(cof.covariance(group=g), np.cov(near, rowvar=False), **CLOSE)
    assert len(cof.read()[1]) == 3


@pytest.mark.parametrize("far", [1e5, 1e8])
def test_groups_that_no_centre_serves(engine: str, far: float) -> None:
    """One centre is not near all the groups: few rows are added up without rounding."""
    _, cof, data = grouped(engine, {1: 0.0, 2: far, 3: -far})
    for g, mean in ((1, 0.0), (2, far), (3, -far)):
        want = np.cov(data[g] - [mean, 0], rowvar=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_allclose(cof.covariance(group=g), want, **CLOSE)
            _, read = cof.read()
            np.testing.assert_allclose(cof.moments(read[(g,)], ["x"]).scatter / 49, want[:1, :1])


@pytest.mark.native
@pytest.mark.parametrize(("far", "words"), [(1e5, "about [45] right digits"), (1e8, "taken as 0")])
def test_many_rows_in_groups_that_no_centre_serves(
    far: float, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")
    monkeypatch.setattr("freshview.models.cofactor.MOST_ROWS", 100)
    _, cof, data = grouped("native", {1: 0.0, 2: far, 3: -far})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        want = np.cov(data[1], rowvar=False)
        np.testing.assert_allclose(cof.covariance(group=1), want, **CLOSE)
    with pytest.warns(fv.models.DigitsLost, match=words):
        cof.covariance(group=2)


def test_small_deviations_from_a_round_number(engine: str) -> None:
    db = fv.connect(engine=engine)  # type: ignore[arg-type]
    db.execute("CREATE STREAM r (g INT NOT NULL, x DOUBLE NOT NULL, y DOUBLE NOT NULL)")
    cof = fv.models.Cofactor(db, GROUPS)
    for g, middle in enumerate((0.0, 1e8, 3e5, 7e4)):
        db.insert("r", [(g, middle + d, float(d)) for d in (-1, 0, 1)])
    for g in range(4):
        np.testing.assert_allclose(cof.covariance(group=g), [[1, 1], [1, 1]], **CLOSE)


def test_a_column_that_is_constant_in_each_group(engine: str) -> None:
    db = fv.connect(engine=engine)  # type: ignore[arg-type]
    db.execute("CREATE STREAM r (g INT NOT NULL, x DOUBLE NOT NULL, y DOUBLE NOT NULL)")
    cof = fv.models.Cofactor(db, GROUPS)
    db.insert("r", [(i % 9, 4.99 + (i % 9) * 1.1, float(i * i % 13)) for i in range(300)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for g in range(9):
            assert cof.covariance(group=g)[0, 0] == 0.0


@pytest.mark.native
def test_without_rows_it_warns_and_then_refuses() -> None:
    if kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")
    w = World("native", "single", 1e4, keep_rows=False)
    w.insert(w.fresh(100))
    with pytest.warns(
        fv.models.DigitsLost, match="'x' in 'cofactor_1' has about [67] right digits"
    ):
        _ = w.cof.covariance()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once
        _ = w.model.coef_
    gone = World("native", "single", 0.0, keep_rows=False)
    gone.insert(gone.fresh(100))
    gone.check()
    big = [(1000, 1e10, 1e10, 1e10)]
    gone.change(big)
    gone.change(big, -1)
    with pytest.raises(fv.models.NoDigits, match="no right digit"):
        _ = gone.model.coef_
    far = World("native", "single", 1e8, keep_rows=False)
    far.insert(far.fresh(100))
    with pytest.raises(fv.models.NoDigits, match="no right digit"):
        _ = far.pca.explained_variance_
