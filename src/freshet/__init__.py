"""Freshet keeps answers fresh: views maintained by deltas as the data changes.

>>> import freshet
>>> db = freshet.connect()
"""

from freshet.errors import FreshetError
from freshet.runtime.database import Database, connect
from freshet.runtime.view import ViewHandle

__all__ = ["Database", "FreshetError", "ViewHandle", "connect"]
