"""Freshet keeps answers fresh: views maintained by deltas as the data changes.

>>> import freshet
>>> db = freshet.connect()
"""

from freshet.errors import FreshetError, FreshetWarning
from freshet.runtime.database import Database, connect
from freshet.runtime.snapshot import restore
from freshet.runtime.view import Statistics, ViewHandle
from freshet.runtime.writer import Writer

__all__ = [
    "Database",
    "FreshetError",
    "FreshetWarning",
    "Statistics",
    "ViewHandle",
    "Writer",
    "connect",
    "restore",
]
