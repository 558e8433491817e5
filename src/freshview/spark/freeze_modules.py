"""What stays in a Python process of Spark from task to task.

PySpark collects garbage after every task, and looks at all the modules and programs for it, which
takes longer than most of our tasks. What is there to stay is set aside.
"""

from __future__ import annotations

import gc

_frozen: set[str] = set()


def freeze_modules(place: str) -> None:
    """Set aside what a process has when it has first worked for the pipeline at a place.

    Garbage of pipelines before it, which was set aside with the rest, is taken away.
    """
    if place not in _frozen:
        _frozen.add(place)
        gc.unfreeze()
        gc.collect()
        gc.freeze()
