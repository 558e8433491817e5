"""One report of all that matters: `make bench`, about twenty minutes on two cores.

The parts run one after the other, each in a process of its own and with a limit of wall time: the
limits of the machine, the public API with its defaults, then kernels alone. What they print and
plot becomes `build/bench/report.md` and `report.html`; their ratios are added to
`build/bench/history.jsonl`, and one that has fallen by over a tenth is shown first. A part is a
module of this package that prints tables and calls `bench.report.write`.
"""

from __future__ import annotations

import argparse
import html
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.data import BUILD
from bench.ratios import Ratios, Run, add_run, before, fallen, past_runs, ratios_of
from bench.report import markdown, times, write_text


@dataclass(frozen=True, slots=True)
class Part:
    """A module to run: its title in the report, its arguments, and the minutes it may take."""

    module: str
    title: str
    words: tuple[str, ...] = ()
    minutes: float = 2.0
    quick: tuple[str, ...] = ("--quick",)
    """What it is given instead for a first look."""


PARTS: tuple[Part, ...] = (
    Part("machine", "The limits of the machine", ("--limit", "1"), 1.5),
    Part(
        "front_door",
        "The public API, with defaults and without kept rows",
        ("--repeat", "3", "--scale", "0.05"),
        8,
        ("--quick", "--repeat", "1", "--queries", "q03"),
    ),
    Part(
        "subscribers",
        "A change of one row with a subscriber",
        ("--rounds", "3"),
        2,
        ("--groups", "3000", "--rounds", "1", "--rows", "300"),
    ),
    Part("first_rows", "The first ten of many groups", (), 1.5),
    Part("memory", "Bytes for each live row", (), 2),
    Part("native", "Kernels alone, query by query", ("--repeat", "2", "--limit", "1"), 6),
    Part("join_sum", "Join and sum, beside dictionaries, DuckDB and Pathway", ("--repeat", "3"), 3),
    Part(
        "versus_duckdb",
        "TPC-H beside DuckDB",
        ("--batches", "9", "--queries", "q01,q02,q03,q05,q09,q11,q16,q18,q22"),
        4,
    ),
    Part("growth", "Whether the time per event grows with the data", ("--limit", "6"), 2),
    Part(
        "factorized",
        "View trees",
        ("--only", "retailer", "--repeat", "2", "--limit", "2"),
        4,
        ("--quick", "--only", "housing"),
    ),
    Part(
        "strategies",
        "Strategies and batch sizes",
        ("--limit", "0.5", "--scales", "0.1", "--queries", "q03,q11,q18,vwap,r_units"),
        3,
        ("--quick", "--limit", "0.1", "--queries", "q03", "--sizes", "100,10000"),
    ),
)
"""What `make bench` runs, in this order; a module that is not there is left out."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a part did: its output, its plots, its ratios, its problem, and the seconds it took."""

    part: Part
    text: str
    plots: tuple[Path, ...]
    ratios: Ratios
    problem: str
    seconds: float


def perform(part: Part, quick: bool) -> Outcome:
    """Run a part until its limit."""
    began, start = time.time(), time.monotonic()
    words = part.quick if quick else part.words
    command = [sys.executable, "-m", f"bench.{part.module}", *words]
    # A session of its own: a part has processes of its own, which end with it.
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        text, _ = child.communicate(timeout=60 * part.minutes)
        problem = f"it ended with {child.returncode}" if child.returncode else ""
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        text, _ = child.communicate()
        problem = f"it was stopped after {part.minutes:g} minutes"
    seconds = time.monotonic() - start
    plots = tuple(sorted(p for p in BUILD.glob("*.svg") if p.stat().st_mtime >= began))
    try:
        ratios = _ratios(part, began)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as e:
        # A part has changed what it writes: that is worth a line, not the run.
        ratios, problem = {}, problem or f"its results cannot be compared ({type(e).__name__}: {e})"
    return Outcome(part, text, plots, ratios, problem, seconds)


def _ratios(part: Part, began: float) -> Ratios:
    """The ratios of what a part has written in this run."""
    path = BUILD / f"{part.module}.json"
    if not path.exists() or path.stat().st_mtime < began:
        return {}
    results: Any = json.loads(path.read_text(encoding="utf-8"))["results"]
    return ratios_of(part.module, results)


def ratio_lines(now: Ratios, then: Ratios) -> list[list[object]]:
    """Each ratio beside what it was."""
    lines: list[list[object]] = []
    for name, value in now.items():
        change = f"{value / then[name] - 1:+.0%}" if then.get(name) else "-"
        lines.append([name, times(value), times(then.get(name)), change])
    return lines


