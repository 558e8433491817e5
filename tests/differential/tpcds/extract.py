"""Run by the Python of an environment of its own: texts, columns and some rows of TPC-DS as JSON.

Sales are chosen by their ticket or order, and returns with them, so that joins find partners.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import duckdb

SCALE = 0.01
FACTS = {
    "store_sales": "ss_ticket_number",
    "store_returns": "sr_ticket_number",
    "catalog_sales": "cs_order_number",
    "catalog_returns": "cr_order_number",
    "web_sales": "ws_order_number",
    "web_returns": "wr_order_number",
}
ONE_IN = 12
"""Tickets and orders of which one is taken."""


def main(path: str) -> None:
    import duckdb_extension_tpcds  # type: ignore[import-not-found]

    package = Path(duckdb_extension_tpcds.__file__).parent
    db = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": "1"})
    db.execute(f"LOAD '{next(package.rglob('*.duckdb_extension'))}'")
    db.execute(f"CALL dsdgen(sf={SCALE})")
    columns: dict[str, list[tuple[str, str, bool]]] = {}
    for table, name, kind, nullable in db.execute(
        "SELECT table_name, column_name, data_type, is_nullable = 'YES' "
        "FROM information_schema.columns ORDER BY table_name, ordinal_position"
    ).fetchall():
        columns.setdefault(table, []).append((name, kind, nullable))
    rows = {table: _rows(db, table) for table in columns}
    texts = dict(db.execute("SELECT query_nr, query FROM tpcds_queries()").fetchall())
    whole = {"columns": columns, "rows": rows, "texts": texts}
    Path(path).write_text(json.dumps(whole, default=str))


def _rows(db: Any, table: str) -> list[tuple[Any, ...]]:
    where = {
        "date_dim": "WHERE d_year BETWEEN 1998 AND 2002",
        "time_dim": "WHERE t_time_sk IN (SELECT ss_sold_time_sk FROM store_sales UNION "
        "SELECT ws_sold_time_sk FROM web_sales UNION SELECT cs_sold_time_sk FROM catalog_sales)",
        "customer_demographics": "WHERE cd_demo_sk IN (SELECT ss_cdemo_sk FROM store_sales UNION "
        "SELECT cs_bill_cdemo_sk FROM catalog_sales UNION SELECT c_current_cdemo_sk FROM customer)",
        "inventory": "WHERE inv_item_sk % 6 = 0",
        "catalog_page": "WHERE cp_catalog_page_sk IN (SELECT cs_catalog_page_sk "
        "FROM catalog_sales)",
    }.get(table, "")
    if table in FACTS:
        where = f"WHERE {FACTS[table]} % {ONE_IN} = 0"
    found = db.execute(f"SELECT * FROM {table} {where} ORDER BY ALL").fetchall()
    return list(found)


if __name__ == "__main__":
    main(sys.argv[1])
