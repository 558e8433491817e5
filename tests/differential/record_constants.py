"""Asks Spark for the values of the expressions in `constants.txt`, and writes them there.

A line with ? for its answer is one more case. To run it:
`TZ=UTC python -m tests.differential.record_constants`.
"""

from __future__ import annotations

from pathlib import Path

from tests.differential.record_functions import ask, session

PATH = Path(__file__).with_name("constants.txt")
UNASKED = "?"


def lines() -> list[tuple[str, str]]:
    """The expressions, with Spark's answers."""
    parts = (line.rpartition(" | ") for line in PATH.read_text().splitlines()[1:])
    return [(expression, answer) for expression, _, answer in parts]


def main() -> None:
    spark = session()
    version = ".".join(spark.version.split(".")[:2])
    shown = [f"# What Spark {version} answers in ANSI mode, with UTC: expression, answer."]
    for expression, answer in lines():
        known = ask(spark, [expression])[0] if answer == UNASKED else answer
        shown.append(f"{expression} | {known}")
    PATH.write_text("\n".join(shown) + "\n")


if __name__ == "__main__":
    main()
