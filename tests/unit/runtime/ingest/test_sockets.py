"""Rows from a socket: a peer that never ends a line must not fill the memory."""

from __future__ import annotations

import socket
from queue import SimpleQueue

import pytest

from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import INT, STRING
from freshview.errors import BadRow
from freshview.runtime.ingest import sockets
from freshview.runtime.ingest.sockets import END, Item, Listener

RELATION = Relation("r", (Column("k", INT), Column("s", STRING)))


def received(*pieces: bytes, most: int = 1) -> tuple[list[Item], int]:
    """What a listener makes of bytes, the last of them `most` times; and how many it took."""
    items: SimpleQueue[Item] = SimpleQueue()
    listener = Listener(RELATION, "127.0.0.1", 0, ",", items)
    listener.start()
    sent = 0
    with socket.create_connection((listener.host, listener.port)) as peer:
        peer.settimeout(20)
        try:
            for piece in pieces:
                for _ in range(most if piece is pieces[-1] else 1):
                    peer.sendall(piece)
                    sent += len(piece)
        except OSError:  # it has hung up
            pass
    rows = [items.get(timeout=20)]
    while rows[-1].row != END and rows[-1].error is None:
        rows.append(items.get(timeout=20))
    listener.close()
    return rows, sent


def test_rows_come_to_their_end() -> None:
    items, _ = received(b"1,a\n2,", b'"b\nc"\n', b"3,d")
    assert [i.row for i in items] == [(1, "a"), (2, "b\nc"), (3, "d"), END]


@pytest.mark.parametrize(
    ("first", "piece"),
    [(b"1,", b"x" * 65536), (b"1,", b'"\n",' * 16384), (b"1,", "ä".encode() * 32768)],
    ids=["line", "quote", "utf-8"],
)
def test_a_row_without_an_end_is_refused(first: bytes, piece: bytes) -> None:
    items, sent = received(first, piece, most=2000)
    assert isinstance(items[-1].error, BadRow)
    assert "more than 1,048,576 characters" in str(items[-1].error)
    assert sent < 100 * sockets.LONGEST, "it was read to its end"
