"""What other engines' generated C++ reached: rows per CPU second, from an earlier measurement.

TPC-H at scale factor 0.1, one thread, all input in memory, insertions only, g++ -O3, best of 5.
They were measured on a machine of the same kind as the project's, but on other days, so a ratio
to them is a rough comparison. Columns: DBToaster with single rows, DBToaster with batches of
1,000, F-IVM with batches of 1,000; None was not measured.
"""

from __future__ import annotations

M, K = 1e6, 1e3

Figures = tuple[float | None, float | None, float | None]

PEERS: dict[str, Figures] = {
    "q01": (8.0 * M, 19.5 * M, 45.3 * M),
    "q02": (1.79 * M, None, None),
    "q03": (10.3 * M, 12.0 * M, 18.2 * M),
    "q04": (13.6 * M, 15.7 * M, None),
    "q05": (2.05 * M, 1.53 * M, 3.17 * M),
    "q06": (63.9 * M, 50.2 * M, 135 * M),
    "q07": (2.22 * M, None, None),
    "q08": (742 * K, None, None),
    "q09": (166 * K, None, None),
    "q10": (12.3 * M, 15.1 * M, 18.6 * M),
    "q11": (94 * K, None, None),
    "q11a": (4.6 * M, None, None),
    "q12": (16.8 * M, 17.7 * M, 21.8 * M),
    "q13": (1.24 * M, None, None),
    "q14": (27.5 * M, 36.7 * M, 52.8 * M),
    "q15": (None, None, None),  # not at its end after 40 s
    "q16": (287 * K, None, None),
    "q17": (651 * K, None, None),
    "q17a": (775 * K, None, None),
    "q18": (2.19 * M, None, None),
    "q18a": (2.79 * M, 3.3 * M, None),
    "q19": (20.5 * M, None, None),
    "q20": (532 * K, None, None),
    "q21": (1.78 * M, None, None),
    "q22": (244 * K, None, None),
    "q22a": (184 * K, None, None),
    "ssb4": (477 * K, None, None),
    "axf": (358 * K, None, None),
    "bsp": (661 * K, None, None),
    "bsv": (60.0 * M, None, None),
    "psp": (176 * K, None, None),
    "vwap": (16.5 * K, None, None),  # 2,000 events
    "mst": (190.0, None, None),  # 5,000 events
}
