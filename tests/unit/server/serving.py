"""A live page on a port of this machine, and what a client of it needs."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from freshview.runtime.database.database import Database
from freshview.runtime.settings import DatabaseSettings
from freshview.server.broadcast import Broadcast
from freshview.server.http import application
from freshview.server.live import LiveDatabase

SCRIPT = """
CREATE STREAM orders (id INT NOT NULL, customer STRING NOT NULL, price DECIMAL(8, 2) NOT NULL);
CREATE VIEW revenue AS SELECT customer, SUM(price) AS total FROM orders GROUP BY customer;
"""
TOKEN = "a token of a test"


@dataclass
class Served:
    """A server, and requests to it."""

    live: LiveDatabase
    port: int
    token: str = TOKEN
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, path: str, body: object = None, method: str = "", **headers: str
    ) -> tuple[int, Any]:
        """Status and body of an answer; with a body the request is a POST of JSON."""
        sent = {"Authorization": f"Bearer {self.token}", **self.headers, **headers}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        request = urllib.request.Request(self.url + path, data, sent, method=method or None)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, text, kind = answer.status, answer.read(), answer.headers["content-type"]
        except urllib.error.HTTPError as e:
            status, text, kind = e.code, e.read(), e.headers["content-type"]
        return status, json.loads(text) if kind == "application/json" else text.decode()

    def sql(self, sql: str) -> tuple[int, Any]:
        return self.ask("/api/statements", {"sql": sql})

    def events(self) -> Iterator[dict[str, Any]]:
        """Events as they come, for at most a minute."""
        headers = {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(self.url + "/api/events", headers=headers)
        end = time.monotonic() + 60
        with urllib.request.urlopen(request, timeout=60) as lines:
            for line in lines:
                assert time.monotonic() < end, "no such event within a minute"
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])


@contextmanager
def served(script: str = SCRIPT, token: str = TOKEN, port: int = 0) -> Iterator[Served]:
    """A page over a new database, until the end."""
    db = Database(DatabaseSettings(engine="reference"))
    db.execute(script)
    live = LiveDatabase(db, Broadcast())
    listener = socket.create_server(("127.0.0.1", port))
    app = application(live, token, ("127.0.0.1", "localhost"))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    live.start()
    thread.start()
    try:
        yield Served(live, listener.getsockname()[1], token)
    finally:
        live.close()
        server.should_exit = True
        thread.join(20)
        listener.close()
