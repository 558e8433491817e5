"""The classes of Spark that signatures name, for rooms that do not import Spark themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as DataFrame
    from pyspark.sql import SparkSession as SparkSession
