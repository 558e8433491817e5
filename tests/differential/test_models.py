"""Models from a maintained cofactor: after every batch what scikit-learn makes of the whole join.

The join is recomputed and exported by DuckDB; rows come and go at random, several streams in one
batch, with NULLs among them.
"""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import combinations
from typing import Any

import duckdb
import numpy as np
import pytest
from sklearn import decomposition, linear_model, metrics, preprocessing

import freshview as fv
from freshview.runtime.compile import kernels
from tests.thin import thin

TABLES = {
    "sales": "item INT NOT NULL, store INT NOT NULL, units DOUBLE NOT NULL, promo DOUBLE",
    "items": "item INT NOT NULL, price DECIMAL(8, 2) NOT NULL, kind STRING",
    "weather": "store INT NOT NULL, rain DOUBLE NOT NULL, wind INT NOT NULL, sky STRING NOT NULL",
}
JOIN = "FROM sales NATURAL JOIN items NATURAL JOIN weather"
NUMBERS = ["units", "promo", "price", "rain", "wind"]
KINDS, SKIES = ["bread", "fruit", "milk", None], ["blue", "dark", "grey"]
CLOSE = {"rtol": 1e-8, "atol": 1e-8}

Row = tuple[Any, ...]


class Shop:
    """The same random changes for a database of ours and, as rows, for DuckDB."""

    def __init__(self, seed: str, engine: str) -> None:
        self.rng = random.Random(seed)
        self.live: dict[str, list[Row]] = {name: [] for name in TABLES}
        self.db = fv.connect(engine=engine)  # type: ignore[arg-type]
        for name, columns in TABLES.items():
            self.db.execute(f"CREATE STREAM {name} ({columns})")

    def row(self, name: str) -> Row:
        rng = self.rng
        item, store = rng.randrange(6), rng.randrange(4)
        match name:
            case "sales":
                promo = None if rng.random() < 0.1 else rng.gauss(0, 2)
                return item, store, rng.gauss(5, 3), promo
            case "items":
                return item, Decimal(rng.randrange(100, 2000)) / 100, rng.choice(KINDS)
            case _:
                return store, rng.expovariate(0.5), rng.randrange(9), rng.choice(SKIES)

    def change(self, most: int = 8) -> None:
        """A batch over some of the streams; a third of it goes."""
        batch: dict[str, list[tuple[Row, int]]] = {}
        for name in self.rng.sample(sorted(TABLES), self.rng.randint(1, 3)):
            live, rows = self.live[name], batch.setdefault(name, [])
            for _ in range(self.rng.randint(1, most)):
                if live and self.rng.random() < 0.35:
                    rows.append((live.pop(self.rng.randrange(len(live))), -1))
                else:
                    new = self.row(name)
                    live.append(new)
                    rows.append((new, 1))
        self.db.apply(batch)

    def export(self, columns: list[str], where: str = "") -> list[Row]:
        """The whole join, without rows in which one of the columns is NULL."""
        duck = duckdb.connect()
        for name, declared in TABLES.items():
            duck.execute(f"CREATE TABLE {name} ({declared})")
            if self.live[name]:
                marks = ", ".join("?" for _ in self.live[name][0])
                duck.executemany(f"INSERT INTO {name} VALUES ({marks})", self.live[name])
        known = " AND ".join(f"{c} IS NOT NULL" for c in columns)
        more = f" AND {where}" if where else ""
        return duck.execute(f"SELECT {', '.join(columns)} {JOIN} WHERE {known}{more}").fetchall()


@pytest.fixture(params=["reference", pytest.param("native", marks=pytest.mark.native)])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "native" and kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")
    return str(request.param)


def array(rows: list[Row]) -> Any:
    return np.array([[float(x) for x in row] for row in rows])


def close(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs, **CLOSE)


def same_regression(model: Any, theirs: Any, x: Any, y: Any) -> None:
    theirs.fit(x, y)
    ours = model.now()
    close(ours.coef_, theirs.coef_)
    close(ours.intercept_, theirs.intercept_)
    close(ours.predict(x), theirs.predict(x))
    close(ours.score(), theirs.score(x, y))
    close(ours.score(x, y), theirs.score(x, y))


@pytest.mark.parametrize("seed", thin(range(3), 3))
def test_continuous(engine: str, seed: int) -> None:
    shop = Shop(f"continuous {seed}", engine)
    for _ in range(8):
        shop.change()  # the cofactor starts with the data so far
    cof = fv.models.Cofactor(shop.db, f"SELECT {', '.join(NUMBERS)} {JOIN} WHERE price > 3")
    assert cof.engine == engine
    features = [c for c in NUMBERS if c != "units"]
    plain = fv.models.LinearRegression(cof, "units")
    steep = fv.models.LinearRegression(cof, "units", solver="gradient")
    origin = fv.models.LinearRegression(cof, "units", fit_intercept=False)
    some = fv.models.LinearRegression(cof, "rain", ["wind", "units"])
    ridge = fv.models.Ridge(cof, "units", alpha=3.5)
    downhill = fv.models.Ridge(cof, "units", alpha=3.5, solver="gradient")
    pca = fv.models.PCA(cof)
    two = fv.models.PCA(cof, ["price", "rain", "wind"], n_components=2)
    compared = 0
    for _ in range(25):
        shop.change()
        m = array(shop.export(NUMBERS, "price > 3"))
        assert cof.count() == len(m)
        if len(m) < 30:
            continue
        y, x = m[:, 0], m[:, 1:]
        same_regression(plain, linear_model.LinearRegression(), x, y)
        same_regression(steep, linear_model.LinearRegression(), x, y)
        same_regression(origin, linear_model.LinearRegression(fit_intercept=False), x, y)
        same_regression(some, linear_model.LinearRegression(), m[:, [4, 0]], m[:, 3])
        same_regression(ridge, linear_model.Ridge(alpha=3.5, solver="cholesky"), x, y)
        same_regression(downhill, linear_model.Ridge(alpha=3.5, solver="cholesky"), x, y)
        assert list(plain.feature_names_in_) == features
        close(cof.mean(), m.mean(axis=0))
        close(cof.covariance(), np.cov(m.T))
        close(cof.correlation(), np.corrcoef(m.T))
        same_components(pca, decomposition.PCA(), m)
        same_components(two, decomposition.PCA(n_components=2), m[:, 2:])
        compared += 1
    assert compared > 10


