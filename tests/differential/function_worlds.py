"""Random views that call the functions of the table, in one another and in every clause.

What Spark answers is recorded in `functions.txt`; here the reference engine, the interpreter of
loops and kernels are compared with one another, and with a database that has all the rows at once.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache, partial
from typing import Any

import freshview
from freshview.calculus.types import Type, type_of
from freshview.errors import FreshviewError
from freshview.runtime.database.database import Database
from tests.differential.casts import Asked
from tests.differential.duck import plain
from tests.differential.function_cases import BY_NAME, POOLS, UNASKED, Call, lines, read, sql
from tests.differential.harness import refusal, same

Row = tuple[Any, ...]
KINDS = {
    "string": "STRING",
    "int": "BIGINT",
    "double": "DOUBLE",
    "decimal": "DECIMAL(30, 2)",
    "bool": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
COLUMNS = ("string", "int", "double", "decimal", "bool", "date", "timestamp")
TABLE = f"CREATE STREAM r ({', '.join(f'{k}_ {KINDS[k]}' for k in COLUMNS)})"
CAST_TYPES = ("STRING", "BIGINT", "DOUBLE", "DECIMAL(20, 3)", "BOOLEAN", "DATE", "TIMESTAMP")
WRITTEN: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("NULLIF({0}, {1})", ("same", "same"), "same"),
    ("NULLIFZERO({0})", ("int",), "int"),
    ("ZEROIFNULL({0})", ("int",), "int"),
    ("NVL({0}, {1})", ("same", "same"), "same"),
    ("NVL2({0}, {1}, {2})", ("string", "int", "int"), "int"),
    ("NANVL({0}, {1})", ("double", "double"), "double"),
    ("ISNAN({0})", ("double",), "bool"),
    ("ISNULL({0})", ("date",), "bool"),
    ("EQUAL_NULL({0}, {1})", ("same", "same"), "bool"),
    ("DECODE({0}, {1}, 'equal', NULL, 'none', 'other')", ("int", "int"), "string"),
    ("MOD({0}, {1})", ("int", "int"), "int"),
    ("{0} DIV {1}", ("int", "int"), "int"),
    ("{0} & {1}", ("int", "int"), "int"),
    ("({0} | {1})", ("int", "int"), "int"),
    ("({0} ^ {1})", ("int", "int"), "int"),
    ("~{0}", ("int",), "int"),
    ("DATE_PART('week', {0})", ("date",), "int"),
    ("EXTRACT(SECOND FROM {0})", ("timestamp",), "decimal"),
    ("EXTRACT(DAYOFWEEK_ISO FROM {0})", ("date",), "int"),
    ("EXTRACT(YEAROFWEEK FROM {0})", ("date",), "int"),
    ("DATE_ADD({0}, 3)", ("date",), "date"),
    ("DATE_SUB({0}, 400)", ("date",), "date"),
    ("TIMESTAMPADD(MONTH, 1, {0})", ("timestamp",), "timestamp"),
    ("TIMESTAMPADD(HOUR, -1, {0})", ("timestamp",), "timestamp"),
    ("TIMESTAMPDIFF(HOUR, {0}, {1})", ("timestamp", "timestamp"), "int"),
    ("DATEDIFF({0}, {1})", ("date", "date"), "int"),
    ("({0} = {1})", ("same", "same"), "bool"),
    ("({0} AND {1})", ("bool", "bool"), "bool"),
    ("({0} OR NOT {1})", ("bool", "bool"), "bool"),
    ("({0} BETWEEN {1} AND {2})", ("same", "same", "same"), "bool"),
    ("({0} IN ({1}, {2}))", ("same", "same", "same"), "bool"),
    ("IF({0}, {1}, {2})", ("bool", "same", "same"), "same"),
    ("CASE WHEN {0} THEN {1} END", ("bool", "same"), "same"),
    ("COALESCE({0}, {1})", ("same", "same"), "same"),
    ("GREATEST({0}, {1}, {2})", ("same", "same", "same"), "same"),
    ("LEAST({0}, {1})", ("same", "same"), "same"),
    ("({0} || {1})", ("string", "string"), "string"),
    ("({0} / {1})", ("double", "int"), "double"),
)
"""What has no entry of the table of its own: its text, what it takes and gives."""
IMPOSSIBLE = frozenset(
    frozenset((a, b)) for a in ("int", "double", "decimal", "bool") for b in ("date", "timestamp")
)
"""Kinds between which there is no cast."""


@cache
def calls() -> dict[str, tuple[Call, ...]]:
    """The recorded calls of each function that have an answer."""
    known: dict[str, list[Call]] = {}
    for name, args, answer in lines():
        if answer not in (UNASKED, "refused"):
            known.setdefault(name, []).append(Call(name, read(args), read(answer)))
    return {name: tuple(of) for name, of in known.items()}


@dataclass(frozen=True)
class Value:
    """An expression and its kind."""

    text: str
    kind: str


class Functions:
    """Draws expressions and views."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def chance(self, p: float) -> bool:
        """Whether it happens."""
        return self.rng.random() < p

    def value(self, depth: int = 2) -> Value:
        """A call whose arguments are columns, constants and calls; or a cast."""
        if self.chance(0.15):
            return self.cast(depth)
        if self.chance(0.2):
            return self.written(depth)
        name = self.rng.choice(list(calls()))
        while BY_NAME[name].refuses and self.chance(0.9):
            name = self.rng.choice(list(calls()))
        call = self.rng.choice(calls()[name])
        e = BY_NAME[name]
        args: list[str] = []
        types: list[Type] = []
        for i, x in enumerate(call.args):
            t = Type("string", True) if x is None else type_of(x)
            inner = self.value(depth - 1) if depth and self.chance(0.3) else None
            if inner is not None and inner.kind == t.kind:
                args.append(inner.text)
            elif t.kind in COLUMNS and (x is None or self.chance(0.5)):
                kind = e.word(i) if x is None and e.word(i) in COLUMNS else t.kind
                args.append(f"{kind}_")
                t = Type(kind, True)  # type: ignore[arg-type]
            else:
                args.append(constant(x))
            types.append(t)
        try:
            kind = e.result(*types).kind
        except (FreshviewError, TypeError, AttributeError):
            kind = "string"
        return Value(sql(name, args), kind)

    def written(self, depth: int) -> Value:
        """What is written by other expressions, over columns and calls."""
        text, takes, gives = self.rng.choice(WRITTEN)
        one = self.rng.choice(COLUMNS)
        args = []
        for word in takes:
            kind = one if word == "same" else word
            inner = self.value(depth - 1) if depth and self.chance(0.3) else None
            args.append(inner.text if inner and inner.kind == kind else f"{kind}_")
        return Value(text.format(*args), one if gives == "same" else gives)

    def cast(self, depth: int) -> Value:
        """TRY_CAST of anything, CAST of what can be any text."""
        inner = self.value(depth - 1) if depth else Value(f"{(k := self.rng.choice(COLUMNS))}_", k)
        to = self.rng.choice(CAST_TYPES)
        kind = next(k for k, t in KINDS.items() if t.split("(")[0] == to.split("(")[0])
        if frozenset((kind, inner.kind)) in IMPOSSIBLE:
            to, kind = "STRING", "string"
        word = "CAST" if kind == "string" else "TRY_CAST"
        return Value(f"{word}({inner.text} AS {to})", kind)

    def view(self) -> str:
        """A query with calls in its list, in its groups, in its conditions, or in a join."""
        x, y = self.value(), self.value()
        shape = self.rng.choice(("rows", "rows", "groups", "where", "join", "sum", "extreme"))
        match shape:
            case "groups":
                return f"SELECT {x.text} AS x, COUNT(*) AS n FROM r GROUP BY {x.text}"
            case "where":
                return f"SELECT string_ AS s, {y.text} AS y FROM r WHERE {self.test(x)}"
            case "join":
                on = f"a.{x.kind}_ = b.x" if x.kind != "double" else "a.string_ = b.s"
                inner = f"SELECT {x.text} AS x, string_ AS s FROM r"
                return f"SELECT a.int_ AS i, b.x FROM r a JOIN ({inner}) b ON {on}"
            case "sum" if x.kind in ("int", "decimal"):
                return f"SELECT string_ AS s, COUNT({x.text}) AS n FROM r GROUP BY string_"
            case "extreme":
                return f"SELECT MIN({x.text}) AS x, COUNT(DISTINCT {y.text}) AS n FROM r"
            case _:
                return f"SELECT {x.text} AS x, {y.text} AS y FROM r"

    def test(self, x: Value) -> str:
        """A condition on a value."""
        if x.kind == "bool":
            return self.rng.choice((x.text, f"NOT {x.text}", f"{x.text} IS NULL"))
        if self.chance(0.4):
            return f"{x.text} IS NOT NULL"
        return f"{x.text} {self.rng.choice(('=', '<', '>=', '<>'))} {x.kind}_"

    def row(self) -> Row:
        """Values of the pools, edges among them."""
        return tuple(self.rng.choice(pool(k)) for k in COLUMNS)


