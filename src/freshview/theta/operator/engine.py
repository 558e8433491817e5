"""Which local joins a join has: those in C++ where they can be built, else those in NumPy."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np

from freshview.codegen.library.compiler import Baseline
from freshview.errors import BuildProblem
from freshview.theta.local.native.emit import Inputs, native_predicate
from freshview.theta.local.native.kernel import JoinKernel
from freshview.theta.local.native.library import (
    Calls,
    build_library,
    cached_library,
    library_file,
)
from freshview.theta.local.store import Shape
from freshview.theta.operator.source import Source
from freshview.theta.terms import Side

EngineName = Literal["auto", "native", "numpy"]

WORTH_IT = 5_000
"""Rows after which a library is compiled that is not in the cache."""

WAITED_FOR = 50_000
"""Rows of a batch that is not joined before a library is ready that is being compiled."""


class LocalEngine:
    """The local joins of one join: NumPy at first, C++ from the batch on that finds it compiled.

    With `native` there is no other; a library in the cache serves from the first row.
    """

    def __init__(self, asked: EngineName, shape: Shape, inputs: Inputs, seed: int) -> None:
        self.shape = shape
        self.inputs = inputs
        self.seed = seed
        self.name = "NumPy"
        self._asked = asked
        self._rows = 0
        self._predicate = None if asked == "numpy" else native_predicate(shape, inputs)
        self._why = "as engine='numpy' asks for"
        self._thread: threading.Thread | None = None
        self._calls: Calls | None = None
        self._is_open = asked != "numpy"
        if self._is_open and self._predicate is None:
            self._give_up("the range is over values that C++ does not order")
        if asked == "native" and self._predicate is None:
            raise BuildProblem(
                "this join has no index in C++, which orders neither texts nor decimals",
                instead="use engine='auto'",
            )

    def kernel(self, rows: int) -> JoinKernel | None:
        """The kernel, once: before the batch of so many rows from which on it joins."""
        if not self._is_open:
            return None
        self._rows += rows
        assert self._predicate is not None
        text = self._predicate.text
        if self._asked == "native":
            self._calls = build_library(text)
        elif self._calls is None and self._thread is None:
            self._calls = cached_library(text)
            if self._calls is None and self._rows >= WORTH_IT:
                self._thread = threading.Thread(target=self._build, args=(text,), daemon=True)
                self._thread.start()
        if self._thread is not None and rows >= WAITED_FOR:
            self._thread.join()
        if self._calls is None:
            return None
        self._is_open = False
        self.name = "C++"
        return JoinKernel(self._calls, self._predicate, self.shape, self.inputs, self.seed)

    def library(self, baseline: Baseline) -> Path | None:
        """The library for joiners in other processes, built now; None where NumPy joins."""
        if not self._is_open or self._predicate is None:
            return None
        try:
            return library_file(self._predicate.text, baseline)
        except BuildProblem as e:
            if self._asked == "native":
                raise
            self._give_up(str(e))
            return None

    def begin(self, *, is_native: bool) -> None:
        """Joiners in other processes have begun, and stay with what they have."""
        if is_native:
            self.name = "C++"
        elif self._is_open:
            self._give_up("they began so, and stay with it")

    def explain(self) -> str:
        """What joins, and what stays in Python, in words."""
        if self._predicate is None or self._asked == "numpy":
            return f"local joins run in NumPy, {self._why}"
        if self.name == "NumPy":
            return "local joins run in NumPy" + (f", {self._why}" if not self._is_open else "")
        rest = []
        if self.shape.theta.functions:
            rest.append("functions")
        if not self._predicate.settles_window:
            rest.append("the window")
        if len(self._predicate.settled) < len(self.shape.theta.comparisons):
            rest.append("comparisons of decimals")
        asked = f"; Python is asked for {' and '.join(rest)} of what they find" if rest else ""
        return f"local joins run in C++{asked}"

    def _build(self, text: str) -> None:
        try:
            self._calls = build_library(text)
        except BuildProblem as e:
            self._give_up(str(e))

    def _give_up(self, why: str) -> None:
        self._is_open = False
        self._why = f"since {why}"


def inputs_of(sources: Mapping[Side, Source]) -> Inputs:
    """What C++ must know of both sources."""
    r, s = sources["R"], sources["S"]
    kinds = [
        tuple((c.type.kind, c.type.nullable) for c in source.relation.columns) for source in (r, s)
    ]
    exact = [source.time_kind != "number" or _is_integer(source) for source in (r, s)]
    clocks = [source.clock for source in (r, s) if source.clock is not None]
    return Inputs(
        kinds[0],
        kinds[1],
        -1 if r.time is None else r.time,
        -1 if s.time is None else s.time,
        all(exact) and all(clock.stamp(0).dtype == np.int64 for clock in clocks),
        bool(clocks),
    )


def _is_integer(source: Source) -> bool:
    return source.time is None or source.relation.columns[source.time].type.kind == "int"
