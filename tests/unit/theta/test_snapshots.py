"""Joiners as values: written as Arrow, read back, and going on as if nothing had happened."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from freshview.theta import Band, Source, ThetaJoin
from freshview.theta.controller import choose
from freshview.theta.local.columns import python_rows
from freshview.theta.local.predicate import bind
from freshview.theta.local.store import Slots
from freshview.theta.migration import Transfers
from freshview.theta.operator.block import from_block, to_block
from freshview.theta.operator.joiner import BatchJoiner
from freshview.theta.terms import Groups, Sizes
from tests.unit.theta.test_local import VALUES, tuples


@pytest.mark.parametrize("kind", VALUES)
def test_tuples_travel_as_arrow(kind: str) -> None:
    source = Source("r", {"a": kind, "b": "int"}, time="b")
    theta = bind((), source.relation, Source("s", {"b": "int"}).relation)
    whole = tuples(source, "R", theta, [(v, k) for k, v in enumerate(VALUES[kind])], -1)
    sink = pa.BufferOutputStream()
    block = to_block(whole, source.relation.columns)
    with pa.ipc.new_stream(sink, block.schema) as writer:
        writer.write_batch(block)
    [back] = pa.ipc.open_stream(sink.getvalue())
    again = from_block(back, source.relation.columns)
    assert python_rows(again.columns) == python_rows(whole.columns)
    for one, two in zip(again.arrays()[4:], whole.arrays()[4:], strict=True):
        assert one.tolist() == two.tolist()
        assert one.dtype == two.dtype
        assert one.flags.writeable


@pytest.mark.parametrize("retracts", [False, True])
def test_a_joiner_goes_on_from_its_snapshot(retracts: bool) -> None:
    """Joiners die in the midst of migrations; restored ones give the same pairs."""
    random = Random(5)

    def a_join() -> ThetaJoin:
        r, s = (Source(n, {"k": "int", "v": "int"}, retracts=retracts) for n in "rs")
        # Joiners of one process, in C++ or not, do not die apart: those of Spark are in NumPy.
        options: dict[str, Any] = {"scheme": "square", "pace": 16, "engine": "numpy"}
        return ThetaJoin(r, s, Band("k", "k", -2, 2), joiners=8, **options)

    one, two = a_join(), a_join()
    rows: dict[str, list[Any]] = {"r": [], "s": []}
    died_while_moving = 0
    for step in range(30):
        changes: dict[str, list[Any]] = {"r": [], "s": []}
        for name, alive in rows.items():
            for _ in range(12):
                if retracts and alive and random.random() < 0.4:
                    row = alive.pop(random.randrange(len(alive)))
                    changes[name].append((row, -1))
                else:
                    row = (random.randrange(30), random.randrange(3))
                    alive.append(row)
                    changes[name].append((row, 1))
        if step % 3 == 0 and not (one.is_migrating or two.is_migrating):
            assert isinstance(one.placement, Groups)
            target = choose(Sizes(2.0 ** random.uniform(-4, 4), 1), one.placement)
            for join in (one, two):
                join.migrate(target)
        assert one.apply(changes).net() == two.apply(changes).net()
        died_while_moving += _kill(two, random)
    assert died_while_moving > 3


def _kill(join: ThetaJoin, random: Random) -> bool:
    """One joiner is made anew from what its snapshot says, by way of Arrow."""
    exchange = join._exchange
    host = random.choice(list(exchange.joiners))
    dying = exchange.joiners[host]
    columns = {"R": join.sources["R"].relation.columns, "S": join.sources["S"].relation.columns}
    blocks = {
        side: (to_block(slots.tuples, columns[side]), slots, passed, end)
        for side, (slots, passed, end) in dying.snapshot().items()
    }
    transfers: Transfers | None = next((r.transfers for r in dying.retiring.values()), None)
    was_moving = bool(dying.retiring)
    risen = BatchJoiner(host, dying.shape)
    risen.restore(
        {
            side: (Slots(from_block(b, columns[side]), slots.pinned, slots.shadowed), p, e)
            for side, (b, slots, p, e) in blocks.items()
        },
        transfers,
    )
    exchange.joiners[host] = risen
    return was_moving
