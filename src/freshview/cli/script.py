"""Scripts: files of declarations."""

from __future__ import annotations

from pathlib import Path

from freshview.errors import FreshviewError
from freshview.runtime.database.database import Database
from freshview.runtime.settings import DatabaseSettings


def read_text(path: Path, what: str = "a script of SQL") -> str:
    """The text of a script, or of another file."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as e:
        raise FreshviewError(f"cannot read '{path}': {e.strerror}", instead=f"name {what}") from e
    except UnicodeDecodeError as e:
        raise FreshviewError(f"'{path}' is not UTF-8 text", instead="convert it to UTF-8") from e


def read_script(path: Path, settings: DatabaseSettings) -> Database:
    """A database with everything that a script declares."""
    db = Database(settings)
    db.execute(read_text(path), str(path))
    return db
