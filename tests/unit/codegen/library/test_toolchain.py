"""Kernels are compiled once, and a cache never gives a wrong library."""

from __future__ import annotations

import ctypes
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshview.codegen.library import toolchain
from freshview.codegen.library.compiler import CppCompiler, Flags, find_compiler
from freshview.codegen.library.toolchain import build, build_many, cached, program_hash
from freshview.errors import BuildProblem
from tests.thin import thin

pytestmark = pytest.mark.native

SOURCE = """
#include "kernel.hpp"
namespace fr {
static Strings& strings(State& state) { return *reinterpret_cast<Strings*>(&state); }
static void nothing(Env&) {}
const Kernel kernel = {0, 0, 0, nullptr, nullptr, nullptr, 256, strings, nothing, nothing};
}
#include "boundary.hpp"
extern "C" __attribute__((visibility("default"))) int answer() { return ANSWER; }
"""


def kernel(answer: int) -> str:
    return SOURCE.replace("ANSWER", str(answer))


def answer(library: Path) -> int:
    number: int = ctypes.CDLL(str(library)).answer()
    return number


@pytest.fixture(scope="module")
def compiler() -> CppCompiler:
    first = find_compiler()
    if first is None:
        pytest.skip("there is no C++ compiler")
    return first


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache") / "kernels"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is run from now on."""
    seen: list[list[str]] = []
    run = subprocess.run

    def watched(command: list[str], **options: Any) -> Any:
        seen.append(command)
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", watched)
    return seen


def test_a_kernel_is_compiled_once(
    compiler: CppCompiler, cache: Path, calls: list[list[str]]
) -> None:
    first = build(kernel(1), compiler=compiler, cache=cache)
    assert answer(first) == 1
    assert calls
    calls.clear()
    assert build(kernel(1), compiler=compiler, cache=cache) == first
    assert not calls
    assert not list(cache.glob(".build-*"))


def test_the_boundary_is_compiled_once_for_all(
    compiler: CppCompiler, cache: Path, calls: list[list[str]]
) -> None:
    build(kernel(2), compiler=compiler, cache=cache)
    calls.clear()
    build(kernel(3), compiler=compiler, cache=cache)
    assert len(calls) == 1
    assert len(list(cache.glob("*.o"))) == 1


@pytest.mark.parametrize("halves", thin([True, False], 2))
def test_a_large_kernel_is_compiled_by_halves_where_that_is_possible(
    compiler: CppCompiler,
    cache: Path,
    calls: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    halves: bool,
) -> None:
    if halves and not compiler.halves:
        pytest.skip("the compiler has no link-time optimization, or there is no make")
    monkeypatch.delenv("FRESHVIEW_OPTIMIZE", raising=False)
    monkeypatch.setattr(toolchain, "LARGE", 3)
    this = replace(compiler, halves=halves)
    assert answer(build(kernel(5), compiler=this, cache=cache)) == 5
    [words] = [c for c in calls if "-shared" in c]
    assert "-DFRESHVIEW_LARGE" in words
    assert ("-flto=2" in words) == halves


def test_only_one_name_is_shown(compiler: CppCompiler, cache: Path) -> None:
    library = build(kernel(4), compiler=compiler, cache=cache)
    try:
        words = subprocess.run(
            ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
        ).stdout
    except FileNotFoundError:
        pytest.skip("needs nm")
    assert {line.split()[-1] for line in words.splitlines()} == {"answer", "freshview_functions"}


@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_a_damaged_library_is_compiled_again(
    compiler: CppCompiler, cache: Path, damage: str
) -> None:
    source = kernel(10 + len(damage))
    library = build(source, compiler=compiler, cache=cache)
    whole = library.read_bytes()
    middle = len(whole) // 2
    spoiled = {
        "cut": whole[:middle],
        "changed": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "empty": b"",
    }
    library.unlink()
    library.write_bytes(spoiled[damage])
    assert cached(source, compiler=compiler, cache=cache) is None
    assert answer(build(source, compiler=compiler, cache=cache)) == 10 + len(damage)
    assert cached(source, compiler=compiler, cache=cache) == library


