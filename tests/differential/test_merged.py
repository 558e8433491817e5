"""Kernels of merged programs: after every batch each view has DuckDB's rows.

Each view is planned by itself, by a strategy of its own, for batches or for single rows.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from freshview.calculus.scope import base_relations
from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import Mode
from freshview.program.merge import merge
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load
from tests.differential.duck import Duck
from tests.differential.harness import STRATEGIES, grouped, rows, same
from tests.differential.streams import schema
from tests.differential.together import together
from tests.thin import thin

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

KEPT_BY_KERNELS = [s for s in STRATEGIES if s != "caches"]
FAST_BUILD = Flags(optimize=0)


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("seed", thin(range(100, 130), 15), ids="seed-{}-".format)
def test_kernels_of_merged_programs_follow_their_tables(seed: int, mode: Mode) -> None:
    world, rng = together(seed), random.Random(seed)
    texts = ";\n".join(f"CREATE VIEW {name} AS {sql}" for name, sql in world.views)
    catalog, queries = load(texts, catalog=schema(world.variant))
    parts = []
    for q in queries:
        used = [r for r in catalog.relations.values() if r.name in base_relations(q)]
        options = replace(STRATEGIES[rng.choice(KEPT_BY_KERNELS)], mode=mode)
        parts.append(compile_queries([q], used, options, catalog.functions))
    merged = merge(parts)
    engine, duck = kernel_engine(merged, catalog.functions, FAST_BUILD), Duck(catalog)
    known = {r.name for r in merged.relations}
    duck.apply(world.stream.static)
    for name, sql in world.views:
        duck.create_view(name, sql)
    static = grouped(list(world.stream.static))
    engine.load({name: [row for row, _ in part] for name, part in static if name in known})
    for number, batch in enumerate(world.stream.batches):
        duck.apply(batch)
        for relation, changes in grouped(list(batch)):
            if relation in known:
                engine.apply({relation: changes})
        for name, sql in world.views:
            actual, expected = rows(engine, name), duck.query(sql)
            assert same(actual, expected), f"{world.script()}\n{name}, batch {number}, {actual}"
