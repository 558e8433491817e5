"""The diagram of a program, whole: it is a text, and must not change without a reason."""

from __future__ import annotations

from freshview.program.diagram import diagram
from freshview.program.text import read_program

PROGRAM = """
CREATE STREAM R(a int, b int);
CREATE TABLE T(c int);
DECLARE MAP Q[a int] : int := Sum[a](R(a, b) * R(b, c) * {b < 3} * {c < 3} * {a < 3} * {a > 0});
DECLARE MAP MR[a int, b int] : int := R(a, b);
DECLARE MAP C[p int][] : int := Sum[](R(p, b)) FILL Sum[](MR[p, b]);
DECLARE QUERY 'the "best"'(a int = a) := Q[a] * T(a);
ON + R(x, y) { Q[x] += MR[y, c] * MR[y, x]; MR[x, y] += 1; C[x][] += 1; }
ON SYSTEM READY { Q[c] += T(c); }
"""

DIAGRAM = """\
flowchart LR
  r_R[/"R"/]
  r_T[("T")]
  subgraph degree_1["degree 1"]
    m_MR["MR[a, b] := R(a, b)"]
    m_C["C[p][] := Sum[](R(p, b))"]
  end
  subgraph degree_2["degree 2"]
    m_Q["Q[a] := Sum[a](R(a, b) * R(b, c) * {b &lt; 3} * {c &lt; 3} * {a &lt; 3} * ..."]
  end
  q_the_32__34_best_34_(["the #quot;best#quot;"])
  m_MR -.-> m_C
  m_MR -.-> m_Q
  m_Q --> q_the_32__34_best_34_
  r_R ==> m_C
  r_R ==> m_MR
  r_R ==> m_Q
  r_T --> q_the_32__34_best_34_
  r_T -.-> m_Q
"""


def test_a_program_is_drawn_like_this() -> None:
    assert diagram(read_program(PROGRAM)) == DIAGRAM
