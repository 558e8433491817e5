"""Scripts: files of declarations."""

from __future__ import annotations

from pathlib import Path

from freshet.errors import FreshetError
from freshet.plan.options import Options
from freshet.runtime.database import Database


def read_script(path: Path, options: Options) -> Database:
    """A database with everything that a script declares."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as e:
        raise FreshetError(
            f"cannot read '{path}': {e.strerror}", instead="name a script of SQL"
        ) from e
    except UnicodeDecodeError as e:
        raise FreshetError(f"'{path}' is not UTF-8 text", instead="convert it") from e
    db = Database(options)
    db.execute(text, str(path))
    return db
