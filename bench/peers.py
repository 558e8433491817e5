"""DBToaster's and F-IVM's own C++ beside our kernels: what one measurement found.

Their C++ was built and run in turns with the kernels of commit ac12e4e: one quiet machine, the same
data, equal views, events per CPU second. Their sources are not ours to ship, so what was found
stands here as constants, and `bench.against` compares later kernels with those of that commit.

The ratios hold for that commit. The few rates are those of the peers that were told; a rate of
another day or machine over one of them is a rough comparison.
"""

from __future__ import annotations

COMMIT = "ac12e4e"

OVER_DBTOASTER: dict[str, float] = {
    "q01": 6.7,
    "q02": 0.81,
    "q03": 2.5,
    "q04": 2.2,
    "q05": 3.7,
    "q06": 2.9,
    "q09": 3.0,
    "q10": 1.5,
    "q11": 0.53,
    "q12": 1.2,
    "q13": 5.2,
    "q14": 3.4,
    "q16": 2.3,
    "q17": 1.6,
    "q18": 4.1,
    "q19": 2.6,
    "q20": 2.1,
    "q22": 0.39,
    "axf": 0.98,
    "bsp": 3.8,
    "bsv": 0.29,
    "psp": 1.5,
    "vwap": 28.0,
    "mst": 156.0,
}
"""Single rows: our rate over DBToaster's."""

OVER_DBTOASTER_STEADY: dict[str, float] = {"axf": 0.79, "bsv": 0.34}
"""The same where the order book keeps its size."""

OVER_FIVM: dict[str, float] = {
    "q01": 0.42,
    "q03": 0.76,
    "q05": 1.5,
    "q06": 0.78,
    "q10": 1.2,
    "q12": 3.1,
    "q14": 1.6,
    "housing cofactor": 2.0,
    "retailer cofactor": 1.8,
}
"""Batches of 1,000: our rate over F-IVM's."""

DBTOASTER_RATES: dict[str, float] = {"q11": 132e3, "q22": 469e3, "bsv": 135e6}
"""Single rows, events per CPU second; BSV was between 106 and 135 million."""

FIVM_RATES: dict[str, float] = {"q01": 114e6, "q03": 24e6, "q06": 165e6, "retailer cofactor": 5.2e6}
"""Batches of 1,000, events per CPU second."""
