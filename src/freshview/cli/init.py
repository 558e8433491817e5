"""`freshview init`: a project to begin with: a commented script and data that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from freshview.errors import FreshviewError

PIPELINE = """\
-- A stream changes; here its rows come from a file. FROM KAFKA, DELTA, PARQUET and SOCKET follow
-- sources that go on: see docs/how-to/pipeline.md.
CREATE STREAM orders (id INT NOT NULL, customer STRING NOT NULL, price DECIMAL(8, 2) NOT NULL)
  FROM FILE 'orders.csv' LINE DELIMITED CSV;

-- A table is loaded once, before the first change.
CREATE TABLE customers (customer STRING PRIMARY KEY, country STRING NOT NULL)
  FROM FILE 'customers.csv' LINE DELIMITED CSV;

-- A view is kept fresh: each new order costs one update, however many there are.
CREATE VIEW revenue AS
  SELECT c.country, COUNT(*) AS orders, SUM(o.price) AS total
  FROM orders o JOIN customers c ON o.customer = c.customer
  GROUP BY c.country ORDER BY total DESC;

CREATE VIEW best_customers AS
  SELECT customer, SUM(price) AS total FROM orders
  GROUP BY customer ORDER BY total DESC LIMIT 3;
"""

ORDERS = """\
1,Acme,45.83
2,Zest,12.50
3,Acme,7.00
4,Oslo Tea,99.90
5,Zest,3.25
"""

CUSTOMERS = """\
Acme,France
Zest,Kenya
Oslo Tea,Norway
"""

FILES = {"pipeline.sql": PIPELINE, "orders.csv": ORDERS, "customers.csv": CUSTOMERS}

NEXT = """\
freshview run {script} --engine process    the views, in this process
freshview run {script}                     the same on Spark
freshview explain {script} revenue         how a view is kept
freshview shell {script}                   ask and change, statement by statement"""


def create_project(folder: Path) -> Iterator[str]:
    """Write the files of a new project; what is there already is never overwritten."""
    existing = [name for name in FILES if (folder / name).exists()]
    if existing:
        raise FreshviewError(
            f"'{folder / existing[0]}' exists already",
            instead="name another folder: freshview init NAME",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
            yield f"wrote {folder / name}"
    except OSError as e:
        raise FreshviewError(
            f"cannot write into '{folder}': {e.strerror}", instead="name another folder"
        ) from e
    yield NEXT.format(script=folder / "pipeline.sql")
