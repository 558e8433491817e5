"""The report of `make bench`: what falls is shown, what hangs is stopped, what is kept is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import suite
from bench.ratios import Run, add_run, before, fallen, past_runs, ratios_of
from bench.suite import PARTS, Outcome, Part, Report, perform


def outcome(text: str = "a <table>", problem: str = "", plots: tuple[Path, ...] = ()) -> Outcome:
    return Outcome(Part("native", "Kernels & more"), text, plots, {}, problem, 3.0)


def test_a_ratio_that_falls_by_over_a_tenth_is_shown_first() -> None:
    report = Report("head", [outcome()], [], {"q01": 8.9, "q02": 9.1}, {"q01": 10.0, "q02": 10.0})
    assert report.notes == ["**q01** has fallen from 10.0x to 8.90x."]
    assert report.as_markdown().startswith("# head\n\n- **q01** has fallen")
    assert "| q02 | 9.10x | 10.0x | -9% |" in report.as_markdown()


def test_a_run_is_compared_with_the_last_ones_of_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "new" / "history.jsonl"
    for n, value in enumerate([1.0, 9.0, 10.0, 11.0, 10.0, 10.0]):
        add_run(path, Run(str(n), "c", False, {"x": value}))
    add_run(path, Run("6", "c", True, {"x": 100.0}))
    assert before(past_runs(path, quick=False)) == {"x": 10.0}
    assert before(past_runs(path, quick=True)) == {"x": 100.0}
    assert fallen({"x": 8.0, "y": 1.0}, {"x": 10.0}) == ["x"]
    assert past_runs(tmp_path / "none", quick=False) == []


def test_the_page_has_its_plots_inside(tmp_path: Path) -> None:
    plot = tmp_path / "a.svg"
    plot.write_text("<svg>plot</svg>")
    report = Report("head", [outcome(plots=(plot,))], ["front_door"], {"x": 2.0}, {})
    page = report.as_html()
    assert "<svg>plot</svg>" in page
    assert "a &lt;table&gt;" in page
    assert "front_door is not part of this version" in page
    assert "![a](a.svg)" in report.as_markdown()


def test_a_part_that_fails_or_hangs_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "bench"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "fails.py").write_text("print('before'); raise SystemExit(3)")
    hang = "import os, time; print('begun', flush=True); os.fork(); time.sleep(60)"
    (package / "hangs.py").write_text(hang)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(suite, "BUILD", tmp_path)
    (package / "memory.py").write_text(
        'open(\'memory.json\', \'w\').write(\'{"results": {"q03": {"kernel": 0, "floor": 1}}}\')'
    )
    odd = perform(Part("memory", ""), quick=False)
    assert (odd.ratios, odd.problem[:30]) == ({}, "its results cannot be compared")
    failed = perform(Part("fails", ""), quick=False)
    assert (failed.text, failed.problem) == ("before\n", "it ended with 3")
    hung = perform(Part("hangs", "", minutes=0.02), quick=False)
    assert (hung.text, hung.problem) == ("begun\n", "it was stopped after 0.02 minutes")


def test_ratios_are_told_or_made_of_results() -> None:
    assert ratios_of("machine", {"ratios": {"q": 2}}) == {"machine: q": 2.0}
    rates = {"native, rows": 30.0, "native, batches": 40.0, "DuckDB": 4.0}
    assert ratios_of("join_sum", {"rates": rates}) == {"join_sum: native over DuckDB": 10.0}
    memory = {"q03": {"kernel": 20.0, "floor": 10.0, "rows": 5.0}}
    assert ratios_of("memory", memory) == {"memory: q03: bytes of floor over kernel": 0.5}
    assert ratios_of("anything", [1, 2]) == {}


def test_ratios_of_the_public_api() -> None:
    rates = {"kernel alone, batches of 1,000": [30.0, 20.0], "defaults, batches of 1,000": [5.0]}
    queries = [{"query": "q03", "ratios": {"defaults": 2.0}}]
    assert ratios_of("front_door", {"rates": rates, "queries": queries}) == {
        "front_door: q03: kernel over defaults": 0.5,
        "front_door: join and sum, defaults, batches of 1,000: over the kernel": 0.2,
    }
    reads = [{"plan": "p", "groups": n, "read": t} for n, t in ((10, 1.0), (1000, 4.0))]
    name = "first_rows: p: a read at the fewest over the most groups"
    assert ratios_of("first_rows", reads) == {name: 0.25}
    one = {"way": "insert", "groups": 3000, "alone": 1.0, "subscribed": 4.0}
    assert list(ratios_of("subscribers", [one]).values()) == [0.25]


def test_the_public_api_comes_before_kernels() -> None:
    names = [p.module for p in PARTS]
    assert names.index("front_door") < names.index("native")
    assert len(set(names)) == len(names)
