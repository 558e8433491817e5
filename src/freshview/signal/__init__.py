"""Signals beside relations: sampling, filters and windows per group, kept up to date by batches."""

from freshview.signal.execute.events import Events
from freshview.signal.execute.query import Query
from freshview.signal.execute.snapshot import snapshot
from freshview.signal.language.functions import dispatch
from freshview.signal.language.signals import FunctionSignal, Signal, Stream, UniformSignal
from freshview.signal.language.source import stream
from freshview.signal.language.windows import Windows
from freshview.signal.linked.over import Linked, over
from freshview.signal.policies import (
    Interpolator,
    Policy,
    constant,
    custom,
    last,
    linear,
    pointwise,
    quadratic,
    step,
)
from freshview.signal.steps import DigitalFilter, Step
from freshview.signal.terms import BadSignal

__all__ = [
    "BadSignal",
    "DigitalFilter",
    "Events",
    "FunctionSignal",
    "Interpolator",
    "Linked",
    "Policy",
    "Query",
    "Signal",
    "Step",
    "Stream",
    "UniformSignal",
    "Windows",
    "constant",
    "custom",
    "dispatch",
    "last",
    "linear",
    "over",
    "pointwise",
    "quadratic",
    "snapshot",
    "step",
    "stream",
]
