"""Sums over ranges of which some payloads are read."""

from __future__ import annotations

from freshview.codegen.loops.read import read
from freshview.codegen.loops.terms import RangeSum
from freshview.codegen.loops.text import show
from freshview.codegen.loops.walk import statements
from freshview.codegen.passes.prune_sums import prune_sums

NESTED = """after after_v {
  sum sums_1 of entry_2 in m sorted k0 {
    from {
      sum sums_a1 of entry_a2 in m sorted k0 {
        from {
          if {entry_a2.k0 > entry_2.k0} {
            answer
          }
        }
      }
      if {sums_a1.p2 > 3} {
        answer
      }
    }
  }
  if there sums_1.p0 {
    at into_3 in v[] {
      gain into_3.p0 += sums_1.p0
      gain into_3.p1 += sums_1.p1 * sums_1.p0
    }
  }
}
"""


def test_what_is_read_later_is_summed_inside_of_conditions_too() -> None:
    pruned = prune_sums(read(NESTED).functions[0].body)
    only = {s.name: s.only for s in statements(pruned) if isinstance(s, RangeSum)}
    assert only == {"sums_1": (0, 1), "sums_a1": (2,)}


def test_a_row_of_the_same_name_in_another_block_does_not_count() -> None:
    text = """ready ready {
  if {a > 0} {
    sum sums_1 of entry_2 in m sorted k0 {
    }
    let x = sums_1.p1
  }
  if {a > 1} {
    sum sums_1 of entry_2 in m sorted k0 {
    }
    let x = sums_1.p2
  }
}
"""
    pruned = prune_sums(read(text).functions[0].body)
    assert [s.only for s in statements(pruned) if isinstance(s, RangeSum)] == [(1,), (2,)]


def test_it_is_done_once_and_for_all() -> None:
    pruned = prune_sums(read(NESTED).functions[0].body)
    assert prune_sums(pruned) == pruned


def test_the_example_is_written_as_loops_are() -> None:
    assert show(read(NESTED)) == NESTED
