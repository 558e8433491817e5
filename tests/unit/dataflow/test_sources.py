"""Plans that read what their declarations name: the same rows from every front end."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from freshview.dataflow import AnyJoin, DataSource, Grouping, Stream, count, from_sql, source, table
from freshview.errors import FreshviewError, UnsupportedSql

BIDS = "1,10\n2,12\n1,7\n"
ASKS = "9\n11\n"
SQL = """
CREATE STREAM bids (broker INT NOT NULL, price INT NOT NULL)
  FROM FILE 'bids.csv' LINE DELIMITED CSV;
CREATE STREAM asks (price INT NOT NULL) FROM FILE 'asks.csv' LINE DELIMITED CSV;
SELECT bids.broker, COUNT(*) AS n FROM bids JOIN asks ON bids.price >= asks.price
  GROUP BY bids.broker;
"""


def functional() -> Stream:
    bids = source("bids", {"broker": "int", "price": "int"}, file="bids.csv")
    asks = source("asks", {"price": "int"}, file="asks.csv")
    pairs = bids.join(asks, lambda b, a: b.price >= a.price)
    return pairs.group_by(lambda r: r.broker, n=count())


def imperative() -> Stream:
    bids = DataSource("bids", {"broker": "int", "price": "int"}, file="bids.csv")
    asks = DataSource("asks", {"price": "int"}, file="asks.csv")
    pairs = AnyJoin(bids, asks, lambda b, a: b.price >= a.price)
    return pairs.add(Grouping("broker", n=count())).stream


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bids.csv").write_text(BIDS)
    (tmp_path / "asks.csv").write_text(ASKS)
    return tmp_path


@pytest.mark.parametrize("make", [functional, imperative, lambda: from_sql(SQL)])
@pytest.mark.parametrize("batch", [1, 2, 100])
def test_files_are_read(make: object, batch: int, folder: Path) -> None:
    assert callable(make)
    with make().run(engine="reference") as flow:
        assert flow.read(folder, batch=batch) == {"bids": 3, "asks": 2}
        assert sorted(flow.rows()) == [(1, 1), (2, 2)]


def test_tables_come_first(folder: Path) -> None:
    names = table("names", {"broker": "int", "name": "string"}, file="names.csv")
    (folder / "names.csv").write_text("1,ann\n2,bob\n")
    bids = source("bids", {"broker": "int", "price": "int"}, file="bids.csv")
    plan = bids.join(names, lambda b, n: b.broker == n.broker).group_by(lambda r: r.name, n=count())
    with plan.run(engine="reference") as flow:
        assert list(flow.read(folder)) == ["names", "bids"]
        assert sorted(flow.rows()) == [("ann", 2), ("bob", 1)]


def test_late_rows_of_a_file_are_counted(folder: Path) -> None:
    bids = source("bids", {"broker": "int", "at": "int"}, time="at", delay=1, file="bids.csv")
    with bids.group_by(n=count()).run(engine="reference") as flow:
        flow.read(folder, batch=1)
        assert flow.late == {"bids": 1}
        assert flow.rows() == [(2,)]


def test_sockets_are_read() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = (
        f"CREATE STREAM bids (broker INT NOT NULL) FROM SOCKET '127.0.0.1' PORT {port} "
        "LINE DELIMITED CSV; SELECT broker, COUNT(*) AS n FROM bids GROUP BY broker"
    )
    counts: dict[str, int] = {}
    with from_sql(script).run(engine="reference") as flow:
        reader = threading.Thread(target=lambda: counts.update(flow.read()))
        reader.start()
        while True:
            try:
                peer = socket.create_connection(("127.0.0.1", port), timeout=5)
                break
            except ConnectionRefusedError:
                continue
        with peer:
            peer.sendall(b"1\n2\n1\n")
        reader.join(30)
        assert counts == {"bids": 3}
        assert sorted(flow.rows()) == [(1, 2), (2, 1)]


def test_what_only_a_pipeline_reads_is_refused(folder: Path) -> None:
    with (
        from_sql("CREATE STREAM a (x INT) FROM JSON 'a'; SELECT x FROM a").run() as flow,
        pytest.raises(UnsupportedSql, match="JSON, is read by the pipeline on Spark"),
    ):
        flow.read(folder)


def test_a_file_that_is_not_there(folder: Path) -> None:
    plan = source("a", {"x": "int"}, file="nowhere.csv").group_by(n=count())
    with plan.run(engine="reference") as flow, pytest.raises((FreshviewError, OSError)):
        flow.read(folder)
