"""Ranges whose ends ask for a sum of what lies beyond an entry."""

from __future__ import annotations

import pytest

from freshview.codegen.loops.parts import Running
from freshview.codegen.loops.read import read
from freshview.codegen.loops.terms import RangeSum
from freshview.codegen.loops.text import show
from freshview.codegen.loops.walk import statements
from freshview.codegen.passes.running_sums import running_sums

NESTED = """after after_v {
  sum sums_1 of entry_2 in m sorted k0 {
    from {
      total total_3 : double {
        sum sums_a1 of entry_a2 in m sorted k0 {
          SIDE {
            if {TEST} {
              answer
            }
          }
        }
        if there sums_a1.p2 {
          tally sums_a1.p2
        }
      }
      if {total_3 < 3} {
        answer
      }
    }
  }
}
"""


def nested(side: str, test: str, condition: str = "{total_3 < 3}") -> RangeSum:
    """A range that begins by a sum over another one, after the pass."""
    text = NESTED.replace("SIDE", side).replace("TEST", test).replace("{total_3 < 3}", condition)
    [s] = running_sums(read(text).functions[0].body)
    assert isinstance(s, RangeSum)
    return s


@pytest.mark.parametrize(
    ("side", "test", "running"),
    [
        ("from", "entry_a2.k0 > entry_2.k0", "after"),
        ("from", "entry_2.k0 < entry_a2.k0", "after"),
        ("from", "entry_a2.k0 >= entry_2.k0", "from"),
        ("to", "entry_a2.k0 < entry_2.k0", "before"),
        ("to", "entry_2.k0 >= entry_a2.k0", "to"),
    ],
)
def test_the_sum_on_one_side_is_carried_along(side: str, test: str, running: str) -> None:
    s = nested(side, test)
    assert s.range.running == (Running("sums_a1", running), None)  # type: ignore[arg-type]
    assert [type(x).__name__ for x in s.range.up] == ["Total", "If"]


@pytest.mark.parametrize(
    ("side", "test", "condition"),
    [
        ("from", "entry_a2.k0 > entry_2.k0", "{total_3 < entry_2.k0}"),  # the entry itself is read
        ("from", "entry_a2.k0 > 2 * entry_2.k0", "{total_3 < 3}"),  # the sides meet elsewhere
        ("from", "entry_a2.k0 <> entry_2.k0", "{total_3 < 3}"),
        ("to", "entry_a2.k0 > entry_2.k0", "{total_3 < 3}"),  # not monotone: no prefix
    ],
)
def test_other_sums_are_computed_at_every_step(side: str, test: str, condition: str) -> None:
    s = nested(side, test, condition)
    assert s.range.running == (None, None)
    assert any(isinstance(x, RangeSum) for x in statements(s.range.up))


def test_a_search_in_a_group_is_left_as_it_is() -> None:
    text = NESTED.replace("sorted k0", "sorted k1, k0 known k1 = 5")
    text = text.replace("SIDE", "from").replace("TEST", "entry_a2.k0 > entry_2.k0")
    body = read(text).functions[0].body
    assert running_sums(body) == body


def test_it_reads_back_and_is_done_once() -> None:
    text = NESTED.replace("SIDE", "from").replace("TEST", "entry_a2.k0 > entry_2.k0")
    loops = read(text)
    [f] = loops.functions
    done = running_sums(f.body)
    assert running_sums(done) == done
    shown = show(type(loops)((type(f)(f.name, f.kind, f.of, done),)))
    assert "from running sums_a1 after {" in shown
    assert read(shown).functions[0].body == done