def pool(kind: str) -> tuple[Any, ...]:
    """Values of a column."""
    if kind == "decimal":
        return POOLS["number"]
    return (*POOLS[kind], *(("2024-02-29", "1.5", "-7") if kind == "string" else ()))


def constant(x: Any) -> str:
    """A value in SQL."""
    if x is None:
        return "NULL"
    assert isinstance(x, str | bool | int | float | Decimal | date | datetime), x
    return Asked(x, "", None).constant


@dataclass(frozen=True)
class FunctionWorld:
    """Views, and batches of changes of r."""

    views: tuple[str, ...]
    batches: tuple[tuple[tuple[Row, int], ...], ...]

    def script(self) -> str:
        """The declarations."""
        views = (f"CREATE VIEW v{i} AS {text}" for i, text in enumerate(self.views))
        return ";\n".join([TABLE, *views])


def function_world(seed: int, views: int = 4, batches: int = 4) -> FunctionWorld:
    """The world of a seed, with views that are accepted."""
    rng = random.Random(f"functions {seed}")
    draw = Functions(rng)
    texts: list[str] = []
    for _ in range(10 * views):
        text = draw.view()
        if len(texts) < views and accepted(text):
            texts.append(text)
    live: list[Row] = []
    out = []
    for _ in range(batches):
        gone = rng.sample(live, min(len(live), rng.randint(0, 3)))
        for row in gone:
            live.remove(row)
        new = [draw.row() for _ in range(rng.randint(1, 8))]
        live += new
        out.append((*((row, -1) for row in gone), *((row, 1) for row in new)))
    return FunctionWorld(tuple(texts), tuple(out))


