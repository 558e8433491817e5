"""SQL in, queries of the calculus out.

text -> parse (our own tree) -> lower (terms)        `load.load` does both for a whole script
"""

from freshview.sql.catalog import Catalog, Source

__all__ = ["Catalog", "Source"]