def same_components(ours: Any, theirs: Any, m: Any) -> None:
    theirs.fit(m)
    close(ours.mean_, theirs.mean_)
    close(ours.explained_variance_, theirs.explained_variance_)
    close(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    close(ours.singular_values_, theirs.singular_values_)
    close(ours.components_, theirs.components_)
    close(ours.transform(m), theirs.transform(m))
    close(ours.inverse_transform(ours.transform(m)), theirs.inverse_transform(theirs.transform(m)))


def test_groups(engine: str) -> None:
    shop = Shop("groups", engine)
    cof = fv.models.Cofactor(
        shop.db, f"SELECT store, units, price, rain {JOIN} GROUP BY store", order="store - item"
    )
    model = fv.models.LinearRegression(cof, "units", ["price"])
    compared = 0
    for _ in range(40):
        shop.change(6)
        rows = shop.export(["store", "units", "price", "rain"])
        groups = sorted({row[0] for row in rows})
        assert sorted(cof.groups()) == [(g,) for g in groups]
        if rows:
            m = array(rows)[:, 1:]
            close(cof.mean(), m.mean(axis=0))
        for g in groups:
            m = array([row[1:] for row in rows if row[0] == g])
            assert cof.count(g) == len(m)
            if len(set(m[:, 0])) > 2 and len(set(m[:, 1])) > 2:
                same_regression(model[g], linear_model.LinearRegression(), m[:, 1:2], m[:, 0])
                compared += 1
    assert compared > 30


@pytest.mark.parametrize("seed", thin(range(2), 2))
def test_categorical(engine: str, seed: int) -> None:
    shop = Shop(f"categorical {seed}", engine)
    columns = ["units", "price", "kind", "sky", "store"]
    sql = f"SELECT {', '.join(columns)} {JOIN}"
    for _ in range(4):
        shop.change()
    cof = fv.models.Cofactor(shop.db, sql, categorical=["kind", "sky", "store"])
    assert cof.engine == engine
    plain = fv.models.LinearRegression(cof, "units", ["price", "kind", "sky"])
    ridge = fv.models.Ridge(cof, "units", ["price", "kind", "sky"], drop=None)
    short = fv.models.LinearRegression(
        cof, "units", ["price", "kind"], drop=None, singular="least-norm"
    )
    pca = fv.models.PCA(cof, ["price", "kind"])
    information = fv.models.MutualInformation(cof)
    tree = fv.models.ChowLiu(cof)
    compared = 0
    for _ in range(20):
        shop.change()
        rows = shop.export(columns)
        if len(rows) < 30 or len({r[2] for r in rows}) < 2 or len({r[3] for r in rows}) < 2:
            continue
        y = np.array([r[0] for r in rows])
        price = np.array([[float(r[1])] for r in rows])
        names = [[r[2], r[3]] for r in rows]
        inputs = {"price": price[:, 0], "kind": [n[0] for n in names], "sky": [n[1] for n in names]}
        for model, theirs, drop in (
            (plain, linear_model.LinearRegression(), "first"),
            (ridge, linear_model.Ridge(alpha=1.0, solver="cholesky"), None),
        ):
            onehot = preprocessing.OneHotEncoder(drop=drop, sparse_output=False)
            x = np.hstack([price, onehot.fit_transform(names)])
            theirs.fit(x, y)
            close(model.coef_, theirs.coef_)
            close(model.intercept_, theirs.intercept_)
            close(model.predict(inputs), theirs.predict(x))
            close(model.score(), theirs.score(x, y))
        onehot = preprocessing.OneHotEncoder(sparse_output=False)
        x = np.hstack([price, onehot.fit_transform([[n[0]] for n in names])])
        close(short.coef_, linear_model.LinearRegression().fit(x, y).coef_)
        close(cof.covariance(["price", "kind"]), np.cov(x.T))
        close(pca.explained_variance_, decomposition.PCA().fit(x).explained_variance_)
        same_information(information.now(), tree.now(), rows)
        compared += 1
    assert compared > 5


def same_information(ours: Any, tree: Any, rows: list[Row]) -> None:
    at = {"kind": 2, "sky": 3, "store": 4}
    weight = {
        (a, b): metrics.mutual_info_score([r[at[a]] for r in rows], [r[at[b]] for r in rows])
        for a, b in combinations(at, 2)
    }
    for (a, b), w in weight.items():
        close(ours.of(a, b), w)
    best = max(sum(weight[e] for e in edges) for edges in combinations(weight, 2))
    close(sum(tree.weights_), best)
    assert len(tree.edges_) == 2
    assert set(tree.parents("sky")) == set(at)
