"""All the benchmarks of the native engine, one after the other: `python -m bench [--quick]`."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time

PARTS = ("native", "versus_dicts", "join_sum", "versus_duckdb", "growth", "subscribers", "boundary")
NEEDED = ("duckdb", "numpy", "pyarrow", "rich")


def main() -> int:
    """Run the parts; one that fails stops no other."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"the benchmarks need: pip install {' '.join(missing)}", file=sys.stderr)
        return 2
    failed = []
    for part in PARTS:
        began = time.monotonic()
        print(f"== {part}", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{part}", *sys.argv[1:]]).returncode:
            failed.append(part)
        print(f"== {part}: {time.monotonic() - began:.0f} s\n", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
