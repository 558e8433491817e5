"""SQL in, queries of the calculus out.

text -> parse (our own tree) -> lower (terms)        load does both for a whole script
"""

from freshet.sql.catalog import Catalog, Source
from freshet.sql.load import load
from freshet.sql.lower import lower

__all__ = ["Catalog", "Source", "load", "lower"]
