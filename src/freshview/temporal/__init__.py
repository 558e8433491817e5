"""Event time: windows, watermarks, late rows, clocks; used by theta joins."""

from freshview.temporal.clock import Clock, CountingClock, ManualClock, SystemClock
from freshview.temporal.output_time import output_time
from freshview.temporal.terms import (
    BadWindow,
    Between,
    FullHistory,
    Hopping,
    Horizon,
    Landmark,
    Sliding,
    Stamps,
    Tumbling,
    TupleCount,
    Window,
)
from freshview.temporal.watermark import Watermark, earliest
from freshview.temporal.windows import expired, joins, panes, reach

__all__ = [
    "BadWindow",
    "Between",
    "Clock",
    "CountingClock",
    "FullHistory",
    "Hopping",
    "Horizon",
    "Landmark",
    "ManualClock",
    "Sliding",
    "Stamps",
    "SystemClock",
    "Tumbling",
    "TupleCount",
    "Watermark",
    "Window",
    "earliest",
    "expired",
    "joins",
    "output_time",
    "panes",
    "reach",
]
