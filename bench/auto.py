"""What `auto` chooses against every strategy, by counts of rows: `python -m bench.auto`.

Each query of each workload runs over one stream in batches and in single rows, by every strategy
that `auto` can choose and by `auto` itself, which is told the sizes of the data or nothing (as
`connect()` has it), and is read after every batch. Counts are those of the reference engine, free
of the clock; a strategy that takes `MOST` times the work of the best one so far is stopped there.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from freshview.calculus.functions import Functions
from freshview.calculus.rows import Row
from freshview.calculus.schema import Query, Relation
from freshview.errors import FreshviewError
from freshview.ivm import compile as ivm
from freshview.ivm.options import DeltaOptions, Mode
from freshview.plan.compile import compile_queries
from freshview.plan.options import PlanOptions
from freshview.program.statistics import Statistics
from freshview.program.terms import Program
from freshview.reference.engine.run import Engine
from freshview.reference.engine.scope import Work
from freshview.sql.load import load
from workloads import WORKLOADS, Batch, Tables

MODES: tuple[Mode, ...] = ("batch", "tuple")
STRATEGIES = ("higher-order", "caches", "cyclic", "first-order", "project", "reeval", "factorized")
MOST = 2
"""How often the work of the best strategy another one may do before it is stopped."""

MOST_WORK = 20_000_000
"""Where any strategy is stopped."""

ALL_WITH_ALL = ("mst", "psp", "vwap")
"""Queries that compare all rows with all: they get a shorter stream."""

BOUND = 1.5
"""How often the work of the best strategy the choice may do."""


class Stopped(Exception):
    """A strategy has done more than it is given."""


class Limited(Work):
    """Counters that stop at a limit."""

    __slots__ = ("limit", "seen")

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.seen = 0
        super().__init__()

    @property
    def visits(self) -> int:
        """Rows looked at."""
        return self.seen

    @visits.setter
    def visits(self, count: int) -> None:
        self.seen = count
        if count > self.limit:
            raise Stopped


@dataclass(frozen=True)
class Case:
    """A query with its data: static tables, and a stream of batches."""

    name: str
    query: Query
    relations: tuple[Relation, ...]
    functions: Functions
    tables: Tables
    batches: tuple[Batch, ...]

    @property
    def statistics(self) -> Statistics:
        """What is true of the data: rows and values at the end, rates, rows of a batch."""
        rows = {r.name: float(len(self.tables.get(r.name, ()))) for r in self.relations}
        changes = dict.fromkeys(rows, 0.0)
        parts = 0
        for batch in self.batches:
            parts += len({relation for relation, _, _ in batch})
            for relation, _, count in batch:
                rows[relation] += count
                changes[relation] += 1
        most = max(changes.values(), default=1.0) or 1.0
        rates = {name: n / most for name, n in changes.items() if n}
        size = sum(changes.values()) / max(parts, 1)
        sizes = {n: max(1.0, r) for n, r in rows.items()}
        return Statistics(sizes, rates, max(1.0, size), values=self._values())

    def _values(self) -> dict[str, dict[str, float]]:
        """How many different values the columns have at the end of the stream."""
        live: dict[str, Counter[Row]] = {
            r.name: Counter(self.tables.get(r.name, ())) for r in self.relations
        }
        for batch in self.batches:
            for relation, row, count in batch:
                live[relation][row] += count
        out = {}
        for r in self.relations:
            rows = [row for row, count in live[r.name].items() if count]
            counts = (float(len({row[i] for row in rows})) for i in range(len(r.columns)))
            out[r.name] = dict(zip((c.name for c in r.columns), counts, strict=True))
        return out


@dataclass(frozen=True)
class Line:
    """One query in one mode: the work of every strategy, None where it was stopped or refused."""

    case: str
    mode: Mode
    chosen: str
    auto: float
    blind: float
    work: dict[str, float | None]

    @property
    def best(self) -> tuple[str, float]:
        """The strategy that did least; if all were stopped, they did `MOST` times as much."""
        done = {name: w for name, w in self.work.items() if w is not None}
        if not done:
            return f"all over {MOST}x", MOST * self.blind
        name = min(done, key=lambda n: done[n])
        return name, done[name]

    @property
    def ratio(self) -> float:
        """The work of the choice over that of the best."""
        return self.auto / max(1.0, self.best[1])

    @property
    def blind_ratio(self) -> float:
        """The work of the choice without statistics over that of the best."""
        return self.blind / max(1.0, self.best[1])


DAILY = """
CREATE STREAM sales (day INT NOT NULL, amount INT NOT NULL);
CREATE VIEW daily AS SELECT day, SUM(amount) AS total FROM sales GROUP BY day;
CREATE VIEW moving AS SELECT a.day, AVG(b.total) AS mean FROM daily a, daily b
  WHERE b.day BETWEEN a.day - 6 AND a.day GROUP BY a.day
