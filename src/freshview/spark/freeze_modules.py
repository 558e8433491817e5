"""Exclude the permanent objects of a Python worker from garbage collection.

PySpark collects garbage after every task. To traverse all the modules and programs takes longer
than most of our tasks, so they are frozen.
"""

from __future__ import annotations

import gc

_frozen: set[str] = set()


def freeze_modules(place: str) -> None:
    """Freeze the objects of a process after its first task of the pipeline at a place.

    Garbage of earlier pipelines, which was frozen, too, is collected first.
    """
    if place not in _frozen:
        _frozen.add(place)
        gc.unfreeze()
        gc.collect()
        gc.freeze()
