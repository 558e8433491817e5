"""What a warm process needs from its start to its first answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from freshview.runtime.compile import kernels

SCRIPT = """
import os, sys
def forbid(event, args):
    if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.system"):
        os._exit(3)
warm = sys.argv[1] == "auto"
if warm:
    sys.addaudithook(forbid)
import freshview
db = freshview.connect(engine=sys.argv[1])
db.execute("CREATE STREAM r (k INT NOT NULL, v INT NOT NULL);"
           "CREATE VIEW s AS SELECT k, SUM(v) AS total FROM r GROUP BY k")
db.insert("r", [(1, 2), (1, 3)])
assert db.view("s").rows() == [(1, 5)]
assert not warm or db.view("s").engine == "native"
print(*sys.modules)
"""

UNUSED = {
    *("pyarrow", "numpy", "pandas", "pyspark", "sqlglot", "rich", "typer"),
    *("subprocess", "tempfile", "shutil", "logging", "concurrent.futures", "uuid", "random"),
    *("freshview.sql.load", "freshview.plan.compile", "freshview.ivm", "freshview.simplify"),
    *("freshview.reference.engine", "freshview.codegen.kernel", "freshview.factorized"),
    *("freshview.runtime.persistence", "freshview.runtime.views.factorized", "freshview.spark"),
}
"""What compiles, converts, persists and distributes: a first answer from the cache needs none."""


@pytest.mark.skipif(kernels.compiler() is None, reason="there is no C++ compiler")
def test_a_first_answer_loads_no_compiler_and_starts_no_process(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}

    def loaded(engine: str) -> set[str]:
        command = [sys.executable, "-c", SCRIPT, engine]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return {*done.stdout.split()}

    loaded("native")  # now the cache has the kernel and the compiler
    modules = loaded("auto")
    assert modules & UNUSED == set()
    ours = [name for name in modules if name.startswith("freshview")]
    assert len(ours) <= 130, sorted(ours)
