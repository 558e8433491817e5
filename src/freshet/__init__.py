"""Freshet keeps answers fresh: views maintained by deltas as the data changes.

>>> import freshet
>>> db = freshet.connect()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from freshet.errors import FreshetError, FreshetWarning
from freshet.runtime.connect import connect
from freshet.runtime.database import Database
from freshet.runtime.factorized import FactorizedView
from freshet.runtime.products import Product
from freshet.runtime.snapshot import restore
from freshet.runtime.view import Statistics, ViewHandle
from freshet.runtime.writer import Writer

if TYPE_CHECKING:
    from freshet import linear as linear
    from freshet import models as models
    from freshet.spark.open import materialized_view, pipeline
    from freshet.spark.pipeline import Pipeline

__all__ = [
    "Database",
    "FactorizedView",
    "FreshetError",
    "FreshetWarning",
    "Pipeline",
    "Product",
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


def __getattr__(name: str) -> Any:
    """The pipeline, models and matrix programs are imported when they are asked for.

    They bring Arrow and NumPy along.
    """
    if name in ("linear", "models"):
        return import_module(f"freshet.{name}")
    if name in ("materialized_view", "pipeline"):
        from freshet.spark import open as opened

        return getattr(opened, name)
    if name == "Pipeline":
        from freshet.spark.pipeline import Pipeline

        return Pipeline
    raise AttributeError(f"module 'freshet' has no attribute '{name}'")
