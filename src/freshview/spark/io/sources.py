"""The FROM clauses as one stream of Structured Streaming.

All the sources of a pipeline are one query: a micro-batch has the records of all of them, its
content is fixed by Spark's offset log before it runs, and it is one version of the views. The
column `__from` is the number of a row's relation, whose columns are in a struct; `decode.py`
converts them to changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freshview.calculus.schema import Relation
from freshview.calculus.types import Type
from freshview.errors import FreshviewError, UnsupportedSql
from freshview.spark.io.connectors import needs
from freshview.spark.io.rows import CORRUPT
from freshview.sql import Catalog, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FROM = "__from"

ENDLESS = ("rate", "socket")
"""Sources without an end that a run could wait for."""


@dataclass(frozen=True, slots=True)
class Input:
    """A relation with its source; relative paths start at `folder`."""

    relation: Relation
    source: Source
    folder: Path

    @property
    def options(self) -> Mapping[str, str | int]:
        """The options of the FROM clause."""
        return dict(self.source.options)

    @property
    def path(self) -> str:
        """The folder that the FROM clause names."""
        named = str(self.source.arguments[0])
        return named if "://" in named else str(self.folder / named)


def inputs(catalog: Catalog, names: Sequence[str], folder: Path) -> list[Input]:
    """The relations of these names that have sources."""
    pairs = [(catalog.relation(n), catalog.sources.get(n.lower())) for n in names]
    return [Input(r, s, folder) for r, s in pairs if s is not None]


def stream(spark: SparkSession, sources: Sequence[Input]) -> DataFrame:
    """The records of all the relations, as one streaming DataFrame."""
    from pyspark.sql import functions as F

    parts = [_READERS[i.source.kind](spark, i) for i in sources]
    types = [p.schema for p in parts]
    tagged = []
    for number, part in enumerate(parts):
        columns = [
            F.struct("*").alias(f"r{k}") if k == number else F.lit(None).cast(t).alias(f"r{k}")
            for k, t in enumerate(types)
        ]
        tagged.append(part.select(F.lit(number).alias(FROM), *columns))
    whole = tagged[0]
    for part in tagged[1:]:
        whole = whole.unionAll(part)
    return whole


def check_paths(sources: Sequence[Input]) -> None:
    """Refuse missing files and folders before Spark is started."""
    for i in sources:
        if i.source.kind in ("csv", "json", "parquet", "delta"):
            check_folder(i)
        elif i.source.kind == "file" and not os.path.exists(i.path):
            raise FreshviewError(
                f"cannot read '{i.path}' for '{i.relation.name}': No such file or directory",
                instead="check the path in its FROM clause",
            )


def check_folder(i: Input) -> None:
    """Refuse a missing folder; Spark would wait for it, or fail with a page of text."""
    if "://" not in i.path and not os.path.isdir(i.path):
        raise FreshviewError(
            f"there is no folder '{i.path}' for '{i.relation.name}'",
            instead="create it, or correct the FROM clause",
        )


def _csv(spark: SparkSession, i: Input) -> DataFrame:
    frame: DataFrame = _csv_options(_files(spark.readStream, i), i).csv(i.path)
    return frame


def csv_table(spark: SparkSession, i: Input) -> DataFrame:
    """All the lines that a folder of CSV files has now."""
    check_folder(i)
    frame: DataFrame = _csv_options(spark.read, i).csv(i.path)
    return frame


def _csv_options(reader: Any, i: Input) -> Any:
    names = [f"`{c.name}` STRING" for c in i.relation.columns]
    return (
        reader.schema(", ".join([*names, f"{CORRUPT} STRING"]))
        .option("columnNameOfCorruptRecord", CORRUPT)
        .option("mode", "PERMISSIVE")
        .option("sep", str(i.options.get("delimiter", ",")))
        .option("header", str(i.options.get("header", "false")))
        .option("quote", '"')
        .option("escape", '"')
    )


def _json(spark: SparkSession, i: Input) -> DataFrame:
    frame: DataFrame = _files(spark.readStream, i).text(i.path)
    return frame


def json_table(spark: SparkSession, i: Input) -> DataFrame:
    """All the lines that a folder of JSON files has now."""
    check_folder(i)
    return spark.read.text(i.path)


def _parquet(spark: SparkSession, i: Input) -> DataFrame:
    check_folder(i)
    schema = _parquet_schema(spark, i)
    frame: DataFrame = _files(spark.readStream, i).schema(schema).parquet(i.path)
    return frame


def _parquet_schema(spark: SparkSession, i: Input) -> StructType | str:
    """The schema of the files; of an empty folder, the declared one."""
    from pyspark.errors import AnalysisException

    try:
        schema = spark.read.parquet(i.path).schema
    except AnalysisException:
        return ", ".join(f"`{c.name}` {spark_type(c.type)}" for c in i.relation.columns)
    check_columns(i.relation, schema.fieldNames(), f"the files in '{i.path}'")
    wanted = {c.name.lower() for c in i.relation.columns}
    chosen = [f for f in schema.fields if f.name.lower() in wanted or f.name == _deleted(i)]
    from pyspark.sql.types import StructType

    return StructType(chosen)


def parquet_table(spark: SparkSession, i: Input) -> DataFrame:
    """All the rows that a folder of Parquet files has now."""
    check_folder(i)
    return spark.read.schema(_parquet_schema(spark, i)).parquet(i.path)


def _delta(spark: SparkSession, i: Input) -> DataFrame:
    _check_delta(spark, i)
    reader = spark.readStream.format("delta").option("readChangeFeed", "true")
    if "starting_version" in i.options:
        reader = reader.option("startingVersion", str(i.options["starting_version"]))
    if "bytes_per_batch" in i.options:
        reader = reader.option("maxBytesPerTrigger", str(i.options["bytes_per_batch"]))
    names = [f"`{c.name}`" for c in i.relation.columns]
    return reader.load(i.path).selectExpr(*names, "_change_type AS __change")


def delta_table(spark: SparkSession, i: Input) -> DataFrame:
    """All the rows that a Delta table has now."""
    _check_delta(spark, i)
    return spark.read.format("delta").load(i.path)


def _check_delta(spark: SparkSession, i: Input) -> None:
    check_folder(i)
    try:
        with needs("Delta", f"the source of '{i.relation.name}' is a Delta table", spark):
            names = spark.read.format("delta").load(i.path).schema.fieldNames()
    except FreshviewError:
        raise
    except Exception as e:
        raise FreshviewError(
            f"'{i.path}' for '{i.relation.name}' is not a Delta table that can be read: "
            + str(e).splitlines()[0],
            instead="check the path in its FROM clause",
        ) from e
    check_columns(i.relation, names, f"the Delta table '{i.path}'")


def check_columns(relation: Relation, names: Sequence[str], where: str) -> None:
    """Refuse data without a declared column, before anything is read."""
    have = {n.lower() for n in names}
    for c in relation.columns:
        if c.name.lower() not in have:
            raise FreshviewError(
                f"{where} have no column '{c.name}' for '{relation.name}'"
                if where.startswith("the files")
                else f"{where} has no column '{c.name}' for '{relation.name}'",
                instead=f"they have {', '.join(names)}: declare those, or give a new checkpoint",
            )


def _kafka(spark: SparkSession, i: Input) -> DataFrame:
    reader = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", str(i.options["bootstrap"]))
        .option("subscribe", str(i.source.arguments[0]))
        .option("startingOffsets", str(i.options.get("starting", "earliest")))
    )
    if "rows_per_batch" in i.options:
        reader = reader.option("maxOffsetsPerTrigger", str(i.options["rows_per_batch"]))
    try:
        with needs("Kafka", f"the source of '{i.relation.name}' is a Kafka topic", spark):
            frame = reader.load()
    except FreshviewError:
        raise
    except Exception as e:
        raise FreshviewError(
            f"the Kafka topic of '{i.relation.name}' cannot be read: " + str(e).splitlines()[0],
            instead="check the options of its FROM clause",
        ) from e
    return frame.selectExpr(
        "CAST(value AS STRING) AS value", "CAST(key AS STRING) AS key", "partition", "offset"
    )


def _rate(spark: SparkSession, i: Input) -> DataFrame:
    reader = spark.readStream.format("rate").option(
        "rowsPerSecond", str(i.options["rows_per_second"])
    )
    if "partitions" in i.options:
        reader = reader.option("numPartitions", str(i.options["partitions"]))
    return reader.load().select("value", "timestamp")


def _socket(spark: SparkSession, i: Input) -> DataFrame:
    match i.source.arguments:
        case (str(host), int(port)):
            reader = spark.readStream.format("socket").option("host", host or "127.0.0.1")
            return reader.option("port", port).load()
    raise UnsupportedSql(
        f"the source of '{i.relation.name}' needs a host and a port",
        instead="use FROM SOCKET 'host:port'",
    )


def _files(reader: Any, i: Input) -> Any:
    check_folder(i)
    if "files_per_batch" in i.options:
        reader = reader.option("maxFilesPerTrigger", int(i.options["files_per_batch"]))
    return reader


def _deleted(i: Input) -> str:
    return str(i.options.get("deleted", ""))


_READERS: Mapping[str, Callable[[SparkSession, Input], DataFrame]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
    "delta": _delta,
    "kafka": _kafka,
    "rate": _rate,
    "socket": _socket,
}


def spark_type(t: Type) -> str:
    """The SQL type of Spark that holds values of a type.

    >>> from freshview.calculus.types import DATE, decimal
    >>> spark_type(decimal(2)), spark_type(DATE)
    ('DECIMAL(38, 2)', 'DATE')
    """
    if t.kind == "decimal":
        return f"DECIMAL(38, {t.scale})"
    return {
        "int": "BIGINT",
        "double": "DOUBLE",
        "date": "DATE",
        "timestamp": "TIMESTAMP_NTZ",
        "bool": "BOOLEAN",
        "null": "BOOLEAN",
        "string": "STRING",
    }[t.kind]