def test_an_evicted_library_is_compiled_again(
    compiler: CppCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("freshview.codegen.library.cache.CACHE_BYTES", 0)
    folder = tmp_path / "kernels"
    os.utime(build(kernel(31), compiler=compiler, cache=folder), (0, 0))
    build(kernel(32), compiler=compiler, cache=folder)
    assert cached(kernel(31), compiler=compiler, cache=folder) is None
    monkeypatch.undo()
    assert answer(build(kernel(31), compiler=compiler, cache=folder)) == 31


def test_what_a_library_depends_on_is_in_its_name(
    compiler: CppCompiler, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def name(source: str, c: CppCompiler = compiler, flags: Flags = Flags()) -> str:  # noqa: B008
        return toolchain._key(source, c, flags)

    usual = name("x")
    other = CppCompiler(compiler.command, "another version", compiler.kind)
    names = [name("y"), name("x", other), name("x", flags=Flags(count=True))]
    names += [name("x", flags=Flags(baseline="x86-64-v3")), name("x", flags=Flags(optimize=1))]
    portable = name("x", flags=Flags(baseline="x86-64-v3"))
    monkeypatch.setattr(toolchain, "_cpu", lambda: "another processor")
    assert name("x", flags=Flags(baseline="x86-64-v3")) == portable
    names.append(name("x"))
    monkeypatch.undo()
    monkeypatch.setattr(toolchain, "_native", lambda: [("arena.hpp", "another text")])
    names.append(name("x"))
    assert len({usual, *names}) == len(names) + 1


def test_states_fit_whatever_they_are_compiled_for(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"arena.hpp": "a", "boundary.cpp": "b"}
    monkeypatch.setattr(toolchain, "_native", lambda: list(files.items()))
    before = program_hash("x")
    files["boundary.cpp"] = "changed"
    assert program_hash("x") == before
    assert program_hash("y") != before
    files["arena.hpp"] = "changed"
    assert program_hash("x") != before


def test_every_stateless_file_is_there() -> None:
    assert {name for name in toolchain.STATELESS if not (toolchain.NATIVE / name).exists()} == set()


def test_a_mistake_in_the_source_is_told(compiler: CppCompiler, cache: Path) -> None:
    source = kernel(5) + "int f() { return nobody_declared_this; }\n"
    with pytest.raises(BuildProblem) as caught:
        build(source, compiler=compiler, cache=cache)
    assert "the compiler refuses the kernel: kernel.cpp:" in caught.value.what
    assert "error: " in caught.value.what
    assert "nobody_declared_this" in caught.value.what
    left = Path(caught.value.instead.removeprefix("its source is left in "))
    assert left.read_text() == source
    assert not list(cache.glob(".build-*"))


def test_a_machine_without_compiler_is_told(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert find_compiler() is None
    with pytest.raises(BuildProblem, match=r"no C\+\+ compiler on this machine; install g"):
        build(kernel(6), compiler=find_compiler(), cache=cache)


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_the_first_compiler_that_answers_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "c++", "echo broken >&2; exit 1")
    script(tmp_path / "clang++", "echo Debian clang version 99.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    chosen = find_compiler()
    assert chosen == CppCompiler((str(tmp_path / "clang++"),), "Debian clang version 99.0", "clang")


def test_the_compiler_in_a_wheel_is_the_last_resort(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "python", 'echo "$2 $3 $4"')
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    chosen = find_compiler()
    assert chosen is not None
    assert (chosen.kind, chosen.version) == ("zig", "ziglang c++ --version")
    assert chosen.command[1:] == ("-m", "ziglang", "c++", "-nostdlib++")


def test_many_are_built_in_their_order(compiler: CppCompiler, cache: Path) -> None:
    numbers = [21, 22, 23, 21]
    libraries = build_many([kernel(n) for n in numbers], compiler=compiler, cache=cache)
    assert [answer(path) for path in libraries] == numbers


def test_a_cache_that_cannot_be_written_is_told(compiler: CppCompiler, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BuildProblem, match=r"cannot be written to .*; name a folder that can"):
        build(kernel(7), compiler=compiler, cache=tmp_path / "file" / "kernels")


def test_libraries_for_other_machines_and_counting(compiler: CppCompiler, cache: Path) -> None:
    counting = kernel(8) + "#ifndef FRESHVIEW_COUNT\n#error it does not count\n#endif\n"
    assert answer(build(counting, compiler=compiler, flags=Flags(count=True), cache=cache)) == 8
    if os.uname().machine == "x86_64":
        words = Flags(baseline="x86-64-v2").words()
        assert "-march=x86-64-v2" in words
        assert "-march=native" not in words
        assert "-march=x86_64_v2" in Flags(baseline="x86-64-v2").words("zig")
