"""Freshview keeps answers fresh: views maintained by deltas as the data changes.

>>> import freshview
>>> db = freshview.connect()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from freshview.errors import FreshviewError, FreshviewWarning

if TYPE_CHECKING:
    __version__: str

    from freshview import dataflow as dataflow
    from freshview import linear as linear
    from freshview import models as models
    from freshview import signal as signal
    from freshview import theta as theta
    from freshview.durable.settings import FlowSettings
    from freshview.pipelines.open import materialized_view, pipeline
    from freshview.pipelines.pipeline import Pipeline
    from freshview.program.statistics import Statistics as Sizes
    from freshview.runtime.database.connect import connect
    from freshview.runtime.database.database import Database
    from freshview.runtime.database.writer import Writer
    from freshview.runtime.ingest.products import Product
    from freshview.runtime.persistence.restore import restore
    from freshview.runtime.views.factorized import FactorizedView
    from freshview.runtime.views.view import Statistics, ViewHandle
    from freshview.spark.matrix.program import SparkProgram
    from freshview.spark.signal.query import SparkSignalQuery
    from freshview.spark.theta.join import SparkThetaJoin

__all__ = [
    "Database",
    "FactorizedView",
    "FlowSettings",
    "FreshviewError",
    "FreshviewWarning",
    "Pipeline",
    "Product",
    "Sizes",
    "SparkProgram",
    "SparkSignalQuery",
    "SparkThetaJoin",
    "Statistics",
    "ViewHandle",
    "Writer",
    "__version__",
    "connect",
    "dataflow",
    "linear",
    "materialized_view",
    "models",
    "pipeline",
    "restore",
    "signal",
    "theta",
]


_HOMES = {
    "Database": "runtime.database.database",
    "FlowSettings": "durable.settings",
    "FactorizedView": "runtime.views.factorized",
    "Pipeline": "pipelines.pipeline",
    "Product": "runtime.ingest.products",
    "Sizes": "program.statistics",
    "SparkProgram": "spark.matrix.program",
    "SparkSignalQuery": "spark.signal.query",
    "SparkThetaJoin": "spark.theta.join",
    "Statistics": "runtime.views.view",
    "ViewHandle": "runtime.views.view",
    "Writer": "runtime.database.writer",
    "connect": "runtime.database.connect",
    "materialized_view": "pipelines.open",
    "pipeline": "pipelines.open",
    "restore": "runtime.persistence.restore",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Everything is imported when it is asked for.

    So matrix programs need no SQL parser, a database no Spark, and neither the other.
    """
    if name in ("dataflow", "linear", "models", "signal", "theta"):
        return import_module(f"freshview.{name}")
    if name in _HOMES:
        # `Statistics` is what a view costs, so that of the data has another name here.
        own = "Statistics" if name == "Sizes" else name
        return getattr(import_module(f"freshview.{_HOMES[name]}"), own)
    if name == "__version__":
        from importlib.metadata import version

        return globals().setdefault(name, version("freshview"))
    raise AttributeError(f"module 'freshview' has no attribute '{name}'")
