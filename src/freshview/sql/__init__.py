"""SQL in, queries of the calculus out.

text -> parse (our own tree) -> lower (terms)        load does both for a whole script
"""

from freshview.sql.catalog import Catalog, Source
from freshview.sql.load import load

__all__ = ["Catalog", "Source", "load"]
