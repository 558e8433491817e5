"""The API: what it answers, what it refuses and in which words, and events as data changes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from freshview.server.broadcast import Broadcast
from freshview.server.http import PAGE
from tests.unit.server.serving import SCRIPT, Served, served


@pytest.fixture
def page() -> Iterator[Served]:
    with served() as page:
        yield page


def view_event(page: Served, name: str, **wanted: Any) -> dict[str, Any]:
    """The first event of a view with these values."""
    for event in page.events():
        if event["type"] == "view" and event["name"] == name:
            if all(event[key] == value for key, value in wanted.items()):
                return event
    raise AssertionError("the events have ended")


def test_the_page_and_its_parts_come_from_here(page: Served) -> None:
    for path in ("/", "/page.js", "/page.css", "/icon.svg"):
        status, text = page.ask(path)
        assert (status, bool(text)) == (200, True)
        for word in ("https://", "cdn", "//fonts"):
            assert word not in text
    assert {p.name for p in PAGE.iterdir()} == {"index.html", "page.js", "page.css", "icon.svg"}


def test_views_are_read(page: Served) -> None:
    assert page.ask("/api/relations/orders/rows", {"rows": [[1, "Acme", 45.83], [2, "Z", 1]]}) == (
        200,
        {"rows": 2, "version": 1},
    )
    assert page.ask("/api/relations/orders/rows", {"rows": [[2, "Z", 1]]}, "DELETE")[0] == 200
    status, body = page.ask("/api/views/revenue")
    assert (status, body["rows"], body["count"]) == (200, [["Acme", "45.83"]], 1)
    assert page.ask("/api/views/revenue?limit=0")[1]["rows"] == []
    _, about = page.ask("/api")
    assert [v["name"] for v in about["views"]] == ["revenue"]
    assert about["relations"][0]["columns"][2] == {"name": "price", "type": "decimal(2)"}
    assert "== choice" in page.ask("/api/views/revenue/plan")[1]
    graph = page.ask("/api/views/revenue/graph.svg")[1]
    assert graph.startswith("<svg")
    assert "orders" in graph
    assert "revenue" in graph


def test_statements(page: Served) -> None:
    assert page.sql("INSERT INTO orders VALUES (1, 'Acme', 2.5), (2, 'Zest', 1)")[0] == 200
    assert page.sql("SELECT total FROM revenue ORDER BY total")[1]["rows"] == [["1.00"], ["2.50"]]
    assert page.sql("CREATE VIEW n AS SELECT COUNT(*) AS n FROM orders")[0] == 200
    assert page.ask("/api/views/n")[1]["rows"] == [[2]]
    status, body = page.ask(
        "/api/plan", {"sql": "CREATE VIEW m AS SELECT MAX(id) AS m FROM orders"}
    )
    assert status == 200
    assert "view m" in body["plans"][0]
    assert page.ask("/api/views/m")[0] == 404


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/api/statements", {"sql": "SELECT 1,\n  nope FROM orders"}, "no column 'nope'"),
        ("/api/statements", {"sql": "SELECT FROM WHERE"}, ""),
        ("/api/statements", {"sql": " "}, "there is no SQL"),
        ("/api/statements", ["x"], "not a JSON object"),
        ("/api/plan", {"sql": "CREATE VIEW v AS SELECT x FROM none"}, "'none'"),
        ("/api/relations/orders/rows", {"rows": [[1, "a"]]}, "has 2 values"),
        ("/api/relations/orders/rows", {"rows": [[1, "a", 1.234]]}, "row 1 of 'orders'"),
        ("/api/relations/orders/rows", {"rows": "abc"}, "not a list of rows"),
    ],
)
def test_what_is_wrong_is_said(page: Served, path: str, body: object, words: str) -> None:
    status, answer = page.ask(path, body)
    assert status == 400
    assert words in answer["message"]
    assert page.live.db.version == 0


def test_errors_have_places(page: Served) -> None:
    _, answer = page.sql("SELECT 1,\n  nope FROM orders")
    assert (answer["line"], answer["column"]) == (2, 3)
    assert page.ask("/api/views/none")[1]["message"].startswith("there is no view 'none'")
    assert page.ask("/nothing")[0] == 404
    assert page.ask("/api/statements")[0] == 404
    assert page.ask("/api/views/revenue?limit=x")[0] == 400
    text = {"Content-Type": "text/plain"}
    assert "not JSON" in page.ask("/api/statements", {"sql": "SELECT 1"}, **text)[1]["message"]


def test_only_those_with_the_token_may_come_in(page: Served) -> None:
    for headers in ({"Authorization": "Bearer wrong"}, {"Authorization": ""}, {"Cookie": "x=y"}):
        status, answer = page.ask("/api", **{"Authorization": "", **headers})
        assert (status, answer["error"]) == (401, "the token is missing or wrong")
    cookie = {"Authorization": "", "Cookie": f"freshview_token={page.token}"}
    page.token = "of no use"
    assert page.ask("/api", **{**cookie, "Cookie": "freshview_token=a token of a test"})[0] == 200


def test_requests_of_other_sites_are_refused(page: Served) -> None:
    assert page.ask("/api", Host="evil.example")[0] == 421
    sql = {"sql": "INSERT INTO orders VALUES (1, 'a', 1)"}
    assert page.ask("/api/statements", sql, Origin="http://evil.example")[0] == 403
    assert page.live.db.version == 0
    assert page.ask("/api/statements", sql, Origin=f"http://127.0.0.1:{page.port}")[0] == 200


def test_events_tell_what_changes(page: Served) -> None:
    assert view_event(page, "revenue")["rows"] == []
    inserted = threading.Timer(0.3, page.sql, ["INSERT INTO orders VALUES (1, 'Acme', 2.5)"])
    inserted.start()
    event = view_event(page, "revenue", count=1)
    assert event["rows"] == [["Acme", "2.50"]]
    assert [c["numeric"] for c in event["columns"]] == [False, True]
    page.sql("CREATE VIEW n AS SELECT COUNT(*) AS n FROM orders")
    assert view_event(page, "n")["rows"] == [[1]]
    page.sql("DROP VIEW n")
    assert next(e for e in page.events() if e["type"] == "dropped")["name"] == "n"


def test_a_large_view_is_cut_and_read_rarely(page: Served) -> None:
    rows = [[i, f"c{i}", 1] for i in range(5000)]
    page.ask("/api/relations/orders/rows", {"rows": rows})
    event = view_event(page, "revenue", count=5000)
    assert len(event["rows"]) == 100


def test_sources_are_followed(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("1,Acme,3.00\n2,Acme,4.00\n")
    script = SCRIPT.replace(";", " FROM FILE 'orders.csv' LINE DELIMITED CSV;", 1)
    with served(script) as page:
        page.live.follow(tmp_path, 1, print)
        assert view_event(page, "revenue", count=1, rows=[["Acme", "7.00"]])
    with served(script) as page:
        page.live.follow(tmp_path / "elsewhere", 1, lambda _: None)
        event = next(e for e in page.events() if e["type"] == "problem")
        assert "orders.csv" in event["message"]


def test_a_slow_reader_gets_the_latest_and_holds_nobody_up() -> None:
    broadcast = Broadcast()

    async def read() -> list[dict[str, Any]]:
        events = broadcast.read(30)
        first = await anext(events)
        for n in range(1000):
            broadcast.send("v", {"n": n})
        await asyncio.sleep(0.05)
        rest = [await anext(events)]
        await events.aclose()
        return [dict(first), *map(dict, rest)]

    broadcast.send("v", {"n": -1})
    assert asyncio.run(read()) == [{"n": -1}, {"n": 999}]
    assert broadcast.readers == 0


def test_readers_leave_nothing_behind(page: Served) -> None:
    for _ in range(5):
        events = page.events()
        next(events)
        events.close()
    end = time.monotonic() + 30
    while page.live.broadcast.readers and time.monotonic() < end:
        page.sql("INSERT INTO orders VALUES (1, 'Acme', 1)")  # what is sent finds out who has left
        time.sleep(0.2)
    assert page.live.broadcast.readers == 0


def test_the_api_describes_itself(page: Served) -> None:
    _, document = page.ask("/api/openapi.json")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"]
            if "requestBody" in operation:
                wrong = page.ask(path.replace("{name}", "revenue"), {}, method.upper())
                assert wrong[0] in (400, 404), path
            elif path != "/api/events":
                assert page.ask(path.replace("{name}", "revenue"))[0] == 200, path
