"""What may stand in a FROM clause: kinds of sources, their arguments, formats and options.

Files and sockets are DBToaster's clauses, and those who read them know their options. The
other kinds are read by the pipeline on Spark, and are checked here, when they are declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from freshview.calculus.schema import Relation
from freshview.errors import Place, SyntaxProblem, UnsupportedSql
from freshview.sql.catalog import Source

Check: TypeAlias = type[int] | type[str] | type[bool] | tuple[str, ...]
"""What an option holds: a number, a text, a truth value, or one of some words."""

CHANGES = ("append", "upsert", "debezium")
"""What a record means: one more row, the new row of its key, or an envelope that says so."""

KEYED: Mapping[str, Check] = {"changes": CHANGES, "deleted": str, "old": ("store", "envelope")}
FOLDER: Mapping[str, Check] = {**KEYED, "files_per_batch": int}
LINES: Mapping[str, Check] = {"delimiter": str, "header": bool}


@dataclass(frozen=True, slots=True)
class SourceRule:
    """How the FROM clause of a kind of source is written."""

    example: str
    arguments: int = 1
    options: Mapping[str, Check] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    static: bool = True


RULES: Mapping[str, SourceRule] = {
    "csv": SourceRule(
        "CSV 'folder' (delimiter := ',', header := true)", options={**FOLDER, **LINES}
    ),
    "json": SourceRule("JSON 'folder'", options=FOLDER),
    "parquet": SourceRule("PARQUET 'folder'", options=FOLDER),
    "delta": SourceRule(
        "DELTA 'folder'", options={"starting_version": int, "bytes_per_batch": str}
    ),
    "kafka": SourceRule(
        "KAFKA 'topic' (bootstrap := 'host:9092', format := 'json')",
        options={
            **KEYED,
            "bootstrap": str,
            "format": ("json", "debezium"),
            "starting": ("earliest", "latest"),
            "rows_per_batch": int,
        },
        needed=("bootstrap",),
        static=False,
    ),
    "rate": SourceRule(
        "RATE (rows_per_second := 10)",
        arguments=0,
        options={"rows_per_second": int, "partitions": int},
        needed=("rows_per_second",),
        static=False,
    ),
}
"""The kinds that only the pipeline on Spark reads."""

RATE_COLUMNS = {"value": "int", "timestamp": "timestamp"}


@dataclass(frozen=True, slots=True)
class ClausePlaces:
    """The places of what a FROM clause says, for errors about it."""

    kind: Place
    end: Place
    options: Mapping[str, Place]


def check_source(source: Source, relation: Relation, at: ClausePlaces) -> Source:
    """The source as it is to be read, or an error with its place and what to write instead.

    `format := 'debezium'` says that records are JSON and that each tells a change.
    """
    rule = RULES.get(source.kind)
    if rule is None:
        return source
    instead = f"write FROM {rule.example}"
    if len(source.arguments) != rule.arguments or not all(
        isinstance(a, str) and a for a in source.arguments
    ):
        wanted = "one text" if rule.arguments else "nothing"
        raise SyntaxProblem(
            f"{source.kind.upper()} is followed by {wanted}", instead=instead, at=at.end
        )
    if source.framing or source.format:
        word = source.format or source.framing
        raise SyntaxProblem(f"'{word}' has no place here", instead=instead, at=at.end)
    if relation.static and not rule.static:
        raise UnsupportedSql(
            f"'{relation.name}' is a static table, and {source.kind.upper()} never ends",
            instead="write CREATE STREAM",
            at=at.kind,
        )
    options = _options(source, rule, at)
    if options.get("format") == "debezium":
        options["changes"] = "debezium"
    _check_changes(options, relation, at)
    if source.kind == "rate":
        _check_rate(relation, at)
    return Source(source.kind, source.arguments, options=tuple(sorted(options.items())))


def _options(source: Source, rule: SourceRule, at: ClausePlaces) -> dict[str, str | int]:
    options: dict[str, str | int] = {}
    for name, value in source.options:
        place = at.options[name]
        if name not in rule.options:
            raise UnsupportedSql(
                f"{source.kind.upper()} has no option '{name}'",
                instead=f"its options are {', '.join(rule.options)}",
                at=place,
            )
        if name in options:
            raise SyntaxProblem(f"option '{name}' is given twice", instead="give it once", at=place)
        options[name] = _valid(name, value, rule.options[name], place)
    for name in rule.needed:
        if name not in options:
            raise SyntaxProblem(
                f"{source.kind.upper()} needs the option '{name}'",
                instead=f"write FROM {rule.example}",
                at=at.end,
            )
    return options


def _valid(name: str, value: str | int, check: Check, at: Place) -> str | int:
    wanted, fine = "", True
    if isinstance(check, tuple):
        value = str(value).lower()
        wanted, fine = f"one of {', '.join(check)}", value in check
    elif check is bool:
        value = str(value).lower()
        wanted, fine = "true or false", value in ("true", "false")
    elif check is int:
        wanted, fine = "a number from 0 on", isinstance(value, int)
    else:
        wanted, fine = "a text", isinstance(value, str) and bool(value)
    if fine and name == "delimiter" and len(str(value)) != 1:
        wanted, fine = "a single character", False
    if not fine:
        raise SyntaxProblem(f"option '{name}' cannot be {value!r}", instead=f"give {wanted}", at=at)
    return value


def _check_changes(options: Mapping[str, str | int], relation: Relation, at: ClausePlaces) -> None:
    changes = options.get("changes", "append")
    if "deleted" in options and changes != "upsert":
        raise SyntaxProblem(
            "option 'deleted' tells which rows go when others replace them",
            instead="write changes := 'upsert' beside it",
            at=at.options["deleted"],
        )
    if "old" in options and changes != "debezium":
        raise SyntaxProblem(
            "option 'old' tells where envelopes have the rows that they replace",
            instead="write changes := 'debezium' beside it",
            at=at.options["old"],
        )
    if changes == "append":
        return
    place = at.options.get("changes", at.options.get("format", at.kind))
    if relation.static:
        raise UnsupportedSql(
            f"'{relation.name}' is a static table and does not change",
            instead="write CREATE STREAM",
            at=place,
        )
    if not relation.key:
        raise UnsupportedSql(
            f"'{relation.name}' has no primary key that tells which row a record replaces",
            instead="declare PRIMARY KEY (...)",
            at=place,
        )


def _check_rate(relation: Relation, at: ClausePlaces) -> None:
    for c in relation.columns:
        if RATE_COLUMNS.get(c.name.lower()) != c.type.kind:
            raise UnsupportedSql(
                f"RATE makes no column '{c.name}' of type {c.type.kind}",
                instead="declare value INT, timestamp TIMESTAMP, or one of them",
                at=at.kind,
            )
