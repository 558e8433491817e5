"""Freshet keeps answers fresh: views maintained by deltas as the data changes.

>>> import freshet
>>> db = freshet.connect()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from freshet.errors import FreshetError, FreshetWarning

if TYPE_CHECKING:
    from freshet import linear as linear
    from freshet import models as models
    from freshet.runtime.connect import connect
    from freshet.runtime.database import Database
    from freshet.runtime.factorized import FactorizedView
    from freshet.runtime.products import Product
    from freshet.runtime.snapshot import restore
    from freshet.runtime.view import Statistics, ViewHandle
    from freshet.runtime.writer import Writer
    from freshet.spark.matrix.program import SparkProgram
    from freshet.spark.open import materialized_view, pipeline
    from freshet.spark.pipeline import Pipeline

__all__ = [
    "Database",
    "FactorizedView",
    "FreshetError",
    "FreshetWarning",
    "Pipeline",
    "Product",
    "SparkProgram",
    "Statistics",
    "ViewHandle",
    "Writer",
    "connect",
    "linear",
    "materialized_view",
    "models",
    "pipeline",
    "restore",
]


_HOMES = {
    "Database": "runtime.database",
    "FactorizedView": "runtime.factorized",
    "Pipeline": "spark.pipeline",
    "Product": "runtime.products",
    "SparkProgram": "spark.matrix.program",
    "Statistics": "runtime.view",
    "ViewHandle": "runtime.view",
    "Writer": "runtime.writer",
    "connect": "runtime.connect",
    "materialized_view": "spark.open",
    "pipeline": "spark.open",
    "restore": "runtime.snapshot",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Everything is imported when it is asked for.

    So matrix programs need no SQL parser, a database no Spark, and neither the other.
    """
    if name in ("linear", "models"):
        return import_module(f"freshet.{name}")
    if name in _HOMES:
        return getattr(import_module(f"freshet.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'freshet' has no attribute '{name}'")
