"""`freshview serve`: a script's views on a page, as they change."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from freshview.errors import FreshviewError
from freshview.runtime.database.database import Database
from freshview.server.broadcast import Broadcast
from freshview.server.http import application
from freshview.server.live import LiveDatabase
from freshview.server.options import ServeOptions

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


def serve(
    db: Database, folder: Path, options: ServeOptions, tell: Callable[[object], None]
) -> None:
    """Serve the page until the process is interrupted; sources of the script are read beside it."""
    token = options.token or secrets.token_urlsafe(24)
    live = LiveDatabase(db, Broadcast())
    listener = _listen(options)
    host, port = listener.getsockname()[:2]
    names = {*LOCAL_NAMES, options.host} if options.host not in ("0.0.0.0", "::") else set()
    config = uvicorn.Config(
        application(live, token, names),
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
    shown = f"[{host}]" if ":" in host else host
    tell(f"the page is at http://{shown}:{port}/?token={token} (Ctrl-C ends it)")
    live.start()
    live.follow(folder, options.batch, tell)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        live.close()
        listener.close()


def _listen(options: ServeOptions) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        return socket.create_server((options.host, options.port), family=family)
    except OSError as e:
        raise FreshviewError(
            f"cannot listen on {options.host}:{options.port}: {_reason(e)}",
            instead="choose another --port, or 0 for any that is free",
        ) from e


def _reason(e: OSError) -> str:
    """What the system says; Python adds the address to it."""
    return os.strerror(e.errno) if isinstance(e.errno, int) and e.errno > 0 else str(e)
