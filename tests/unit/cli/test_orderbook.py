"""The made-up order book: repeatable, and nobody leaves who did not enter."""

from __future__ import annotations

from collections import Counter

from freshview.cli.orderbook import events


def test_a_seed_tells_the_whole_book() -> None:
    assert list(events(200, 7)) == list(events(200, 7))
    assert list(events(200, 7)) != list(events(200, 8))


def test_orders_leave_after_they_enter_and_the_book_stays_small() -> None:
    book: Counter[object] = Counter()
    for event in events(5000, 1):
        book[event.side, event.row] += event.multiplicity
        assert book[event.side, event.row] in (0, 1)
    sizes = Counter(side for (side, _), n in book.items() if n)  # type: ignore[misc]
    assert all(20 < sizes[side] < 120 for side in ("bids", "asks"))
