"""Delimited files: their records in the order of the file, from any record on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import STRING
from freshview.spark.io import files
from freshview.spark.io.files import CsvFile
from freshview.spark.io.rows import CORRUPT

PAIRS = Relation("r", (Column("a", STRING), Column("b", STRING)))


def records(path: Path, position: int, size: int) -> list[str]:
    """The first field of good records, and the text of malformed ones."""
    file, read = CsvFile(path, PAIRS, ",", position), []
    while (part := file.read_rows(size)) is not None:
        read += [r["a"] if r[CORRUPT] is None else r[CORRUPT] for r in part.to_pylist()]
    return read


def random_lines(rng: random.Random) -> list[tuple[str, str]]:
    """Lines, and what is read from them; empty lines are not records."""
    kinds = ("{i},x", '{i},"x\ny"', "", "bad{i}", "{i},2,3")
    lines = [rng.choice(kinds).format(i=i) for i in range(rng.randint(1, 30))]
    return [(line, line.partition(",")[0] if line.count(",") == 1 else line) for line in lines]


@pytest.mark.parametrize("seed", range(60))
def test_malformed_records_stay_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """So that a file that grew continues with the first new record."""
    rng = random.Random(seed)
    monkeypatch.setattr(files, "BLOCK", rng.choice((16, 40, 100, 1 << 22)))
    lines = random_lines(rng)
    path, wanted = tmp_path / "r.csv", [record for _, record in lines if record]
    path.write_text("".join(f"{line}\n" for line, _ in lines))
    size = rng.randint(1, 7)
    assert records(path, 0, size) == wanted
    known = rng.randint(0, len(wanted))
    more = random_lines(rng)
    with path.open("a") as out:
        out.writelines(f"{line}\n" for line, _ in more)
    assert records(path, known, size) == wanted[known:] + [record for _, record in more if record]
