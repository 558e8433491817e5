"""Factorized maintenance beside the other strategies: sums and cofactors over two joins.

Housing is a star of six relations on one key, Retailer a snowflake of five; both only grow here,
by 1,000 rows of one relation after the other in turn, as in F-IVM 2018 (`--paced`: every relation
at its own steady pace, in batches that may hold rows of all of them; `--order`: stock counted day
by day, shop by shop or product by product). A cofactor is what a regression over all the
attributes of the join needs: their number, sums and products of two. `same ring` is
the higher-order program with the cofactor as payload; `one by one` keeps each number of it by a
program of its own, measured for a few of them and multiplied by how many there are.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from random import Random
from typing import Any

import pyarrow as pa

from bench import data
from bench.apart import apart
from bench.peers import COMMIT, OVER_FIVM
from bench.plot import plot
from bench.queries import Running, catalog_of, drive
from bench.report import show, times, write
from freshview.calculus.build import const, mul, sum_
from freshview.calculus.schema import Column, Query
from freshview.calculus.terms import Apply, Expr, Lift, Var
from freshview.calculus.types import INT, Type, ring
from freshview.factorized import compile as factorized
from freshview.factorized import options as factorized_options
from freshview.factorized.terms import Join, natural_join
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions, Mode
from freshview.program.terms import Program
from freshview.runtime.compile.kernel_engine import kernel_engine

SUMMED = {"housing": "postcode", "retailer": "inventoryunits"}
BARS = {
    ("housing", "sum", "higher-order"): 1.0,
    ("retailer", "sum", "higher-order"): 1.0,
    ("housing", "sum", "first-order"): 5.0,
    ("retailer", "cofactor", "same ring"): 8.0,
    ("housing", "cofactor", "one by one"): 50.0,
    ("retailer", "cofactor", "one by one"): 50.0,
}
"""How many times as fast as each the factorized program is wanted to be."""
ORDERS = {
    "day": ("dateid", "locn", "ksn"),
    "shop": ("locn", "dateid", "ksn"),
    "product": ("ksn", "locn", "dateid"),
}
"""What the rows of Retailer's stock may be sorted by."""
SIZES = (100, 1000, 10_000, 100_000)
"""Events of a batch that `--sweep` tries."""
Runs = Sequence[Sequence[data.Window]]
"""Batches, one after the other."""
SAMPLED = 8
"""How many numbers of a cofactor are measured one by one."""


def variables(workload: str) -> list[str]:
    """The attributes of a join, each once."""
    relations = catalog_of(workload).relations.values()
    return list(dict.fromkeys(c.name for r in relations for c in r.columns))


def joined(workload: str, factors: Sequence[Expr]) -> Join:
    """The natural join of a workload's relations, weighed."""
    return natural_join(tuple(catalog_of(workload).relations.values()), (), tuple(factors))


def lifts(workload: str) -> list[Expr]:
    """All the attributes lifted into the cofactor ring."""
    return [Apply("cofactor", (const(v), Var(v)), "Cofactor") for v in variables(workload)]


def by_deltas(workload: str, factors: Sequence[Expr], t: Type = INT, depth: int = 0) -> Program:
    """The program of `ivm` for an aggregate over the join."""
    catalog = catalog_of(workload)
    join = joined(workload, factors)
    term = Lift("total", sum_((), mul(*join.atoms, *join.factors)))
    query = Query("q", (Column("total", t),), ("total",), term)
    options = DeltaOptions(mode=_mode(t), depth=depth) if depth else DeltaOptions(mode=_mode(t))
    relations = list(catalog.relations.values())
    return compile_queries([query], relations, options, catalog.functions)


def _mode(t: Type) -> Mode:
    """Triggers of batches for elements of a ring, of rows for numbers: as a database chooses."""
    return "batch" if t.kind == "ring" else "tuple"


def by_tree(workload: str, factors: Sequence[Expr], t: Type = INT) -> Program:
    """The program over a view tree."""
    catalog = catalog_of(workload)
    options = factorized_options.ViewTreeOptions(mode=_mode(t))
    relations = tuple(catalog.relations.values())
    return factorized.compile_joins(
        {"q": joined(workload, factors)}, relations, options, catalog.functions
    )


def one_by_one(workload: str) -> list[Program]:
    """The programs of a few of the sums of products."""
    pairs = list(combinations_with_replacement(variables(workload), 2))
    return [by_deltas(workload, [Var(a), Var(b)]) for a, b in Random(1).sample(pairs, SAMPLED)]


def ways(workload: str, kind: str) -> dict[str, Callable[[], list[Program]]]:
    """How an aggregate can be kept: by one program, or by some of many."""
    if kind == "sum":
        weight: list[Expr] = [Var(SUMMED[workload])]
        return {
            "factorized": lambda: [by_tree(workload, weight)],
            "higher-order": lambda: [by_deltas(workload, weight)],
            "first-order": lambda: [by_deltas(workload, weight, depth=1)],
        }
    whole = lifts(workload)
    return {
        "factorized": lambda: [by_tree(workload, whole, ring("Cofactor"))],
        "same ring": lambda: [by_deltas(workload, whole, ring("Cofactor"))],
        "one by one": lambda: one_by_one(workload),
    }


def tables(workload: str, scale: float) -> dict[str, pa.Table]:
    """The rows of a workload; scale 1 is about what F-IVM 2018 has."""
    module = importlib.import_module(f"workloads.{workload}_data")
    size = int(1_000_000 * scale) if workload == "retailer" else max(1, int(scale))
    more = {} if workload == "retailer" or scale >= 1 else {"postcodes": int(25_000 * scale)}
    rows_by_relation = {}
    rows = module.bulk(1, size, **more)
    for r in catalog_of(workload).relations.values():
        columns = list(zip(*rows[r.name], strict=True))
        schema = data.arrow_schema(r)
        rows_by_relation[r.name] = pa.table(
            [_column(c, f) for c, f in zip(columns, schema, strict=True)], schema
        )
    return rows_by_relation


