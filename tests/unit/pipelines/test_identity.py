"""Whose checkpoint a folder is: also after a disk was full."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshview import files
from freshview.errors import FreshviewError
from freshview.files import part_of
from freshview.pipelines import identity
from freshview.pipelines.identity import claim
from freshview.plan.compile import compile_queries
from freshview.plan.options import PlanOptions
from freshview.program.statistics import Statistics
from freshview.sql.load import load

MINE: dict[str, str | int] = {"format": 1, "program": "a"}


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("fails", ["write", "half", "replace"])
def test_a_full_disk_leaves_a_folder_that_can_be_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    def half(path: Path, data: bytes, **_: Any) -> None:
        path.write_bytes(data[:5])
        full()

    with monkeypatch.context() as broken:
        if fails == "replace":
            broken.setattr(files.os, "replace", full)
        else:
            broken.setattr(files, "write_out", half if fails == "half" else full)
        with pytest.raises(FreshviewError, match="No space left"):
            claim(tmp_path / "place", MINE)
    claim(tmp_path / "place", MINE)
    claim(tmp_path / "place", MINE)
    assert [p.name for p in (tmp_path / "place").iterdir()] == [identity.NAME]


def test_a_claim_that_was_killed_is_made_again(tmp_path: Path) -> None:
    part_of(tmp_path / identity.NAME).write_text('{"form')
    claim(tmp_path, MINE)
    with pytest.raises(FreshviewError, match="to other views"):
        claim(tmp_path, {**MINE, "program": "b"})


def test_other_things_are_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("")
    with pytest.raises(FreshviewError, match="is not empty"):
        claim(tmp_path, MINE)


def test_a_program_is_the_same_whatever_it_was_estimated_to_cost() -> None:
    catalog, queries = load("CREATE STREAM r (a INT); CREATE VIEW v AS SELECT SUM(a) AS s FROM r")
    relations = list(catalog.relations.values())
    few, many = (
        compile_queries(queries, relations, PlanOptions(statistics=Statistics(rows={"r": rows})))
        for rows in (10.0, 1e6)
    )
    annotated = replace(many, notes=(*many.notes, "in other words"), view_notes={"v": ("why",)})
    assert identity.identity(few, catalog) == identity.identity(annotated, catalog)
    other = replace(many, maps=many.maps[1:])
    assert identity.identity(few, catalog) != identity.identity(other, catalog)
