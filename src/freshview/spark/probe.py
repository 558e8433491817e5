"""Check that the workers of a session can import Freshview, once per session."""

from __future__ import annotations

from pathlib import Path
from weakref import WeakSet

from freshview import errors
from freshview.errors import FreshviewError

_CHECKED: WeakSet[object] = WeakSet()
"""The contexts whose workers can import Freshview."""

# The function is pickled by value: its imports run on the worker.
_LOOK = """
def look(_):
    import sys
    try:
        import freshview
        import freshview.durable.task
    except ImportError as e:
        return [(sys.executable, str(e))]
    return [(sys.executable, "")]
"""


class NoWorkers(FreshviewError):
    """The workers of a session cannot import Freshview."""


def check_workers(spark: object) -> None:
    """Refuse a session whose workers cannot import Freshview, and name the setting that helps."""
    sc = getattr(spark, "sparkContext", None)
    if sc is None or sc in _CHECKED:
        return
    scope: dict[str, object] = {"__name__": "__main__"}
    exec(_LOOK, scope)
    parts = max(1, int(sc.defaultParallelism))
    answers = sc.parallelize(range(parts), parts).mapPartitions(scope["look"]).collect()
    for python, problem in answers:
        if problem:
            raise NoWorkers(
                f"the Python workers of this Spark session cannot import Freshview: {problem} "
                f"(in {python})",
                instead=_remedy(),
            )
    _CHECKED.add(sc)


def _remedy() -> str:
    """The setting that helps; sessions of Freshview have it."""
    own = Path(errors.__file__).resolve().parent.parent
    return (
        "install Freshview where the executors run (spark.pyspark.python names their Python, "
        "spark.archives ships an environment), or, where they share this machine's files, make the "
        f"session with spark.executorEnv.PYTHONPATH={own}"
    )
