"""Asks Spark for the answers that `functions.txt` does not have, and writes them into it.

A line with ? for its answer is one more case. To run it:
`TZ=UTC python -m tests.differential.record_functions`.
"""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import SparkSession

from tests.differential.function_cases import BY_NAME, PATH, UNASKED, lines, read, sql

STEP = 16
"""Calls of one query: where one of them is refused, they are asked again in halves."""

NULLS = {
    "string": "STRING",
    "int": "INT",
    "long": "BIGINT",
    "exact": "BIGINT",
    "bool": "BOOLEAN",
    "any": "STRING",
}


def constant(x: Any, word: str) -> str:
    """A value in Spark's SQL."""
    match x:
        case None:
            return f"CAST(NULL AS {NULLS.get(word, 'DOUBLE' if word == 'number' else word)})"
        case bool():
            return str(x)
        case str():
            return "'" + "".join(f"\\U{ord(c):08x}" for c in x) + "'"
        case int():
            return f"{x}" if word == "int" else f"{x}L"
        case float():
            return f"{x!r}D"
        case Decimal():
            return f"{x:f}BD"
        case datetime():
            return f"TIMESTAMP '{x}'"
        case date():
            return f"DATE '{x}'"
    raise TypeError(x)


def session() -> SparkSession:
    """A Spark that answers as we do."""
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def main() -> None:
    spark = session()
    version = ".".join(spark.version.split(".")[:2])
    head = f"# What Spark {version} answers in ANSI mode, with UTC: call, arguments, answer."
    rows = lines()
    waiting = [i for i, (_, _, answer) in enumerate(rows) if answer == UNASKED]
    for at in range(0, len(waiting), STEP):
        some = waiting[at : at + STEP]
        texts = [text(rows[i][0], read(rows[i][1])) for i in some]
        for i, answer in zip(some, ask(spark, texts), strict=True):
            rows[i] = (*rows[i][:2], answer)
        PATH.write_text("\n".join([head, *(" | ".join(row) for row in rows)]) + "\n")


def text(name: str, args: tuple[Any, ...]) -> str:
    """A call in Spark's SQL."""
    e = BY_NAME[name]
    constants = [constant(x, e.word(i)) for i, x in enumerate(args)]
    return sql(name, constants)


def ask(spark: SparkSession, texts: list[str]) -> list[str]:
    """The answers, as text that Python reads; one by one where some are refused."""
    try:
        shown = ", ".join(f"{t} AS c{i}" for i, t in enumerate(texts))
        return [show(x) for x in spark.sql(f"SELECT {shown}").collect()[0]]
    except Exception:
        if len(texts) > 1:
            half = len(texts) // 2
            return ask(spark, texts[:half]) + ask(spark, texts[half:])
        return ["refused"]


def show(x: Any) -> str:
    """An answer as text."""
    if isinstance(x, float) and not math.isfinite(x):
        return {"nan": "nan", "inf": "inf", "-inf": "-inf"}[str(x)]
    return repr(x)


if __name__ == "__main__":
    main()
