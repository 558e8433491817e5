"""The manifest of a snapshot: one JSON text with a checksum, replaced in one step."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from freshview.errors import SnapshotProblem
from freshview.files import write_whole

FORMAT = 1
MANIFEST = "manifest.json"

Manifest: TypeAlias = Mapping[str, Any]
"""What a manifest, or an entry of it, says: values of JSON by name."""


def folder_of(path: str | Path) -> Path:
    """The folder that a path names."""
    if not isinstance(path, str | os.PathLike) or "\0" in str(path):
        raise SnapshotProblem(
            f"a snapshot is kept in a folder, not in {path!r}", instead="give its path"
        )
    return Path(path)


def write_manifest(path: Path, body: Mapping[str, object]) -> None:
    """Replace the manifest of a folder."""
    text = json.dumps(body)
    check = hashlib.sha256(text.encode()).hexdigest()
    whole = json.dumps({"freshview snapshot": FORMAT, "sha256": check, "body": text}).encode()
    write_whole(path / MANIFEST, whole, one_writer=True, sync=True)


def read_manifest(path: Path) -> Manifest:
    """What the manifest of a folder says, if it is whole."""
    try:
        data = (path / MANIFEST).read_bytes()
    except OSError as e:
        raise SnapshotProblem(f"there is no snapshot in {path}: {e.strerror}") from e
    damaged = SnapshotProblem(
        f"{path / MANIFEST} is not a snapshot, or it is damaged",
        instead="restore an older snapshot",
    )
    try:
        outer = json.loads(data)
        form, check, text = outer["freshview snapshot"], outer["sha256"], outer["body"]
    except (ValueError, KeyError, TypeError) as e:
        raise damaged from e
    if not isinstance(text, str) or hashlib.sha256(text.encode()).hexdigest() != check:
        raise damaged
    if form != FORMAT:
        raise SnapshotProblem(
            f"{path} was written by another version of Freshview",
            instead="restore it with that one",
        )
    body: Manifest = json.loads(text)
    return body
