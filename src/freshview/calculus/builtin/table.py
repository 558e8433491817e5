"""All the functions of the table, family by family."""

from __future__ import annotations

from freshview.calculus.builtin import (
    bits,
    dates,
    formats,
    hashes,
    json_text,
    maths,
    models,
    patterns,
    regex,
    text,
    urls,
    zones,
)
from freshview.calculus.builtin.entry import Entry
from freshview.calculus.casts import REFUSING as CASTS_AND_MOVES

FAMILIES = (
    *(text, regex, maths, bits, hashes, dates, patterns),
    *(zones, urls, formats, json_text, models),
)

ENTRIES: tuple[Entry, ...] = tuple(e for family in FAMILIES for e in family.ENTRIES)

ALIASES = {name: e.names[0] for e in ENTRIES for name in e.names}
"""Every name of SQL, with that of the calculus."""

REFUSING = CASTS_AND_MOVES | {e.names[0] for e in ENTRIES if e.refuses}
"""The functions that may refuse a value: engines call them when all other tests are passed."""
