"""A regression over a join after each batch: from a maintained cofactor, or fitted anew.

The join is Retailer's, with a model of the stock on the 42 other attributes. A batch brings 1,000
rows of Inventory. Freshview applies it and solves for the coefficients; the other way is to export
the join (by DuckDB, as NumPy columns) and to fit scikit-learn's model on it. Both give the same
model.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from sklearn import linear_model

import freshview as fv
from bench.factorized import tables, variables
from bench.queries import catalog_of
from bench.report import show, times, write

LABEL = "inventoryunits"
JOIN = "FROM " + " NATURAL JOIN ".join(["Inventory", "Item", "Weather", "Location", "Census"])
BATCH = 1000
BAR = 100.0
"""How many times as fast as export and fit the refresh is wanted to be."""


def declared(db: fv.Database) -> None:
    """The relations of Retailer."""
    for r in catalog_of("retailer").relations.values():
        columns = ", ".join(f"{c.name} {_sql(c.type)} NOT NULL" for c in r.columns)
        db.execute(f"CREATE STREAM {r.name} ({columns}, PRIMARY KEY ({', '.join(r.key)}))")


def _sql(t: Any) -> str:
    return f"DECIMAL(15, {t.scale})" if t.kind == "decimal" else "INT"


def fitted(duck: duckdb.DuckDBPyConnection, names: list[str]) -> tuple[float, float, Any, Any]:
    """Seconds of the export and of the fit, the model, and some of its rows."""
    start = time.perf_counter()
    columns = duck.execute(f"SELECT {', '.join(names)} {JOIN}").fetchnumpy()
    rows = np.column_stack([np.asarray(columns[n], dtype=np.float64) for n in names])
    exported = time.perf_counter()
    at = names.index(LABEL)
    x = np.delete(rows, at, axis=1)
    model = linear_model.Ridge(alpha=1.0, solver="cholesky").fit(x, rows[:, at])
    return exported - start, time.perf_counter() - exported, model, x[:1000]


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.models", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="1: a million rows of Inventory")
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    args = parser.parse_args()
    if args.quick:
        args.scale, args.batches = args.scale / 10, 5
    names = variables("retailer")
    relations = tables("retailer", args.scale)
    stock = relations.pop("Inventory")
    first = stock.num_rows - args.batches * BATCH
    db, duck = fv.connect(engine="native"), duckdb.connect()
    duck.execute("SET threads = 1")
    declared(db)
    cof = fv.models.Cofactor(db, f"SELECT {', '.join(names)} {JOIN}")
    models = {
        "direct": fv.models.Ridge(cof, LABEL, alpha=1.0),
        "gradient": fv.models.Ridge(cof, LABEL, alpha=1.0, solver="gradient", tol=1e-6),
    }
    for name, table in {**relations, "Inventory": stock.slice(0, first)}.items():
        db.insert(name, table)
        duck.register("given", table)
        duck.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    spent: dict[str, list[float]] = {"apply": [], **{name: [] for name in models}}
    again: list[tuple[float, float]] = []
    far = 0.0
    for n in range(args.batches):
        batch: pa.Table = stock.slice(first + n * BATCH, BATCH)
        start = time.perf_counter()
        db.insert("Inventory", batch)
        spent["apply"].append(time.perf_counter() - start)
        for name, model in models.items():
            start = time.perf_counter()
            model.now()
            spent[name].append(time.perf_counter() - start)
        duck.register("given", batch)
        duck.execute("INSERT INTO Inventory SELECT * FROM given")
        if n % 5 == 0:
            export, fit, theirs, x = fitted(duck, names)
            again.append((export, fit))
            far = max(far, float(abs(models["direct"].predict(x) - theirs.predict(x)).max()))
    ms = {name: median(seconds) * 1e3 for name, seconds in spent.items()}
    export_ms, fit_ms = (median(part) * 1e3 for part in zip(*again, strict=True))
    ratio = (export_ms + fit_ms) / (ms["apply"] + ms["direct"])
    show(
        f"A model of {len(names)} variables after a batch of {BATCH:,} rows, "
        f"{cof.count():,} rows joined: milliseconds",
        ("apply", "solve", "gradient", "export", "fit", "fresh is", "bar"),
        [
            [
                f"{ms['apply']:.2f}",
                ms["direct"],
                ms["gradient"],
                export_ms,
                fit_ms,
                times(ratio),
                BAR,
            ]
        ],
        note=f"predictions differ by {far:.1e} at most; "
        f"gradient descent took {models['gradient'].n_iter_} steps",
    )
    write("models", {**ms, "export": export_ms, "fit": fit_ms, "ratio": ratio, "far": far})


if __name__ == "__main__":
    main()
