"""Triggers as text for other systems: what NumPy runs is what the program computes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freshview.errors import FreshviewError
from freshview.linear import Program
from freshview.linear.compile import emit

PROGRAMS = {
    "powers": "dynamic A(n, n); output P := iterate(2, A, x => x * x);",
    "inverse": "dynamic A(n, n); output W := inv(A + 8 * eye(n)) * [A, ones(n, 2)];",
    "narrow": "dynamic A(n, n); static B(n, 1); output T := iterate(3, B, t => A * t + B);",
    "stacks": "dynamic A(n, n); output C := [A; zeros(n, n)] * A - 3 * [eye(n); A];",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("strategy", ["incremental", "hybrid", "reevaluate"])
def test_numpy_text_runs(name: str, strategy: Any) -> None:
    random = np.random.default_rng(0)
    values = {"A": random.standard_normal((6, 6)), "B": random.standard_normal((6, 1))}
    wanted = {k: v for k, v in values.items() if f" {k}(" in PROGRAMS[name]}
    p = Program(PROGRAMS[name], wanted, strategy=strategy)
    for n in p._definitions:  # the text may read any view, also one that is not kept
        p.values.setdefault(n, p[n])
    t = p.choice("A").trigger
    names: dict[str, Any] = {}
    exec(emit.numpy(t), names)
    views, arguments = emit._signature(t)
    u, v = 0.1 * random.standard_normal((2, 6, 1))
    operands = [u if a == t.left else v if a == t.right else p[a] for a in arguments]
    actual = dict(zip(views, names["on_A"](*operands), strict=True))
    p.update("A", u=u, v=v)
    for out in p.normal.outputs:
        np.testing.assert_allclose(actual[out], p[out], rtol=1e-9, atol=1e-12)


def test_octave_text() -> None:
    p = Program(PROGRAMS["powers"], A=np.eye(30), strategy="incremental")
    assert p.code("A", "octave") == (
        "function [A, x0, P] = on_A(A, x0, P, u_A, v_A)\n"
        "  U_x0 = [u_A, A * u_A + u_A * (v_A' * u_A)];\n"
        "  V_x0 = [A' * v_A, v_A];\n"
        "  U_P = [U_x0, x0 * U_x0 + U_x0 * (V_x0' * U_x0)];\n"
        "  V_P = [x0' * V_x0, V_x0];\n"
        "  A = A + u_A * v_A';\n"
        "  x0 = x0 + U_x0 * V_x0';\n"
        "  P = P + U_P * V_P';\n"
        "end\n"
    )


@pytest.mark.skipif(shutil.which("octave") is None, reason="octave is not installed")
def test_octave_text_runs(tmp_path: Path) -> None:
    p = Program(PROGRAMS["inverse"], A=np.eye(3), strategy="incremental")
    t = p.trigger("A")
    views, arguments = emit._signature(t)
    (tmp_path / "on_A.m").write_text(emit.octave(t))
    values = {a: p[a] if a in p.values else np.ones((3, 1)) for a in arguments}
    script = [f"{n} = {np.array2string(a, separator=',')};" for n, a in values.items()]
    script.append(f"[{', '.join(views)}] = on_A({', '.join(arguments)}); disp(W(1, 1))")
    done = subprocess.run(
        ["octave", "--quiet", "--eval", "\n".join(script).replace("\n ", "")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    p.update("A", u=np.ones((3, 1)), v=np.ones((3, 1)))
    assert float(done.stdout) == pytest.approx(p["W"][0, 0], rel=1e-3)


def test_other_semirings_have_no_text() -> None:
    p = Program("dynamic A(n, n); output P := A * A;", A=np.eye(3), semiring="boolean")
    with pytest.raises(FreshviewError, match="Octave and NumPy compute over the reals"):
        p.code("A", "numpy")
