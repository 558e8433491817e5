"""Many random programs: `python -m tests.law.loops_many sql 0 500` prints the seeds that differ.

`sql` are SELECTs over tables of integers, `caches` those of them that keep view caches, `world`
views over tables of every type. One more word, `kernels`, compiles a kernel of each as well, with
one pass turned.
"""

from __future__ import annotations

import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from freshview.errors import NotNative
from freshview.ivm.compile import compile_queries
from freshview.sql.load import load
from tests.differential.harness import STRATEGIES, grouped
from tests.differential.random_sql import random_script
from tests.differential.streams import MODES, STATIC, random_stream, schema
from tests.differential.worlds import world
from tests.law.loops import PASSES, Case, agree, kernel_agrees

STRATEGY_NAMES = [s for s in STRATEGIES if s != "caches"]
"""View caches have seeds of their own."""

LONGEST = 60
"""Seconds for a program: a few texts of many nested views take minutes to compile."""


def sql_case(seed: int, strategies: Sequence[str] = STRATEGY_NAMES) -> Case:
    """A SELECT over tables of integers, some of them static, by a strategy and in a mode."""
    rng = random.Random(f"loops {seed}")
    catalog = schema(rng.choice(list(STATIC)))
    stream = random_stream(catalog, rng, 8)
    catalog, queries = load(str(random_script(seed)), catalog=catalog)
    options = replace(STRATEGIES[rng.choice(strategies)], mode=rng.choice(MODES))
    program = compile_queries(queries, list(catalog.relations.values()), options, catalog.functions)
    static = {name: [row for row, _ in rows] for name, rows in grouped(list(stream.static))}
    return Case(program, [grouped(list(b)) for b in stream.batches], static, catalog.functions)


def world_case(seed: int) -> Case:
    """Views over tables of every type."""
    rng = random.Random(f"loops {seed}")
    w = world(seed, views=(1, 1, 1, 2), batches=6)
    views = [f"CREATE VIEW {v.name} AS {v.sql};" for v in w.views]
    catalog, queries = load("\n".join([w.script(), *views]))
    options = replace(STRATEGIES[rng.choice(STRATEGY_NAMES)], mode=rng.choice(MODES))
    program = compile_queries(queries, list(catalog.relations.values()), options, catalog.functions)
    return Case(program, [grouped(list(b)) for b in w.batches], functions=catalog.functions)


def cache_case(seed: int) -> Case:
    """A SELECT that keeps view caches: the first one from the seed on."""
    while True:
        case = sql_case(seed, ["caches"])
        if any(m.inputs for m in case.program.maps):
            return case
        seed += 1_000_000


KINDS: dict[str, Callable[[int], Case]] = {
    "sql": sql_case,
    "world": world_case,
    "caches": cache_case,
}


class TooLong(Exception):
    """A program has had its time; no `OSError`, which a build would take for its own."""


def _stop(*_: object) -> None:
    raise TooLong


def main(kind: str, first: str, end: str, kernels: str = "") -> None:
    """Run seeds and print what differs; with `kernels`, kernels run besides, each by one pass."""
    outcomes: Counter[str] = Counter()
    signal.signal(signal.SIGALRM, _stop)
    for seed in range(int(first), int(end)):
        signal.alarm(LONGEST)
        try:
            case = KINDS[kind](seed)
            outcomes["plans"] += agree(case)
            if kernels:
                kernel_agrees(case, list(PASSES)[seed % len(PASSES)])
                outcomes["kernels"] += 1
            outcomes["equal"] += 1
        except AssertionError as e:
            outcomes["different"] += 1
            print(f"{kind} {seed}: {str(e)[:2000]}", flush=True)
        except NotNative:
            outcomes["not native"] += 1
        except TooLong:
            outcomes["too long"] += 1
        except Exception as e:
            outcomes[type(e).__name__] += 1
            print(f"{kind} {seed}: {type(e).__name__}: {e}", flush=True)
        signal.alarm(0)
    print(dict(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
