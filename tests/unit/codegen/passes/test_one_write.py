"""Which writes of a record become one, and which stay apart."""

from __future__ import annotations

from freshview.calculus.terms import Var
from freshview.calculus.text import read
from freshview.codegen.loops.effects import Assign, Gain
from freshview.codegen.loops.parts import Holds, There
from freshview.codegen.loops.terms import At, Block, Group, If, Stmt
from freshview.codegen.passes.one_write import one_write


def write(row: str, table: str, payload: int, key: str = "k") -> At:
    """A payload of a record gains a sum."""
    return At(row, table, (Var(key),), (Gain(row, table, payload, (Var("s"),)),))


def there(name: str, *body: Stmt) -> If:
    return If((There(Var(name)),), body)


def after(*block: Stmt) -> Block:
    [group] = one_write((Group((), block),))
    assert isinstance(group, Group)
    return group.body


def test_sums_that_go_to_one_record_are_one_write() -> None:
    [at] = after(there("s", write("a", "m", 0)), there("t", write("b", "m", 1)))
    assert isinstance(at, At)
    gains = [Gain("a", "m", j, (Var("s"),)) for j in (0, 1)]
    assert at.body == (there("s", gains[0]), there("t", gains[1]))


def test_a_test_of_several_records_is_made_for_each_where_one_is_written_elsewhere() -> None:
    block = after(
        there("s", write("a", "m", 0), write("b", "n", 0)), there("t", write("c", "m", 1))
    )
    assert [type(s) for s in block] == [If, At]
    assert block[0] == there("s", write("b", "n", 0))


def test_others_stay_as_they_are() -> None:
    assigned = At("a", "m", (Var("k"),), (Assign("a", "m", 0, (Var("s"),)),))
    tested = If((Holds(read("{x = 0}")),), (write("b", "m", 1),))
    for block in (
        (there("s", write("a", "m", 0)), there("t", write("b", "m", 1, "l"))),
        (there("s", assigned), there("t", write("b", "m", 1))),
        (tested, there("t", write("c", "m", 1))),
    ):
        assert after(*block) == block
        assert one_write(block) == block
