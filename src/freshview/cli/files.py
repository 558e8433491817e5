"""Files that commands write."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from freshview.errors import FreshviewError

LONGEST = 150
"""Characters of a name that file systems take, with room for an ending."""


def file_name(name: str) -> str:
    """The name of a view as that of a file in a folder: it leads to no other one.

    >>> file_name("daily sales"), file_name("../x")
    ('daily sales', '..%2Fx')
    """
    quoted = quote(name, safe=" ")
    if len(quoted) <= LONGEST:
        return quoted
    return f"{quoted[:LONGEST]}-{sha256(name.encode()).hexdigest()[:16]}"


def write_file(path: Path, data: bytes | list[str]) -> Path:
    """Write bytes or lines to a file, its folder made if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else "\n".join([*data, ""]).encode())
    except OSError as e:
        raise FreshviewError(
            f"cannot write '{path}': {e.strerror}", instead="choose another folder"
        ) from e
    return path
