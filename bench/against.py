"""Another commit against this checkout, query by query: `python -m bench.against COMMIT`.

Both are loaded beside each other, each by a process of its own that has the same data, and run in
turns: one waits while the other one works. Every figure is a ratio, the other commit's CPU seconds
to ours, of medians; over 1 is faster now. Kernels alone run by default, and with `--door` what a
user gets: `connect()` with its defaults. Planning times are compared, too; through the door, the
times from a view's text to its loaded kernel.

In the mode of single rows a window carries many, after which the view is fresh. Where one of the
two recomputes it once a window, both get their rows by calls of their own, at places of the stream;
and where one leaves that to the reader, both are read after each row.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bench.report import show, times, write

HERE = Path(__file__).resolve().parent.parent


class Side:
    """A process that has one of the checkouts."""

    def __init__(self, checkout: Path) -> None:
        script = str(HERE / "bench" / "contender.py")
        self._child = subprocess.Popen(
            [sys.executable, script, str(checkout)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=checkout,
        )

    def ask(self, do: str, **request: Any) -> Any:
        """Have something done; what went wrong with it is raised here."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        print(json.dumps({"do": do, **request}), file=self._child.stdin, flush=True)
        line = self._child.stdout.readline()
        reply = json.loads(line) if line else {"problem": "the process has ended"}
        if "problem" in reply:
            raise RuntimeError(reply["problem"])
        return reply["answer"]

    def close(self) -> None:
        """End the process."""
        self._child.kill()
        self._child.wait()


@contextmanager
def checkout_of(commit: str) -> Iterator[Path]:
    """A worktree of a commit, while this lasts."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkout"
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(place), commit], check=True)
        try:
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True)


def compare(old: Side, new: Side, request: dict[str, Any], rounds: int) -> tuple[float, float]:
    """How many times as fast the new side plans and runs a query."""
    planned = [side.ask("prepare", **request) for side in (old, new)]
    waits = {side.ask("waits") for side in (old, new)}
    fresh = next((way for way in ("read", "rows") if way in waits), "")
    seconds: dict[Side, list[float]] = {old: [], new: []}
    for turn in range(rounds):
        for side in (old, new) if turn % 2 else (new, old):
            seconds[side].append(side.ask("run", fresh=fresh))
    return planned[0] / planned[1], median(seconds[old]) / median(seconds[new])


def main() -> int:
    """Compare, print, keep; fail where a bar that was asked for is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("--door", action="store_true", help="the public API instead of kernels")
    parser.add_argument("--queries", nargs="*", default=[])
    parser.add_argument("--mode", choices=("batch", "tuple"), default="batch")
    parser.add_argument(
        "--book",
        choices=("steady", "growing"),
        default="steady",
        help="an order comes and one goes, or none goes",
    )
    parser.add_argument("--scale", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    ratios: dict[str, tuple[float, float]] = {}
    problems, reworded = list[str](), list[str]()
    with checkout_of(args.commit) as place:
        old, new = Side(place), Side(HERE)
        try:
            for workload, query in new.ask("names"):
                if args.queries and query not in args.queries:
                    continue
                request = {"workload": workload, "query": query, "mode": args.mode}
                request |= {"scale": args.scale, "door": args.door, "book": args.book}
                try:
                    texts = {s.ask("wording", workload=workload, query=query) for s in (old, new)}
                    reworded += [query] if len(texts) > 1 else []
                    ratios[query] = compare(old, new, request, args.rounds)
                    print(query, *map(times, ratios[query]), file=sys.stderr, flush=True)
                except RuntimeError as e:
                    problems.append(f"{query}: {e}")
        finally:
            old.close()
            new.close()
    rows = [(query, times(run), times(plan)) for query, (plan, run) in ratios.items()]
    worded = [f"Worded otherwise there, so another query: {', '.join(reworded)}"] * bool(reworded)
    means = [math.exp(sum(map(math.log, r)) / len(r)) for r in zip(*ratios.values(), strict=True)]
    show(
        f"Against {args.commit}: {'connect()' if args.door else 'kernels'}, {args.mode}",
        ("query", "run", "plan"),
        [*rows, ("geometric mean", times(means[1]), times(means[0]))] if means else rows,
        note="Over 1x: this checkout is faster." + "".join(f"\n{p}" for p in [*worded, *problems]),
    )
    write("against", {q: {"plan": plan, "run": run} for q, (plan, run) in ratios.items()})
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
