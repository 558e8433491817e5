"""A program on simulated workers beside the reference engine: the law of the Spark room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from freshview.algebra import Real
from freshview.distributed.simulate import Simulation
from freshview.distributed.terms import Distributed
from freshview.program.terms import Program
from freshview.reference.engine.run import Engine
from tests.differential.harness import same

Rows = Mapping[tuple[Any, ...], Any]


class Pair:
    """Both engines, fed with the same batches."""

    def __init__(
        self, program: Program, distributed: Distributed, workers: int, functions: Any, tables: Any
    ) -> None:
        self.distributed = distributed
        self.engine = Engine(program, functions)
        self.simulation = Simulation(distributed, workers, functions)
        self.engine.load(tables)
        self.simulation.load(tables)
        self.order = [t.relation for t in program.triggers if t.event == "batch"]

    def apply(self, changes: Mapping[str, Any]) -> None:
        """One batch of several relations; the others do not matter to the program."""
        known = {name: changes[name] for name in self.order if name in changes}
        for name, rows in known.items():
            self.engine.apply(name, rows)
        if known:
            self.simulation.apply(known)

    def check(self, where: str = "") -> None:
        """Every map has the reference's rows, each where its location says; so has every view."""
        assert not self.simulation.misplaced(), where
        for placement in self.distributed.maps:
            actual, wanted = (
                self.simulation.contents(placement),
                self.engine.contents(placement.name),
            )
            assert equal(actual, wanted), f"{where}: {placement.name} at {placement.at}"
        for readout in self.distributed.readouts:
            name = readout.query.name
            actual, wanted = self.simulation.read(name), self.engine.read(name)
            assert same(Counter(actual), Counter(wanted)), f"{where}: view {name}"


def equal(a: Rows, b: Rows) -> bool:
    """Equal maps; doubles within their rounding error, which may leave a crumb for a zero."""
    if a == b:
        return True
    return all(near(a.get(row, 0), b.get(row, 0)) for row in {*a, *b})


def near(x: Any, y: Any) -> bool:
    """Equal numbers; doubles within 1e-7."""
    if isinstance(x, float | Real) or isinstance(y, float | Real):
        a, b = float(x), float(y)
        return abs(a - b) <= 1e-7 * max(1.0, abs(a), abs(b))
    return bool(x == y)