def accepted(text: str) -> bool:
    """Whether the types of a query fit; one that crashes is a failure."""
    db = freshview.connect(engine="reference")
    try:
        db.execute(f"{TABLE}; CREATE VIEW v AS {text}")
    except FreshviewError:
        return False
    return True


def follow(w: FunctionWorld, db: Database) -> int:
    """Equal to a reference engine that gets all the rows at once; how many batches were refused.

    A batch that has a value without an answer is refused by both, whole.
    """
    db.execute(w.script())
    live: Counter[Row] = Counter()
    refused = 0
    for number, batch in enumerate(w.batches):
        there = [(row, n) for row, n in batch if n > 0 or live[row] > 0]
        after = live + Counter(r for r, n in there if n > 0)
        after.subtract(Counter(r for r, n in there if n < 0))
        fresh = freshview.connect(engine="reference", strategy="reeval")
        fresh.execute(w.script())
        expected_refusal = refusal(partial(fresh.apply, {"r": list((+after).items())}))
        problem = refusal(partial(db.apply, {"r": there}))
        assert (problem is None) == (expected_refusal is None), (
            f"{w.script()}\nbatch {number} {there}: {problem}, all at once: {expected_refusal}"
        )
        if problem is not None:
            refused += 1
            continue
        live = +after
        for i in range(len(w.views)):
            rows = Counter(tuple(map(plain, r)) for r in db.view(f"v{i}").rows())
            expected = Counter(tuple(map(plain, r)) for r in fresh.view(f"v{i}").rows())
            assert same(rows, expected), (
                f"{w.script()}\nv{i} ({db.view(f'v{i}').engine}), batch {number}: too much "
                f"{dict(rows - expected)}, missing {dict(expected - rows)}"
            )
    return refused
