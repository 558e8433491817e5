"""Rows of CSV lines that somebody sends to a port of this machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final, TextIO

from freshview.calculus.rows import Row
from freshview.calculus.schema import Relation
from freshview.errors import BadRow, FreshviewError
from freshview.runtime.ingest import csv

LONGEST = 1 << 20
"""Characters of a row; whoever sends more without an end would fill the memory."""

END: Final[Row] = ()
"""What comes when the peer has closed; no relation has rows without columns."""


@dataclass(frozen=True, slots=True)
class Item:
    """A row of a relation, its end, or what went wrong with it."""

    relation: str
    row: Row = END
    error: FreshviewError | None = None


class Listener:
    """Waits for one peer and puts its rows into a queue, until the peer closes."""

    def __init__(
        self, relation: Relation, host: str, port: int, delimiter: str, items: SimpleQueue[Item]
    ) -> None:
        self.relation = relation
        self._delimiter = delimiter
        self._items = items
        try:
            self._server = socket.create_server((host, port))
        except (OSError, OverflowError) as e:
            raise FreshviewError(
                f"cannot listen on {host}:{port} for '{relation.name}': {e}",
                instead="choose another port in its FROM clause",
            ) from e
        self.host, self.port = self._server.getsockname()[:2]

    @property
    def words(self) -> str:
        """Where it listens."""
        return f"listening on {self.host}:{self.port} for {self.relation.name}"

    def start(self) -> None:
        """Wait for the peer in a thread of its own."""
        threading.Thread(target=self._run, name="freshview socket", daemon=True).start()

    def close(self) -> None:
        """Listen no longer."""
        self._server.close()

    def _run(self) -> None:
        name = self.relation.name
        try:
            peer, _ = self._server.accept()
            with peer, peer.makefile(encoding="utf-8", newline="") as lines:
                where = f"{self.host}:{self.port}"
                some = _bounded(lines, name)
                for row in csv.parse(some, where, self.relation, self._delimiter, LONGEST):
                    self._items.put(Item(name, row))
            self._items.put(Item(name))
        except FreshviewError as e:
            self._items.put(Item(name, error=e))
        except UnicodeDecodeError as e:
            why = f"what was sent for '{name}' is not UTF-8 text"
            self._items.put(Item(name, error=BadRow(why, instead="convert it to UTF-8")))
            del e
        except OSError as e:
            why = f"the connection for '{name}' broke: {e.strerror or e}"
            self._items.put(Item(name, error=BadRow(why)))


def _bounded(lines: TextIO, name: str) -> Iterator[str]:
    """The lines of a peer, as far as each has an end within reach."""
    while line := lines.readline(LONGEST + 1):
        if len(line) > LONGEST:
            raise csv.too_long(name, LONGEST)
        yield line