HEADS = ("ratio", "now", "before", "change")


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run, ready to be written."""

    head: str
    outcomes: Sequence[Outcome]
    missing: Sequence[str]
    now: Ratios
    then: Ratios

    @property
    def notes(self) -> list[str]:
        """What a reader must know first."""
        notes = [
            f"**{name}** has fallen from {times(self.then[name])} to {times(self.now[name])}."
            for name in fallen(self.now, self.then)
        ]
        problems = [o for o in self.outcomes if o.problem]
        notes += [f"**{o.part.module}** has no whole answer: {o.problem}." for o in problems]
        notes += [f"**{name}** is not part of this version." for name in self.missing]
        return notes or ["No ratio has fallen by over a tenth."]

    def as_markdown(self) -> str:
        """The report as Markdown; plots are links to files beside it."""
        parts = [f"# {self.head}", "\n".join(f"- {note}" for note in self.notes)]
        for o in self.outcomes:
            parts.append(f"## {o.part.title}")
            parts.append(f"`python -m bench.{o.part.module}`, {o.seconds:.0f} s")
            parts.append(f"```text\n{_plain(o.text)}\n```")
            parts += [f"![{p.stem}]({p.name})" for p in o.plots]
        parts += ["## Ratios", markdown(HEADS, ratio_lines(self.now, self.then))]
        return "\n\n".join(parts) + "\n"

    def as_html(self) -> str:
        """The report as one page with its plots inside."""
        body = [f"<h1>{html.escape(self.head)}</h1>", "<ul>"]
        body += [f"<li>{html.escape(note.replace('**', ''))}</li>" for note in self.notes]
        body.append("</ul>")
        for o in self.outcomes:
            body.append(f"<h2>{html.escape(o.part.title)}</h2>")
            body.append(f"<p><code>python -m bench.{o.part.module}</code>, {o.seconds:.0f} s</p>")
            body.append(f"<pre>{html.escape(_plain(o.text))}</pre>")
            body += [p.read_text(encoding="utf-8") for p in o.plots]
        body.append("<h2>Ratios</h2><table><tr>")
        body += [f"<th>{h}</th>" for h in HEADS]
        for line in ratio_lines(self.now, self.then):
            body.append(f"</tr><tr>{''.join(f'<td>{html.escape(str(c))}</td>' for c in line)}")
        body.append("</tr></table>")
        style = "body{font:15px sans-serif;margin:2em auto;max-width:62em}pre{font-size:12px}"
        style += "td,th{padding:0 1em;text-align:right}td:first-child{text-align:left}"
        head = f"<meta charset='utf-8'><title>{html.escape(self.head)}</title>"
        return f"<!doctype html>{head}<style>{style}</style>\n" + "\n".join(body) + "\n"


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def _commit() -> str:
    words = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=Path(__file__).parent)
    return done.stdout.strip() or "unknown"


def main() -> int:
    """Run the parts, write the report, tell what has fallen."""
    parser = argparse.ArgumentParser(prog="python -m bench.suite", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a first look: no results")
    parser.add_argument("--only", nargs="*", default=[], help="some parts: machine memory")
    parser.add_argument("--history", type=Path, default=BUILD / "history.jsonl")
    args = parser.parse_args()
    wanted = [p for p in PARTS if not args.only or p.module in args.only]
    there = [p for p in wanted if importlib.util.find_spec(f"bench.{p.module}") is not None]
    outcomes = []
    for part in there:
        print(f"== {part.title}", flush=True)
        outcomes.append(perform(part, args.quick))
        print(_plain(outcomes[-1].text), f"\n== {outcomes[-1].seconds:.0f} s\n", flush=True)
    now = {name: value for o in outcomes for name, value in o.ratios.items()}
    then = before(past_runs(args.history, args.quick))
    at, commit = datetime.now().isoformat(timespec="seconds"), _commit()
    missing = [p.module for p in wanted if p not in there]
    head = f"Freshview {commit}, {at}{', a first look' if args.quick else ''}"
    report = Report(head, outcomes, missing, now, then)
    add_run(args.history, Run(at, commit, args.quick, now))
    print(write_text("report.md", report.as_markdown()))
    print(write_text("report.html", report.as_html()))
    print("\n".join(report.notes).replace("**", ""))
    return int(any(o.problem for o in outcomes))


if __name__ == "__main__":
    sys.exit(main())
