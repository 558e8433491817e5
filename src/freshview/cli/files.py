"""Files that commands write."""

from __future__ import annotations

from pathlib import Path

from freshview.errors import FreshviewError


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
