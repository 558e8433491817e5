"""Maps that are put off are stale once something has changed from which they are recomputed."""

from __future__ import annotations

from freshview.codegen.layout.text import read as read_layout
from freshview.codegen.loops.read import read
from freshview.codegen.loops.terms import Loops
from freshview.codegen.loops.text import show
from freshview.codegen.passes.mark_stale import mark_stale

LAYOUT = read_layout("""table m_n [int] : [int]
table m_q [int] : [int]
table m_t [] : [int]
table m_v [int] : [int]
map n in m_n p0 [k0]
map q in m_q p0 [k0]
map t in m_t p0 []
map v in m_v p0 [k0]
deferred q
late v
""")

LOOPS = """relation on_r of r {
  batch i_1 of r {
    stale q
    get n_2 in m_n[i_1.c0] {
      at into_3 in m_t[] {
        gain into_3.p0 += i_1.count
      }
    }
    at into_4 in m_n[i_1.c0] {
      gain into_4.p0 += i_1.count
    }
  }
  late v
  call after_v
}
relation on_s of s {
  batch i_1 of s {
    stale q
    at into_2 in m_t[] {
      gain into_2.p0 += i_1.count
    }
  }
}
after after_v {
  scan n_1 in m_n {
    at into_2 in m_v[n_1.k0] {
      assign into_2.p0 := n_1.p0
    }
  }
}
refresh refresh {
  get t_1 in m_t[] {
    scan q_2 in m_q {
      at into_3 in m_q[q_2.k0] {
        assign into_3.p0 := t_1.p0
      }
    }
  }
}
"""


def test_writes_mark_what_is_recomputed_from_them() -> None:
    on_r, on_s, after, refresh = mark_stale(read(LOOPS), LAYOUT).functions
    text = show(Loops((on_r,)))
    assert text == (
        """relation on_r of r {
  batch i_1 of r {
    get n_2 in m_n[i_1.c0] {
      stale q
      at into_3 in m_t[] {
        gain into_3.p0 += i_1.count
      }
    }
    late v
    at into_4 in m_n[i_1.c0] {
      gain into_4.p0 += i_1.count
    }
  }
  call after_v
}
"""
    )
    assert "stale q\n    at into_2" in show(Loops((on_s,)))
    assert (after, refresh) == read(LOOPS).functions[2:]


def test_what_changes_none_of_the_sources_calls_nothing() -> None:
    text = LOOPS.replace("at into_4 in m_n", "at into_4 in m_q")
    on_r, *_ = mark_stale(read(text), LAYOUT).functions
    assert "after_v" not in show(Loops((on_r,)))


def test_the_example_is_written_as_loops_are() -> None:
    assert show(read(LOOPS)) == LOOPS
