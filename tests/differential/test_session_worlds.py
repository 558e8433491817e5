"""Random sessions over random tables and views: DuckDB's rows after every statement.

`python -m tests.differential.test_session_worlds reference 0 500` runs many seeds.
"""

from __future__ import annotations

import sys

import pytest

import freshview
from freshview.codegen.library.compiler import find_compiler
from tests.differential.session_worlds import Session
from tests.differential.test_worlds import early_kernels
from tests.thin import thin

FAILED = (11, 99)
"""Seeds that once crashed, or had other rows."""


@pytest.mark.parametrize("seed", [*thin(range(40), 20), *FAILED])
def test_sessions(seed: int) -> None:
    session = Session(seed, freshview.connect(engine="reference"))
    session.run(12)
    assert session.done > 2


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_sessions_in_full(seed: int) -> None:
    Session(seed, freshview.connect(engine="reference")).run(25)


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("seed", thin(range(200, 210), 10))
def test_sessions_as_users_have_them(seed: int) -> None:
    with early_kernels():
        Session(seed, freshview.connect()).run(8)


def main(engine: str, first: str, end: str) -> None:
    """Run seeds and print what differs."""
    equal = statements = 0
    for seed in range(int(first), int(end)):
        session = Session(seed, freshview.connect(engine=engine))  # type: ignore[arg-type]
        try:
            session.run(15)
        except Exception as e:
            print(f"seed {seed}: {type(e).__name__}: {e}\n{session.log[-1]}", flush=True)
            continue
        equal += 1
        statements += session.done
    print(f"{equal} equal, {statements} statements")


if __name__ == "__main__":
    main(*sys.argv[1:])
