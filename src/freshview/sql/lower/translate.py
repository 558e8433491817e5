"""The translation put together: values, conditions and SELECTs, each by its own module."""

from __future__ import annotations

from freshview.calculus.walk import Names
from freshview.sql.catalog import Catalog
from freshview.sql.lower.conditions.condition import condition
from freshview.sql.lower.env import Env, Translation
from freshview.sql.lower.parts import Parts
from freshview.sql.lower.select import count, rows, scalar
from freshview.sql.lower.values.value import value

TRANSLATION = Translation(value, condition, rows, count, scalar)


def environment(catalog: Catalog, names: Names, parts: Parts | None = None) -> Env:
    """Where a query is lowered: outside of any SELECT."""
    return Env(catalog, names, TRANSLATION, parts=parts)
