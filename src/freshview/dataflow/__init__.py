"""Plans over live streams: one logical plan for functional Python, components and SQL (Squall)."""

from freshview.dataflow.execute.flow import Flow
from freshview.dataflow.front.components import (
    AnyJoin,
    Component,
    DataSource,
    EquiJoin,
    Flattening,
    Grouping,
    Projection,
    Selection,
)
from freshview.dataflow.front.from_sql import from_sql
from freshview.dataflow.front.stream import Stream, source, table
from freshview.dataflow.front.values import average, count, greatest, least, total

__all__ = [
    "AnyJoin",
    "Component",
    "DataSource",
    "EquiJoin",
    "Flattening",
    "Flow",
    "Grouping",
    "Projection",
    "Selection",
    "Stream",
    "average",
    "count",
    "from_sql",
    "greatest",
    "least",
    "source",
    "table",
    "total",
]
