"""The folders of running state: private to one user."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from freshview.codegen.library.private_files import NotPrivate, private_folder

SHARED_MEMORY = Path("/dev/shm")


def memory_root() -> Path:
    """The folder of this user's state: in shared memory, or in temporary files without it.

    Every process computes it: executors may run as another user than the driver.
    """
    root = SHARED_MEMORY if SHARED_MEMORY.is_dir() else Path(tempfile.gettempdir())
    return root / f"freshview-{os.geteuid()}"


def make_private(part: Path) -> None:
    """Create the folder of a part and that of its pipeline, private to this user."""
    root = part.parent.parent
    if root == memory_root():
        private_folder(root)
    else:
        root.mkdir(parents=True, exist_ok=True)
        mode = root.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise NotPrivate(
                f"anybody may rename what is in the folder '{root}'",
                instead="name another one, FlowSettings(memory=...), or set its sticky bit",
            )
    private_folder(part.parent)
    private_folder(part)
