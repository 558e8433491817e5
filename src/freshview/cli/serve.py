"""`freshview serve`: the live page of a script."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

from freshview.cli.script import read_script
from freshview.errors import FreshviewError
from freshview.runtime.settings import DatabaseSettings
from freshview.server.options import ServeOptions


def serve_script(
    script: Path,
    settings: DatabaseSettings,
    options: ServeOptions,
    tell: Callable[[object], None],
) -> None:
    """Serve the views of a script until the user ends it."""
    for module in ("starlette", "uvicorn"):
        if importlib.util.find_spec(module) is None:
            raise FreshviewError(
                f"the live page needs {module}", instead="pip install 'freshview[server]'"
            )
    from freshview.server.serve import serve

    serve(read_script(script, settings), script.parent, options, tell)
