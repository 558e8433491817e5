"""The live page in a real browser: what a visitor sees, types and reads."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.server.serving import TOKEN, Served, served

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page() -> Iterator[Served]:
    with served() as page:
        yield page


@pytest.fixture
def visit(browser: Any, page: Served) -> Iterator[Any]:
    tab = browser.new_page(viewport={"width": 1200, "height": 800})
    tab.set_default_timeout(30_000)
    problems: list[str] = []
    tab.on("pageerror", lambda e: problems.append(str(e)))
    tab.goto(f"{page.url}/?token={TOKEN}")
    tab.wait_for_selector("#light.on")
    yield tab
    tab.close()
    assert problems == []


def typed(tab: Any, sql: str, button: str = "#run") -> None:
    tab.fill("#sql", sql)
    tab.click(button)


def test_an_insert_is_seen_within_two_seconds(visit: Any, page: Served) -> None:
    page.sql("INSERT INTO orders VALUES (1, 'Acme', 2.5), (2, 'Zest', 1)")
    visit.wait_for_selector("article[data-view=revenue] td:text-is('Zest')")
    began = time.monotonic()
    page.sql("INSERT INTO orders VALUES (3, 'Acme', 40)")
    visit.wait_for_selector("article[data-view=revenue] td.fresh:text-is('42.50')", timeout=2000)
    assert time.monotonic() - began < 2
    fresh = visit.locator("article[data-view=revenue] td.fresh").all_inner_texts()
    assert fresh == ["42.50"]  # only what has changed is highlighted
    assert "token" not in visit.url


def test_a_view_is_planned_and_added_and_dropped(visit: Any, page: Served) -> None:
    sql = "CREATE VIEW n AS SELECT COUNT(*) AS n FROM orders"
    typed(visit, sql, "#plan")
    visit.wait_for_selector("#details[open]")
    assert "a row of orders: about" in visit.inner_text("#text")
    visit.keyboard.press("Escape")
    assert page.ask("/api/views/n")[0] == 404
    typed(visit, sql)
    visit.wait_for_selector("article[data-view=n] td:text-is('0')")
    page.sql("INSERT INTO orders VALUES (1, 'Acme', 1)")
    visit.wait_for_selector("article[data-view=n] td:text-is('1')")
    typed(visit, "SELECT n + 1 AS next FROM n")
    visit.wait_for_selector("#answer td:text-is('2')")
    typed(visit, "DROP VIEW n")
    visit.wait_for_selector("article[data-view=n]", state="detached")


def test_an_error_is_shown_with_its_place(visit: Any) -> None:
    typed(visit, "SELECT customer,\n  prise FROM orders")
    visit.wait_for_selector("#error:not([hidden])")
    shown = visit.inner_text("#error").splitlines()
    assert shown[0].startswith("<text>:2:3: there is no column 'prise'")
    assert shown[-2:] == ["  prise FROM orders", "  ^"]
    assert visit.evaluate("document.getElementById('sql').selectionStart") == 19


def test_the_plan_and_the_maps_of_a_view(visit: Any) -> None:
    visit.click("article[data-view=revenue] button")
    visit.wait_for_selector("#details[open]")
    assert "== choice" in visit.inner_text("#text")
    image = "document.querySelector('#graph img')"
    assert visit.evaluate(f"{image}.decode().then(() => {image}.naturalWidth)") > 50


def test_the_keyboard_suffices(visit: Any) -> None:
    visit.keyboard.press("j")
    assert visit.evaluate("document.activeElement.dataset.view") == "revenue"
    visit.keyboard.press("p")
    visit.wait_for_selector("#details[open]")
    visit.keyboard.press("Escape")
    visit.wait_for_selector("#details[open]", state="detached")
    visit.keyboard.press("/")
    visit.keyboard.type("SELECT 40 + 2 AS answer")
    visit.keyboard.press("Control+Enter")
    visit.wait_for_selector("#answer td:text-is('42')")


def test_what_rows_hold_is_text_and_nothing_else(visit: Any, page: Served) -> None:
    word = "<img src=x onerror=alert(1)>"
    page.sql(f"INSERT INTO orders VALUES (1, '{word}', 1)")
    visit.wait_for_selector("article[data-view=revenue] td >> nth=0")
    assert visit.inner_text("article[data-view=revenue] td >> nth=0") == word
    assert visit.locator("article img").count() == 0


def test_it_fits_a_narrow_screen_and_the_dark(visit: Any) -> None:
    visit.set_viewport_size({"width": 360, "height": 700})
    assert visit.evaluate("document.documentElement.scrollWidth") <= 360
    visit.emulate_media(color_scheme="dark")
    dark = visit.evaluate("getComputedStyle(document.body).backgroundColor")
    visit.keyboard.press("t")
    light = visit.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light


def test_it_comes_back_after_the_server(browser: Any) -> None:
    with served() as page:
        tab = browser.new_page()
        tab.goto(f"{page.url}/?token={TOKEN}")
        tab.wait_for_selector("#light.on")
    tab.wait_for_selector("#light.off")
    with served(port=page.port) as again:
        tab.wait_for_selector("#light.on", timeout=30_000)
        again.sql("INSERT INTO orders VALUES (1, 'Back', 1)")
        tab.wait_for_selector("article[data-view=revenue] td:text-is('Back')")
        tab.close()


def test_a_wrong_token_is_refused(browser: Any, page: Served) -> None:
    tab = browser.new_page()
    answer = tab.goto(f"{page.url}/?token=wrong")
    assert answer.status == 401
    assert "the token is missing or wrong" in tab.content()
    tab.close()