"""


def moving_average(days: int = 120, rows: int = 6) -> Case:
    """A mean over seven days, by a join of a daily view with itself; days come in order."""
    catalog, queries = load(DAILY)
    relations = tuple(catalog.relations.values())
    batches = tuple([("sales", (day, 10 * day + n), 1) for n in range(rows)] for day in range(days))
    return Case("series/moving", queries[-1], relations, catalog.functions, {}, batches)


def workload_case(workload: str, name: str, *, batches: int, size: int, live: int) -> Case:
    """A query of a workload over its stream."""
    work = WORKLOADS[workload]
    schema, _ = load(work.schema.read_text(), str(work.schema))
    path = work.queries()[name]
    catalog, queries = load(path.read_text(), str(path), schema, default_name=name)
    [query] = [q for q in queries if q.name == name]
    if name in ALL_WITH_ALL:
        batches, size, live = batches // 3, size // 2, live // 5
    stream = work.stream(seed=1, batches=batches, sizes=lambda _: size, live=live)
    used = tuple(r for r in catalog.relations.values() if r.name in _read(query))
    kept = tuple([e for e in b if any(e[0] == r.name for r in used)] for b in stream)
    tables = {n: t for n, t in work.tables(seed=1).items() if any(n == r.name for r in used)}
    return Case(
        f"{workload}/{name}", query, used, catalog.functions, tables, tuple(b for b in kept if b)
    )


def _read(query: Query) -> frozenset[str]:
    from freshview.calculus.scope import base_relations

    return base_relations(query)


def programs(case: Case, mode: Mode) -> Iterator[tuple[str, Program]]:
    """The program of every strategy that takes the query."""
    plain = DeltaOptions(mode=mode)
    own = {"caches": replace(plain, caches=True), "cyclic": replace(plain, cyclic=True)}
    for name in STRATEGIES:
        try:
            if name in own:
                program = ivm.compile_queries(
                    [case.query], case.relations, own[name], case.functions
                )
            else:
                options = PlanOptions(strategy=name, mode=mode, statistics=case.statistics)  # type: ignore[arg-type]
                program = compile_queries([case.query], case.relations, options, case.functions)
        except FreshviewError:
            continue  # the strategy does not keep such a query
        yield name, program


def work_of(program: Program, case: Case, limit: float = float("inf")) -> float | None:
    """Rows looked at and written over the whole stream, or None past a limit."""
    engine = Engine(program, case.functions, Limited(limit) if limit < float("inf") else Work())
    try:
        engine.load(case.tables)
        for batch in case.batches:
            for relation in dict.fromkeys(r for r, _, _ in batch):
                engine.apply(relation, [(row, m) for r, row, m in batch if r == relation])
            engine.read(case.query.name)
    except Stopped:
        return None
    return float(engine.work)


def measure(case: Case, mode: Mode) -> Line:
    """Run a query by every strategy, and by what `auto` chooses with and without statistics."""
    seen: list[tuple[Program, float | None]] = []
    least = MOST_WORK / MOST

    def run(program: Program) -> float | None:
        nonlocal least
        for known, count in seen:
            if (known.maps, known.triggers) == (program.maps, program.triggers):
                return count
        count = work_of(program, case, MOST * least)
        seen.append((program, count))
        least = min(least, count or least)
        return count

    def choice(statistics: Statistics) -> Program:
        options = PlanOptions(mode=mode, statistics=statistics)
        return compile_queries([case.query], case.relations, options, case.functions)

    # The choice that is told sizes comes last: where it does much less than all the strategies,
    # these are not stopped by it, and the other choice is still compared with them.
    blind = run(choice(Statistics()))
    work = {name: run(program) for name, program in programs(case, mode)}
    chosen = choice(case.statistics)
    informed = run(chosen)
    name = chosen.notes[0].removeprefix("strategy: ").split(", for")[0]
    return Line(case.name, mode, name, informed or MOST * least, blind or MOST * least, work)


def cases(workloads: Sequence[str], *, batches: int, size: int, live: int) -> Iterator[Case]:
    """All the queries of these workloads, and a moving average."""
    for workload in workloads:
        for name in WORKLOADS[workload].queries():
            yield workload_case(workload, name, batches=batches, size=size, live=live)
    yield moving_average()


def table(lines: Sequence[Line]) -> str:
    """The counts as a table of the documentation."""
    head = ["query", "mode", "chosen", "work", "to the best", "without statistics", *STRATEGIES]
    rows = [" | ".join(head), "|".join(["---"] * 3 + ["--:"] * (len(head) - 3))]
    for line in lines:
        cells = [_count(line.work.get(s, -1.0)) for s in STRATEGIES]
        ratios = [f"{line.ratio:.2f}", f"{line.blind_ratio:.2f}"]
        first = [line.case, line.mode, line.chosen, _count(line.auto), *ratios]
        rows.append(" | ".join([*first, *cells]))
    return "\n".join(f"| {row} |" for row in rows) + "\n"


def _count(work: float | None) -> str:
    if work is None:
        return f"over {MOST}x"
    return "" if work < 0 else f"{work:,.0f}"


def main() -> int:
    """Measure, print the table, and fail where a choice is worse than the bound, told or not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", default=list(WORKLOADS))
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--live", type=int, default=500)
    parser.add_argument("--only", default="", help="queries whose name has this in it")
    parser.add_argument("-o", "--out", type=Path, help="write the table here, too")
    args = parser.parse_args()
    lines = []
    for case in cases(args.workloads, batches=args.batches, size=args.size, live=args.live):
        for mode in MODES if args.only in case.name else ():
            line = measure(case, mode)
            lines.append(line)
            ratios = f"{line.ratio:6.2f} {line.blind_ratio:6.2f}"
            print(f"{ratios}  {case.name} {mode}: {line.chosen}; {line.best}", flush=True)
    text = table(lines)
    if args.out:
        args.out.write_text(text)
    worse = [line for line in lines if line.ratio > BOUND]
    blind = [line for line in lines if line.blind_ratio > BOUND]
    print(f"{len(lines)} choices: {len(worse)} of them worse than {BOUND} times the best; ", end="")
    print(f"{len(blind)} without statistics")
    return int(bool(worse or blind))


if __name__ == "__main__":
    sys.exit(main())
