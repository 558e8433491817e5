"""`freshview demo --engine process`: an order book, and views that follow it, in this process."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from freshview.calculus.rows import Row
from freshview.cli.orderbook import Event, events
from freshview.cli.tables import drawn, word
from freshview.errors import FreshviewError
from freshview.runtime.database.connect import connect
from freshview.runtime.database.database import Database

SCRIPT = """
CREATE STREAM bids (t INT NOT NULL, id INT NOT NULL, broker INT NOT NULL,
                    volume INT NOT NULL, price DECIMAL(10, 2) NOT NULL, PRIMARY KEY (id));
CREATE STREAM asks (t INT NOT NULL, id INT NOT NULL, broker INT NOT NULL,
                    volume INT NOT NULL, price DECIMAL(10, 2) NOT NULL, PRIMARY KEY (id));

CREATE VIEW vwap AS
  SELECT SUM(b1.price * b1.volume) / SUM(b1.volume) AS vwap, SUM(b1.volume) AS volume
  FROM bids b1
  WHERE 0.25 * (SELECT SUM(b3.volume) FROM bids b3)
      > (SELECT COALESCE(SUM(b2.volume), 0) FROM bids b2 WHERE b2.price > b1.price);

CREATE VIEW spread AS
  SELECT b.broker, COUNT(*) AS pairs, AVG(a.price - b.price) AS spread
  FROM bids b, asks a WHERE b.broker = a.broker GROUP BY b.broker ORDER BY b.broker;
"""

TITLES = {
    "vwap": "vwap: the volume-weighted price of the best quarter of the bids",
    "spread": "spread: how far each broker's asks lie above its bids",
}


def run_demo(count: int, seed: int, console: Console) -> None:
    """Apply `count` events one by one, show the views on the way, and check them at the end."""
    console.out(
        f"{count} orders come or go in a made-up book (seed {seed}); two views follow.",
        highlight=False,
    )
    db = connect(engine="reference")  # it counts its work, and what is printed is always the same
    db.execute(SCRIPT)
    book = list(events(count, seed))
    if console.is_terminal:
        _live(db, book, console)
    else:
        _lines(db, book, console)
    _compare(db, book, console)


def _apply(db: Database, event: Event) -> None:
    db.apply({event.side: [(event.row, event.multiplicity)]})


def _live(db: Database, book: list[Event], console: Console) -> None:
    with Live(console=console, refresh_per_second=12) as live:
        for number, event in enumerate(book, 1):
            _apply(db, event)
            # Drawing costs more than the change itself; the eye does not miss the others.
            if number % 20 == 0 or number == len(book):
                live.update(_picture(db, event, number))


def _picture(db: Database, event: Event, number: int) -> RenderableType:
    parts: list[RenderableType] = [Text(f"event {number}: {_sentence(event)}")]
    for view in db.views:
        parts += [Text(f"\n{TITLES[view.name]}"), drawn(view.schema, map(rounded, view.rows()))]
    return Group(*parts)


def rounded(row: Row) -> Row:
    """The row with two digits after the points."""
    return tuple(round(v, 2) if isinstance(v, float) else v for v in row)


def _sentence(event: Event) -> str:
    _, order, broker, volume, price = event.row
    verb = "enters" if event.multiplicity > 0 else "leaves"
    return f"order {order} of broker {broker} {verb} the {event.side}, {volume} at {price}"


def _lines(db: Database, book: list[Event], console: Console) -> None:
    every = max(1, len(book) // 10)
    for number, event in enumerate(book, 1):
        _apply(db, event)
        if number % every == 0:
            console.out(f"{number:>6}  {_line(db)}", highlight=False)


def _line(db: Database) -> str:
    ((vwap, volume),) = map(rounded, db.view("vwap").rows())
    spreads = ", ".join(f"{b}: {word(s)}" for b, _, s in map(rounded, db.view("spread").rows()))
    return f"vwap {word(vwap)} over {word(volume)}; spread by broker {spreads}"


def _compare(db: Database, book: list[Event], console: Console) -> None:
    """The views of the final book, recomputed from scratch: the same rows, at another cost."""
    again = connect(strategy="reeval", engine="reference")
    again.execute(SCRIPT)
    changes: dict[str, list[tuple[Row, int]]] = {"bids": [], "asks": []}
    for event in book:
        changes[event.side].append((event.row, event.multiplicity))
    again.apply(changes)
    for view in db.views:
        scratch = again.view(view.name)
        each, once = view.work / len(book), scratch.work
        if view.rows() != scratch.rows():
            raise FreshviewError(
                f"'{view.name}' is not what recomputation gives", instead="report it"
            )
        console.out(
            f"{view.name}: equal to its recomputation from scratch. Rows looked at or written:"
            f" {each:.0f} an event, {once} for one recomputation.",
            highlight=False,
        )
