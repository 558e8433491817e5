"""Files of shared memory that are deleted, emptied, cut, swapped or changed under a pipeline."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from freshview.codegen.library.compiler import find_compiler
from freshview.durable import task
from freshview.durable.checkpoint import CheckpointProblem
from freshview.durable.storage.seal import SEALED_BYTES, seal
from freshview.spark.nodes.kernel_node import KernelNode
from freshview.spark.nodes.reference_node import ReferenceNode
from tests.thin import thin
from tests.unit.pipelines.shop import Shop

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]


def delete(path: Path, _: Path) -> None:
    path.unlink()


def empty(path: Path, _: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path, _: Path) -> None:
    with path.open("rb+") as out:
        out.truncate(path.stat().st_size // 2)


def grow(path: Path, _: Path) -> None:
    with path.open("ab") as out:
        out.write(b"\0" * 4096)


def flip(path: Path, _: Path, at: float = 0.01) -> None:
    with path.open("rb+") as out:
        out.seek(int(path.stat().st_size * at))
        contents = out.read(1) or b"\0"
        out.seek(-1, 1)
        out.write(bytes([contents[0] ^ 4]))


def zero(path: Path, _: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def older(path: Path, before: Path) -> None:
    """In place: whoever has it mapped sees the old bytes."""
    path.write_bytes(before.read_bytes())


def swapped(path: Path, before: Path) -> None:
    """Another file of that name: whoever has the first one mapped does not see it."""
    draft = path.with_suffix(".other")
    shutil.copyfile(before, draft)
    draft.replace(path)


DAMAGES: list[Callable[[Path, Path], None]] = [
    delete, empty, cut, grow, flip, zero, older, swapped,
]  # fmt: skip


def names(shop: Shop) -> list[str]:
    """The files of all the parts, but for those that only keep others out."""
    contents = (
        p for p in shop.memory.rglob("*") if p.is_file() and p.name not in ("lock", "behind")
    )
    return sorted(str(p.relative_to(shop.memory)) for p in contents)


AGAIN = ("same process", "another process", "another driver")


@pytest.mark.parametrize(
    ("damage", "again"), thin([(damage, AGAIN[i % 3]) for i, damage in enumerate(DAMAGES)], 2)
)
def test_files_of_shared_memory(
    tmp_path: Path, damage: Callable[[Path, Path], None], again: str
) -> None:
    harmed(tmp_path, damage, again)


@pytest.mark.full
@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("damage", DAMAGES)
def test_every_file_of_shared_memory(
    tmp_path: Path, damage: Callable[[Path, Path], None], again: str
) -> None:
    harmed(tmp_path, damage, again)


def harmed(tmp_path: Path, damage: Callable[[Path, Path], None], again: str) -> None:
    """Harm one file after the other; every view is right all the time."""
    shop = Shop(tmp_path, workers=2, native=True)
    shop.apply(2)
    for number in range(1, 40):
        shop.rest()
        before = tmp_path / "before"
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(shop.memory, before)
        shop.apply()
        shop.rest()
        there = [n for n in names(shop) if (before / n).exists()]
        if number > len(there):
            break
        name = there[number - 1]
        if again == "another process":
            task.forget(str(shop.place))
        elif again == "another driver":
            shop.flow.close(forget=False)
            task.forget(str(shop.place))
        damage(shop.memory / name, before / name)
        if again == "another driver":
            shop.restart()
        shop.check()
        shop.apply()
        shop.check()
    assert number > 3


@pytest.mark.parametrize("at", [0.0, 0.001, 0.01, 0.05, 0.2])
def test_flipped_bytes_of_the_state(tmp_path: Path, at: float) -> None:
    shop = Shop(tmp_path, workers=2, native=True)
    shop.apply(3)
    for path in shop.memory.rglob("state"):
        flip(path, path, at)
    shop.check()
    shop.apply()
    shop.check()


def test_all_files_of_a_part_are_of_an_older_version(tmp_path: Path) -> None:
    shop = Shop(tmp_path, workers=2, native=True)
    shop.apply(2)
    before = tmp_path / "before"
    # A snapshot may be on its way.
    shutil.copytree(shop.memory, before, ignore=shutil.ignore_patterns(".behind"))
    shop.apply(2)
    shop.flow.close(forget=False)
    task.forget(str(shop.place))
    shutil.rmtree(shop.memory)
    shutil.copytree(before, shop.memory)
    shop.restart()
    shop.check()


def test_a_rebuilding_that_was_cut_short_is_no_rebuilding(tmp_path: Path) -> None:
    """The driver's first redo file is made again while its maps are empty, and read right after."""
    shop = Shop(tmp_path, workers=3, every=100)
    shop.apply(3)
    shop.flow.close()
    first = min(shop.place.glob("p0003/redo-*"))
    first.write_bytes(bytes(first.stat().st_size))
    shop.restart()
    shop.check()


@pytest.mark.parametrize("native", [False, True])
def test_a_snapshot_that_is_damaged_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, native: bool
) -> None:
    """The maps of an older version are in the way when it is tried: they are gone then."""
    shop = Shop(tmp_path, workers=2, every=100, native=native)
    shop.apply(2)
    before = tmp_path / "before"
    shutil.copytree(shop.memory, before)
    shop.apply(1)
    kind = KernelNode if native else ReferenceNode

    def damaged(_: object, path: Path) -> None:
        path.write_bytes(b"freshview" * 100)

    with monkeypatch.context() as broken:
        broken.setattr(kind, "save", damaged)
        shop.flow._coordinator.save(shop.flow._commit_log.commit)
    shop.apply(1)
    shop.flow.close(forget=False)
    task.forget(str(shop.place))
    shutil.rmtree(shop.memory)
    shutil.copytree(before, shop.memory)
    shop.restart()
    with pytest.raises(CheckpointProblem, match="a snapshot could not be used"):
        shop.check()


def test_parts_that_are_swapped(tmp_path: Path) -> None:
    shop = Shop(tmp_path, workers=2, native=True)
    shop.apply(2)
    shop.flow.close(forget=False)
    task.forget(str(shop.place))
    (root,) = shop.memory.iterdir()
    (root / "p0000").rename(root / "p")
    (root / "p0001").rename(root / "p0000")
    (root / "p").rename(root / "p0001")
    shop.restart()
    shop.check()
    shop.apply()
    shop.check()


def test_the_seal_of_large_files(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(bytes(3 * SEALED_BYTES))
    first = seal(tmp_path)
    for at in (0, SEALED_BYTES // 2 - 1, 3 * SEALED_BYTES - 1):
        with path.open("rb+") as out:
            out.seek(at)
            out.write(b"\1")
        assert seal(tmp_path) != first
        path.write_bytes(bytes(3 * SEALED_BYTES))
        assert seal(tmp_path) == first
    path.write_bytes(b"\1" * 3 * SEALED_BYTES)
    assert seal(tmp_path) != first
    path.write_bytes(bytes(3 * SEALED_BYTES + 1))
    assert seal(tmp_path) != first
    path.rename(tmp_path / "another")
    assert seal(tmp_path) != first
