"""Texts of a batch are read as Arrow brings them: in whatever form that is, views are equal.

Texts behind each other are not copied; those with NULL, beyond ASCII, or of a dictionary are. A
batch may lose its rows that count nothing, come in a part of a table, be taken back, or be cut
into pieces where there is little memory: the texts follow.
"""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest

from freshview.codegen.library.engine import KernelEngine
from freshview.errors import FreshviewError
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load

SCRIPT = """
CREATE STREAM r (flag STRING, name STRING NOT NULL, x BIGINT NOT NULL);
SELECT flag, name, SUM(x) AS s, COUNT(*) AS n FROM r {where} GROUP BY flag, name;
"""
WHERE = {
    "all": "",
    "equal": "WHERE name IN ('b', 'bb', 'ß') AND flag = 'A'",
    "empty": "WHERE flag = ''",
    "some": "WHERE name <> 'bb' AND flag < 'S'",
    "pattern": "WHERE name LIKE '%b'",
}
KINDS = {
    "joined": pa.string(),
    "large": pa.large_string(),
    "view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
}
TEXTS = {
    "flags": (("A", "N", "R"), ("b", "c")),
    "many": (tuple("ABCDEFGHIJKLMNOPQRST"), tuple("abcdefgh")),
    "mixed": (("A", "", "Rest"), ("bb", "", "a text of more than a few letters", "b")),
    "of no ASCII": (("A", "é"), ("ß", "b")),
    "doubled": (("A", "AA", ""), ("b", "bb", "")),
    "null": (("A", None, "N"), ("b", "bb")),
}
Row = tuple[str | None, str, int]


def kernel_of(where: str) -> KernelEngine:
    catalog, queries = load(SCRIPT.format(where=WHERE[where]), default_name="v")
    options = DeltaOptions(mode="tuple")
    program = compile_queries(queries, list(catalog.relations.values()), options)
    return kernel_engine(program)


def drawn(rng: random.Random, texts: str, size: int) -> list[tuple[Row, int]]:
    flags, names = TEXTS[texts]
    counts = (1, 1, 2, 0, -1)
    return [
        ((rng.choice(flags), rng.choice(names), rng.randrange(9)), rng.choice(counts))
        for _ in range(size)
    ]


def give(kernel: KernelEngine, rows: list[tuple[Row, int]], kind: str) -> None:
    """A part of a table, as other rows lie before it."""
    before: list[Row] = [("Q", "zz", 0)] * 3
    columns = zip(*before, *(row for row, _ in rows), strict=True)
    types = (KINDS[kind], KINDS[kind], pa.int64())
    arrays = [pa.array(values, t) for values, t in zip(columns, types, strict=True)]
    batch = pa.record_batch(arrays, ["flag", "name", "x"]).slice(len(before))
    kernel.instance.apply_arrow(kernel.kernel.relation("r"), batch, [n for _, n in rows])


def view_of(live: Counter[Row], where: str) -> dict[tuple[object, ...], int]:
    """What SQL says of the rows that are there."""
    sums: dict[tuple[str | None, str], list[int]] = {}
    for (flag, name, x), n in live.items():
        if where == "some" and (name == "bb" or flag is None or not flag < "S"):
            continue
        if where == "equal" and not (name in ("b", "bb", "ß") and flag == "A"):
            continue
        if where == "empty" and flag != "":
            continue
        if where == "pattern" and not name.endswith("b"):
            continue
        total = sums.setdefault((flag, name), [0, 0])
        total[0] += n * x
        total[1] += n
    return {(*key, s, n): 1 for key, (s, n) in sums.items() if n}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("texts", TEXTS)
def test_views_are_equal_in_whatever_form_texts_lie(texts: str, where: str) -> None:
    for kind in KINDS:
        rng = random.Random(f"{texts} {kind}")
        kernel, live = kernel_of(where), Counter[Row]()
        for size in (1, 31, 64, 1000, 1100, 2100):
            rows = drawn(rng, texts, size)
            # No more goes than is there: a count of groups may not be negative.
            for row, _ in rows:
                live[row] += 2
            give(kernel, [(row, 2) for row, _ in rows], kind)
            give(kernel, rows, kind)
            for row, n in rows:
                live[row] += n
            assert kernel.read("v") == view_of(live, where), f"{kind}, {size} rows"


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_that_is_refused_leaves_no_text(kind: str) -> None:
    kernel, rng = kernel_of("all"), random.Random(1)
    rows = [(row, abs(n)) for row, n in drawn(rng, "mixed", 1500)]
    give(kernel, rows, kind)
    before = kernel.read("v")
    huge: Row = ("A", "bb", 2**62)
    with pytest.raises(FreshviewError):
        give(kernel, [*rows, (huge, 1), (huge, 1)], kind)
    assert kernel.read("v") == before
    give(kernel, [(row, -n) for row, n in rows], kind)
    assert kernel.read("v") == {}
