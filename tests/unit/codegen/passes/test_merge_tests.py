"""Tests one inside the other."""

from __future__ import annotations

from freshview.codegen.loops.read import read
from freshview.codegen.loops.terms import Batch, If
from freshview.codegen.loops.text import show
from freshview.codegen.passes.merge_tests import merge_tests

NESTED = """relation on_r of r {
  batch i_1 of r {
    if {i_1.c0 > 0} {
      if seldom {i_1.c1 > 1} {
        at into_2 in m[i_1.c0] {
          gain into_2.p0 += i_1.count
        }
      }
    }
    if {i_1.c0 > 5} {
      if {i_1.c1 > 2} {
        at into_3 in m[i_1.c1] {
          gain into_3.p0 += i_1.count
        }
      }
      at into_4 in m[i_1.c1] {
        gain into_4.p0 += i_1.count
      }
    }
  }
}
"""


def test_a_test_that_has_only_another_one_inside_is_one_with_it() -> None:
    [batch] = merge_tests(read(NESTED).functions[0].body)
    assert isinstance(batch, Batch)
    first, second = batch.body
    assert isinstance(first, If)
    assert isinstance(second, If)
    assert len(first.tests) == 2
    assert first.seldom
    assert len(second.tests) == 1  # something else stands inside, too
    assert len(second.body) == 2


def test_it_is_done_once_and_for_all() -> None:
    merged = merge_tests(read(NESTED).functions[0].body)
    assert merge_tests(merged) == merged


def test_the_example_is_written_as_loops_are() -> None:
    assert show(read(NESTED)) == NESTED