def _column(values: tuple[Any, ...], f: pa.Field) -> pa.Array:
    if pa.types.is_decimal(f.type):
        return pa.array(values, pa.decimal128(15, f.type.scale)).cast(f.type)
    return pa.array(values, f.type)


def runs_of(workload: str, size: int, args: argparse.Namespace) -> Runs:
    """The insertions of a workload in batches."""
    rows_by_relation = tables(workload, args.scale)
    if workload == "retailer":
        rows_by_relation["Inventory"] = rows_by_relation["Inventory"].sort_by(
            [(c, "ascending") for c in ORDERS[args.order]]
        )
    if args.paced:
        return list(data.interleave(rows_by_relation, 0.0).windows(size))
    return data.in_turn(rows_by_relation, size)


def rate(
    workload: str, kind: str, way: str, runs: Runs, args: argparse.Namespace
) -> tuple[float, int]:
    """Events per CPU second through all the programs of a way, and how many maps they have."""
    programs = ways(workload, kind)[way]()
    n = len(variables(workload))
    times_as_many = 1 if len(programs) == 1 else (1 + n + n * (n + 1) // 2) / len(programs)
    seconds = sum(1 / _best(workload, p, runs, args) for p in programs)
    return 1 / (seconds * times_as_many), round(sum(len(p.maps) for p in programs) * times_as_many)


def _best(workload: str, program: Program, runs: Runs, args: argparse.Namespace) -> float:
    """Events per CPU second, the best of some runs."""
    best = 0.0
    for _ in range(args.repeat):
        engine = kernel_engine(program, catalog_of(workload).functions)
        engine.load()
        running = Running(engine, program.queries[0].name)
        best = max(best, drive(running, runs, args.limit).per_second)
        running.close()
    return best


def by_batches(workload: str, factors: Sequence[Expr]) -> Program:
    """The program over a view tree whose triggers take whole batches."""
    catalog = catalog_of(workload)
    relations = tuple(catalog.relations.values())
    return factorized.compile_joins(
        {"q": joined(workload, factors)}, relations, functions=catalog.functions
    )


def sweep(args: argparse.Namespace) -> None:
    """Cofactors in batches of several sizes: triggers for single rows, and for whole batches."""
    times: dict[str, dict[int, float]] = {}
    for workload in [w for w in SUMMED if args.only in (None, w)]:
        every = {size: runs_of(workload, size, args) for size in SIZES}
        whole = lifts(workload)
        runs = {"row by row": by_tree(workload, whole), "as a whole": by_batches(workload, whole)}
        for way, program in runs.items():
            for size in SIZES:
                rate_of, problem = apart(_best, workload, program, every[size], args, limit=600)
                if problem:
                    print(workload, way, size, problem)
                    continue
                times.setdefault(f"{workload}, {way}", {})[size] = rate_of
    lines: list[list[object]] = [[n, *(rates.get(s) for s in SIZES)] for n, rates in times.items()]
    title = "Cofactors: events per CPU second, by the events of a batch"
    show(title, ("batches", *(f"{s:,}" for s in SIZES)), lines)
    points = {name: sorted(rates.items()) for name, rates in times.items()}
    print(plot("factorized_sweep", title, "events of a batch", points))
    write("factorized_sweep", times)


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.factorized", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="1: what the paper has")
    parser.add_argument("--only", help="housing or retailer")
    parser.add_argument("--limit", type=float, default=8, help="CPU seconds per run")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the best counts")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    parser.add_argument("--paced", action="store_true", help="every relation at its own pace")
    parser.add_argument("--order", choices=ORDERS, default="shop", help="of Retailer's stock")
    parser.add_argument("--sweep", action="store_true", help="cofactors by the size of a batch")
    args = parser.parse_args()
    if args.quick:
        args.scale, args.limit, args.repeat = args.scale / 10, 2.0, 1
    if args.sweep:
        sweep(args)
        return
    results: dict[str, Any] = {}
    lines: list[list[object]] = []
    for workload in [w for w in SUMMED if args.only in (None, w)]:
        runs = runs_of(workload, 1000, args)
        for kind in ("sum", "cofactor"):
            rates: dict[str, tuple[float, int]] = {}
            for way in ways(workload, kind):
                answer, problem = apart(rate, workload, kind, way, runs, args, limit=600)
                if problem:
                    print(workload, kind, way, problem)
                    continue
                rates[way] = answer
            results[f"{workload} {kind}"] = rates
            first = rates.get("factorized", (0.0, 0))[0]
            for way, (per_second, maps) in rates.items():
                bar = BARS.get((workload, kind, way))
                name = f"{workload} {kind}"
                ratio = None if way == "factorized" else first / per_second
                then = OVER_FIVM.get(name) if way == "factorized" else None
                words = f"{bar:g}x" if bar else "-", times(then)
                lines.append([name, way, maps, per_second, times(ratio), *words])
    show(
        f"Events per CPU second in batches of 1,000{', paced' * args.paced}, scale {args.scale:g}",
        ("aggregate", "way", "maps", "rate", "factorized is", "bar", "over F-IVM then"),
        lines,
        note=f"then: in turns with F-IVM's own C++, at commit {COMMIT} (bench/peers.py).",
    )
    write("factorized", results)


if __name__ == "__main__":
    main()
