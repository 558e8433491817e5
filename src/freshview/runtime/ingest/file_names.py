"""Names that users chose, as names of files."""

from __future__ import annotations

from hashlib import sha256
from urllib.parse import quote

LONGEST = 150
"""Characters of a name that file systems take, with room for an ending."""


def file_name(name: str) -> str:
    """The name of a view as that of a file in a folder: it leads to no other one.

    >>> file_name("daily sales"), file_name("../x"), file_name("..")
    ('daily sales', '..%2Fx', '%%2E%2E')
    """
    quoted = quote(name, safe=" ")
    if not name.strip("."):
        quoted = f"%{name.replace('.', '%2E')}"
    if len(quoted) <= LONGEST:
        return quoted
    return f"{quoted[:LONGEST]}-{sha256(name.encode()).hexdigest()[:16]}"
