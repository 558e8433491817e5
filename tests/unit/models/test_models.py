"""What models say when they cannot answer, and how they follow versions."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import freshview as fv
from freshview.errors import BadRow, FreshviewError, TypeProblem, UnknownName
from freshview.models import (
    PCA,
    ChowLiu,
    Cofactor,
    EmptyJoin,
    LinearRegression,
    MutualInformation,
    NotConverged,
    Ridge,
    SingularSystem,
)
from freshview.models.information import spanning_tree

COLUMNS = "x DOUBLE NOT NULL, y DOUBLE NOT NULL, z DOUBLE NOT NULL, c STRING NOT NULL"


@pytest.fixture
def db() -> Any:
    db = fv.connect(engine="reference")
    db.execute(f"CREATE STREAM r ({COLUMNS})")
    return db


@pytest.fixture
def cof(db: Any) -> Cofactor:
    return Cofactor(db, "SELECT x, y, z, c FROM r", categorical=["c"], name="cof")


def test_unknown_columns(cof: Cofactor) -> None:
    with pytest.raises(UnknownName, match="'cof' has no column 'w'; its columns are x, y, z, c"):
        LinearRegression(cof, "w")
    with pytest.raises(UnknownName, match="no column 'w'"):
        LinearRegression(cof, "y", ["x", "w"])
    with pytest.raises(FreshviewError, match="label 'y' is among the features"):
        LinearRegression(cof, "y", ["x", "y"])
    with pytest.raises(FreshviewError, match="'x' is given twice"):
        LinearRegression(cof, "y", ["x", "X"])
    with pytest.raises(TypeProblem, match="label 'c' is categorical"):
        LinearRegression(cof, "c")
    with pytest.raises(TypeProblem, match="'x' is not categorical"):
        MutualInformation(cof, ["x", "c"])
    with pytest.raises(FreshviewError, match="needs two categorical columns"):
        ChowLiu(cof)
    for wrong in ({"alpha": -1.0}, {"solver": "magic"}, {"singular": "shrug"}, {"drop": "last"}):
        with pytest.raises(FreshviewError):
            LinearRegression(cof, "y", **wrong)  # type: ignore[arg-type]


def test_an_empty_join(db: Any, cof: Cofactor) -> None:
    model = LinearRegression(cof, "y", ["x"])
    with pytest.raises(EmptyJoin, match="the join of 'cof' has no rows"):
        _ = model.coef_
    with pytest.raises(EmptyJoin):
        cof.covariance()
    db.insert("r", [(1, 2, 3, "a")])
    with pytest.raises(EmptyJoin, match="more than 1 rows, 'cof' has 1"):
        cof.covariance()
    with pytest.raises(EmptyJoin, match="two rows"):
        _ = PCA(cof).components_
    db.delete("r", [(1, 2, 3, "a")])
    with pytest.raises(EmptyJoin):
        model.predict([[1.0]])


def test_singular_systems(db: Any, cof: Cofactor) -> None:
    db.insert("r", [(k, k * k, 3 * k + 1, "a") for k in range(9)])
    both = LinearRegression(cof, "y", ["x", "z"])
    with pytest.raises(SingularSystem, match="'z' depends on 'x'; leave it out, use Ridge") as e:
        _ = both.coef_
    assert "\n" not in str(e.value)
    shortest = LinearRegression(cof, "y", ["x", "z"], singular="least-norm")
    x = np.array([[k, 3 * k + 1] for k in range(9)], dtype=float)
    np.testing.assert_allclose(shortest.coef_, np.array([0.8, 2.4]))
    assert shortest.predict(x) == pytest.approx(LinearRegression(cof, "y", ["x"]).predict(x[:, :1]))
    assert np.isfinite(Ridge(cof, "y", ["x", "z"]).coef_).all()
    downhill = LinearRegression(cof, "y", ["x", "z"], solver="gradient")
    assert downhill.score() == pytest.approx(shortest.score())
    with pytest.raises(SingularSystem, match="'c=a' is constant"):
        _ = LinearRegression(cof, "y", ["c"], drop=None).coef_
    assert LinearRegression(cof, "y", ["c"]).intercept_ == pytest.approx(204 / 9)  # one category
    db.insert("r", [(1, 0, 0, "b")])
    with pytest.raises(SingularSystem, match="'c=b' depends on 'c=a'"):
        _ = LinearRegression(cof, "y", ["c"], drop=None).coef_
    assert both.coef_.shape == (2,)  # z is free now


def test_versions(db: Any, cof: Cofactor) -> None:
    db.insert("r", [(k, 2 * k, k % 3, "a") for k in range(9)])
    model = LinearRegression(cof, "y", ["x"])
    before = model.now()
    assert model.now() is before
    assert before.version == db.version
    db.insert("r", [(9, 0, 0, "b")])
    assert before.coef_ == pytest.approx([2.0])
    assert model.coef_ != pytest.approx([2.0])
    assert model.now().version == db.version == before.version + 1


def test_gradient_descent_starts_where_it_was(db: Any, cof: Cofactor) -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, 3)) * [1.0, 5.0, 1000.0]
    db.insert("r", [(*row, "a") for row in rows.tolist()])
    warm = LinearRegression(cof, "y", ["x", "z"], solver="gradient")
    first = warm.n_iter_
    assert first > 0
    db.insert("r", [(0.1, 0.2, 0.3, "a")])
    cold = LinearRegression(cof, "y", ["x", "z"], solver="gradient")
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-9)
    assert warm.n_iter_ <= cold.n_iter_
    with pytest.warns(NotConverged, match="raise max_iter"):
        _ = LinearRegression(cof, "y", ["x", "z"], solver="gradient", max_iter=1).coef_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _ = warm.coef_


def test_rows_to_predict(db: Any, cof: Cofactor) -> None:
    db.insert("r", [(1, 10, 0, "a"), (2, 20, 0, "a"), (1, 15, 0, "b"), (2, 25, 0, "b")])
    model = LinearRegression(cof, "y", ["x", "c"])
    assert model.coef_names_ == ("x", "c=b")
    rows = [{"x": 3, "c": "a"}, {"x": 3, "c": "b"}]
    columns = {"x": [3, 3], "c": ["a", "b"]}
    for data in (rows, columns, pa.table(columns), [(3, "a"), (3, "b")]):
        assert model.predict(data) == pytest.approx([30, 35])
    assert model.score(rows, [30, 36]) == pytest.approx(1 - 1 / 18)
    with pytest.raises(BadRow, match="the data has no 'q' in 'c'; its categories are 'a', 'b'"):
        model.predict([(3, "q")])
    with pytest.raises(BadRow, match="no column 'c'"):
        model.predict({"x": [1]})
    with pytest.raises(BadRow, match="have 2 columns"):
        model.predict([[1, 2, 3]])
    with pytest.raises(BadRow, match="a value of 'x' is not a number"):
        model.predict([["one", "a"]])
    with pytest.raises(BadRow, match="have 2 columns"):
        model.predict([1.0, 2.0])


def test_groups(db: Any) -> None:
    db.execute("CREATE STREAM s (g STRING, h INT NOT NULL, x DOUBLE NOT NULL, y DOUBLE NOT NULL)")
    cof = Cofactor(db, "SELECT x, y FROM s GROUP BY g, h", name="by")
    model = LinearRegression(cof, "y")
    db.insert("s", [("a", 1, k, k) for k in range(4)] + [(None, 2, k, -k) for k in range(4)])
    assert model["a", 1].coef_ == pytest.approx([1.0])
    assert model[None, 2].coef_ == pytest.approx([-1.0])
    assert model.coef_ == pytest.approx([0.0])  # of all the rows
    assert sorted(model.groups(), key=str) == [("a", 1), (None, 2)]
    assert model["a", 1] is model["a", 1]
    with pytest.raises(EmptyJoin, match=r"the group \('b', 1\) of 'by' has no rows"):
        _ = model["b", 1].coef_
    with pytest.raises(UnknownName, match="'a' is not a group of 'by'; give values for g, h"):
        cof.count("a")
    with pytest.raises(UnknownName, match="it has no GROUP BY"):
        Cofactor(db, "SELECT x FROM s").count(1)


def test_components(db: Any, cof: Cofactor) -> None:
    db.insert("r", [(k, k * k, 1, "a") for k in range(5)])
    with pytest.raises(FreshviewError, match="there are 2 components, 3 are asked for"):
        _ = PCA(cof, ["x", "y"], n_components=3).components_
    with pytest.raises(FreshviewError, match="n_components cannot be 0"):
        PCA(cof, n_components=0)
    flat = PCA(cof, ["z"])
    assert flat.explained_variance_ == [0.0]
    assert flat.explained_variance_ratio_ == [0.0]
    assert np.isnan(cof.correlation(["x", "z"])[0, 1])


@pytest.mark.parametrize("seed", range(20))
def test_spanning_trees(seed: int) -> None:
    """No other tree over the same nodes is heavier."""
    rng = np.random.default_rng(seed)
    n = 5
    weights = rng.integers(0, 6, size=(n, n)).astype(float)
    weights = weights + weights.T
    edges = spanning_tree(weights)
    trees = [t for t in combinations(combinations(range(n), 2), n - 1) if _connected(t, n)]
    assert len(trees) == n ** (n - 2)
    assert tuple(sorted((i, j) for i, j, _ in edges)) in trees
    assert sum(w for _, _, w in edges) == max(sum(weights[e] for e in t) for t in trees)


def _connected(edges: Any, n: int) -> bool:
    part = list(range(n))
    for i, j in edges:
        part = [part[i] if p == part[j] else p for p in part]
    return len(set(part)) == 1


@pytest.mark.parametrize(
    ("misuse", "words"),
    [
        (lambda db, cof: Ridge(cof, label="y", alpha="x"), "alpha cannot be 'x'; give a number"),
        (lambda db, cof: Ridge(cof, label="y", alpha=float("nan")), "alpha cannot be nan"),
        (lambda db, cof: Ridge(cof, label=None), "has no column 'None'"),
        (
            lambda db, cof: PCA(cof, n_components=1.5),
            "n_components cannot be 1.5; give a whole number",
        ),
        (lambda db, cof: Cofactor(db, None), "SQL is a text, not None"),
    ],
)
def test_wrong_kinds_of_arguments_are_refused(
    db: Any, cof: Cofactor, misuse: Any, words: str
) -> None:
    with pytest.raises(FreshviewError, match=words):
        misuse(db, cof)
