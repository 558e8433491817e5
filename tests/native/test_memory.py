"""Memory that ends: the batch is refused whole, the views are as before, and the process lives.

The limits are those that a system sets: for addresses, and for data. They are lifted again in the
same process, which then goes on.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from freshview.codegen.library.compiler import find_compiler

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
    pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux"),
]

SETUP = """
import gc, resource
import pyarrow as pa
import freshview
from freshview.errors import FreshviewError, OutOfMemory

def connect():
    db = freshview.connect(engine="native")
    db.execute("CREATE STREAM r (k INT NOT NULL, s STRING NOT NULL);"
               "CREATE STREAM q (k INT NOT NULL, n INT NOT NULL)")
    db.execute("CREATE VIEW texts AS SELECT s, COUNT(*) AS n FROM r GROUP BY s")
    db.execute("CREATE VIEW pairs AS SELECT q.k, q.n, COUNT(*) AS c FROM q, r WHERE q.k = r.k "
               "GROUP BY q.k, q.n")
    return db

db = connect()  # compiled before there are limits
db.insert("r", (0, "first"))
assert len(db.view("texts").rows()) == 1
del db
gc.collect()

def held(what):
    for line in open("/proc/self/status"):
        if line.startswith(what):
            return int(line.split()[1]) * 1024

def limit(kind, bytes):
    resource.setrlimit(kind, (bytes, resource.RLIM_INFINITY))

def state(db):
    return sorted((len(s), n) for s, n in db.view("texts").rows()), sorted(db.view("pairs").rows())

def refused(call):
    try:
        call()
    except OutOfMemory as e:
        return str(e)
    except MemoryError:
        return "python"  # its own lists have no room either
    raise SystemExit("it was not refused")

def fill(db, start, size):
    for i in range(start, start + 4000):
        try:
            db.insert("r", [(i % 3, f"{i:08}" + "x" * size)])
        except (OutOfMemory, MemoryError):
            return i
    raise SystemExit("there was no limit")
"""


def run(script: str) -> str:
    words = SETUP + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_addresses_that_end() -> None:
    out = run("""
        limit(resource.RLIMIT_AS, held("VmSize") + (900 << 20))
        db = connect()
        db.insert("q", [(0, 1), (1, 2)])
        rows = fill(db, 0, 1 << 20)
        kept = state(db)
        assert len(kept[0]) == rows, (len(kept[0]), rows)
        assert sum(c for _, _, c in kept[1]) == sum(i % 3 < 2 for i in range(rows))
        large = [(9, f"{i:09}" + "y" * (1 << 20)) for i in range(64)]
        print(rows, refused(lambda: db.insert("r", large)))
        limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)  # the kernels have what they had
        assert state(db) == kept
        db.delete("r", [(i % 3, f"{i:08}" + "x" * (1 << 20)) for i in range(rows // 2)])
        db.insert("r", (7, "small"))
        assert (5, 1) in state(db)[0] and len(state(db)[0]) == rows - rows // 2 + 1
    """)
    rows, words = out.split(" ", 1)
    assert int(rows) > 4
    assert "not enough memory" in words or "python" in words


def test_data_that_ends_in_the_middle_of_a_large_batch() -> None:
    out = run("""
        db = connect()
        db.insert("q", [(0, 1), (1, 2)])
        db.insert("r", [(0, "here")])
        kept = state(db)
        numbers = pa.array(range(400_000), pa.int64())
        table = pa.table({"k": numbers, "n": numbers})
        db.insert("q", pa.table({"k": pa.array([5], pa.int64()), "n": pa.array([5], pa.int64())}))
        kept = state(db)
        limit(resource.RLIMIT_DATA, held("VmData") + (12 << 20))
        print(refused(lambda: db.insert("q", table)))
        assert state(db) == kept
        limit(resource.RLIMIT_DATA, resource.RLIM_INFINITY)
        db.insert("q", table)
        db.insert("r", [(7, "there")])
        assert (7, 7, 1) in state(db)[1]
    """)
    assert "not enough memory" in out or "python" in out
