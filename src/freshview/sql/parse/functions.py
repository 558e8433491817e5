"""The names of functions that the parser library leaves as they are written.

It knows many of them, and turns their arguments into those of another dialect.
"""

from __future__ import annotations

from freshview.calculus.builtin.table import ALIASES

LOWERED = (
    *("nvl", "ifnull", "nvl2", "nullif", "nullifzero", "zeroifnull", "nanvl", "isnan"),
    *("isnull", "isnotnull", "equal_null", "decode", "mod", "negative", "positive", "div"),
    *("date_part", "datepart", "date_add", "date_sub", "dateadd", "date_diff", "datediff"),
    *("timestampadd", "timestampdiff", "timestamp_add", "timestamp_diff", "len", "char_length"),
    *("character_length", "lcase", "ucase", "upper", "lower", "length", "like", "add_months"),
    *("to_number", "try_to_number", "typeof"),
)
"""Functions that are written by others (`sql/lower/values/rewritten.py`)."""

OF_UNITS = frozenset(
    ("date_add", "dateadd", "date_diff", "datediff", "timestampadd", "timestampdiff")
)
"""Functions whose first argument may be a unit, written as a word: DATEADD(HOUR, 1, t)."""

KEPT = frozenset(name.upper() for name in (*ALIASES, *LOWERED))

WORDED = frozenset(("TRIM", "OVERLAY", "POSITION", "SUBSTRING", "SUBSTR"))
"""Functions whose arguments may have words between them: POSITION(a IN b)."""
