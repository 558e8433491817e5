"""What a program is expected to cost before it runs: work a row, and bytes of its maps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freshview.calculus.types import Kind, Type
from freshview.program.cost import STATIC_ROWS, STREAM_ROWS, Model, statement_costs
from freshview.program.statistics import Statistics
from freshview.program.terms import Map, Program

MOST_MAPS = 6
"""Maps that are listed one by one: the largest."""

SLOT_BYTES = 16
"""Bytes of a row of a map beside its columns: its slot in an index, and room to grow."""

_BYTES: dict[Kind, int] = {"bool": 1, "date": 4, "decimal": 16, "string": 16}


@dataclass(frozen=True)
class Forecast:
    """Steps for one row of each stream, and rows and bytes of each map, the largest first."""

    steps: dict[str, float]
    maps: list[tuple[Map, float, float]]

    def lines(self, sizes_known: bool) -> Iterator[str]:
        """The forecast in words; `sizes_known` says whether the user gave sizes of relations."""
        for relation, steps in sorted(self.steps.items()):
            yield f"a row of {relation}: about {_number(steps)} rows looked at or written"
        size = sum(size for _, _, size in self.maps)
        data = f"{STREAM_ROWS:,.0f} rows in a stream and {STATIC_ROWS:,.0f} in a table"
        data = "the sizes that were given" if sizes_known else data
        yield f"maps: about {_bytes(size)}, with {data}"
        for m, rows, bytes_ in self.maps[:MOST_MAPS]:
            keys = ", ".join(k.name for k in (*m.inputs, *m.keys))
            yield f"  {m.name}[{keys}]: {_number(rows)} rows, {_bytes(bytes_)}"
        if len(self.maps) > MOST_MAPS:
            yield f"  and {len(self.maps) - MOST_MAPS} smaller ones"


def forecast(program: Program, statistics: Statistics) -> Forecast:
    """What to expect of a program over data of these sizes."""
    model = Model(program, statistics)
    costs: dict[str, float] = {}
    for relation, _, cost in statement_costs(program, statistics):
        rate = model.rates.get(relation, 0.0)
        costs[relation] = costs.get(relation, 0.0) + (cost / rate if rate else 0.0)
    streams = {r.name for r in program.relations if not r.static}
    steps = {name: max(1.0, cost) for name, cost in costs.items() if name in streams}
    maps = [(m, model.maps[m.name].rows, _map_bytes(m, model)) for m in program.maps]
    return Forecast(steps, sorted(maps, key=lambda entry: -entry[2]))


def _map_bytes(m: Map, model: Model) -> float:
    columns = (*m.inputs, *m.keys)
    row = sum(_width(c.type) for c in columns) + _width(m.payload) + (SLOT_BYTES if columns else 0)
    return model.maps[m.name].rows * row


def _width(t: Type) -> int:
    return _BYTES.get(t.kind, 8)


def _number(x: float) -> str:
    """Two digits tell as much as the estimate knows."""
    if x < 10:
        return f"{x:.1f}".removesuffix(".0")
    digits = len(str(int(x))) - 2
    return f"{round(x / 10**digits) * 10**digits:,.0f}"


def _bytes(x: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if x < 1000:
            return f"{_number(x)} {unit}"
        x /= 1000
    return f"{_number(x)} GB"
