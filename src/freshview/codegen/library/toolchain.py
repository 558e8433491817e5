"""C++ text to a shared library: compiled once, and then found in the cache."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from freshview.codegen.library.cache import build_folder, read_cached, store, user_cache
from freshview.codegen.library.compiler import USUAL_FLAGS, CppCompiler, Flags, Level, command
from freshview.errors import BuildProblem

NATIVE = Path(__file__).resolve().parents[2] / "native"
STATELESS = (
    "arrow.hpp",
    "arrow_in.hpp",
    "arrow_out.hpp",
    "boundary.cpp",
    "boundary.hpp",
    "changes.hpp",
    "decimal.hpp",
    "instance.hpp",
    "lanes.hpp",
    "lines.hpp",
    "preaggregate.hpp",
    "python.hpp",
    "real_lanes.hpp",
    "results.hpp",
    "select.hpp",
    "transaction.hpp",
)
"""Files of it that say nothing about how a state lies in memory."""

_ONE_BOUNDARY = threading.Lock()  # threads that build kernels wait for the one that builds this


def forked() -> None:
    """In a new process no thread builds anything yet."""
    global _ONE_BOUNDARY
    _ONE_BOUNDARY = threading.Lock()


LEVELS: dict[str, Level] = {"0": 0, "1": 1, "2": 2, "3": 3}

LARGE = 1300
"""Lines of a kernel above which it is compiled with -O1: that takes two thirds of the time, and
gives at least 85% of the speed (Q1, Q3, Q6, Q8 and Q18 of TPC-H). Its halves are optimized on two
cores where that is possible, which takes three quarters of what is left."""


def _flags_for(source: str, flags: Flags) -> Flags:
    """The flags for a text, where they depend on its size."""
    flags = _with_level(flags)
    if flags.optimize is not None:
        return flags
    return replace(flags, optimize=1, large=True) if source.count("\n") > LARGE else flags


def _with_level(flags: Flags) -> Flags:
    """The flags with the level that the environment names, where they name none."""
    level = LEVELS.get(os.environ.get("FRESHVIEW_OPTIMIZE", ""))
    if flags.optimize is not None or level is None:
        return flags
    return replace(flags, optimize=level)


def build(
    source: str,
    *,
    compiler: CppCompiler | None,
    flags: Flags = USUAL_FLAGS,
    cache: Path | None = None,
) -> Path:
    """The shared library of a kernel's C++ text, compiled unless the cache has it.

    The name is a hash of everything that the library depends on, and the file ends in a hash of
    its contents: so a cache can be shared, copied and cut short, and never gives a wrong library.
    Two builds of the same text at the same time both succeed.
    """
    if compiler is None:
        raise BuildProblem(
            "there is no C++ compiler on this machine",
            instead="install g++ or clang++, or run: pip install ziglang",
        )
    folder = user_cache() if cache is None else cache
    library = _library(source, compiler, flags, folder)
    if read_cached(library) is None:
        boundary = _boundary(compiler, flags, folder)
        flags = _flags_for(source, flags)
        with build_folder(folder) as name:
            (name / "boundary.o").write_bytes(boundary)
            words = ["-shared", f'-DFRESHVIEW_PROGRAM="{program_hash(source)}"', "boundary.o"]
            _compile(source, [*command(compiler, flags), *words], name, library)
    return library


def _library(source: str, compiler: CppCompiler, flags: Flags, folder: Path) -> Path:
    return folder / f"{_key(source, compiler, _flags_for(source, flags))}.so"


def cached(
    source: str, *, compiler: CppCompiler, flags: Flags = USUAL_FLAGS, cache: Path | None = None
) -> Path | None:
    """The shared library of a kernel's C++ text, if it was compiled before."""
    folder = user_cache() if cache is None else cache
    library = _library(source, compiler, flags, folder)
    return None if read_cached(library) is None else library


def build_files(
    files: Mapping[str, str],
    sources: Sequence[str],
    *,
    compiler: CppCompiler,
    flags: Flags = USUAL_FLAGS,
    cache: Path | None = None,
) -> Path:
    """The shared library of files that need no other ones; `sources` are those to compile."""
    folder = user_cache() if cache is None else cache
    first, *others = sources
    flags = _flags_for(files[first], flags)
    words = [*command(compiler, flags), "-shared", *others]
    cpu = _cpu() if flags.baseline == "native" else os.uname().machine
    parts = [*words, compiler.version, cpu, *(x for pair in sorted(files.items()) for x in pair)]
    library = folder / f"{_sha256(parts)}.so"
    if read_cached(library) is None:
        with build_folder(folder) as name:
            for file, text in files.items():
                (name / file).write_text(text, encoding="utf-8")
            _compile(files[first], [*words, "-lpthread"], name, library)
    return library


def build_with(
    source: str,
    headers: Sequence[Path],
    *,
    compiler: CppCompiler,
    flags: Flags = USUAL_FLAGS,
    cache: Path | None = None,
    only_cached: bool = False,
) -> Path | None:
    """The shared library of a text that includes some headers of `native`, and no boundary.

    None where it would have to be compiled, but is to be `only_cached`.
    """
    words = [*command(compiler, flags), "-shared"]
    parts = [source, *words, compiler.version, _cpu(), *(h.read_text("utf-8") for h in headers)]
    folder = user_cache() if cache is None else cache
    library = folder / f"{_sha256(parts)}.so"
    if read_cached(library) is None:
        if only_cached:
            return None
        with build_folder(folder) as name:
            _compile(source, words, name, library)
    return library


def build_many(
    sources: Sequence[str],
    *,
    compiler: CppCompiler | None,
    flags: Flags = USUAL_FLAGS,
    cache: Path | None = None,
) -> list[Path]:
    """The libraries of several kernels, in their order, compiled on all the cores."""
    from concurrent.futures import ThreadPoolExecutor

    def one(source: str) -> Path:
        return build(source, compiler=compiler, flags=flags, cache=cache)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, sources))


def _boundary(compiler: CppCompiler, flags: Flags, folder: Path) -> bytes:
    """The object file that every kernel is linked to; it takes seconds to compile, but once.

    Its loops over columns are worth vector instructions.
    """
    flags = _with_level(flags)
    if flags.optimize is None:
        flags = replace(flags, optimize=3)
    source = (NATIVE / "boundary.cpp").read_text(encoding="utf-8")
    target = folder / f"{_key(source, compiler, flags)}.o"
    with _ONE_BOUNDARY:
        data = read_cached(target)
        if data is None:
            with build_folder(folder) as name:
                data = _compile(source, [*command(compiler, flags), "-c"], name, target)
    return data


def _compile(source: str, command: Sequence[str], name: Path, target: Path) -> bytes:
    """Compile a text in a folder of its own, and put what comes out into the cache."""
    import subprocess

    text, built = name / "kernel.cpp", name / f"built{target.suffix}"
    text.write_text(source, encoding="utf-8")
    words = [*command, f"-I{NATIVE}", text.name, "-o", built.name]
    # A sanitizer that is loaded into this process is not meant for the compiler.
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run(words, capture_output=True, text=True, cwd=name, env=env)
    if done.returncode:
        left = target.with_suffix(".cpp")
        os.replace(text, left)
        raise BuildProblem(
            f"the compiler refuses the kernel: {_first_error(done.stderr)}",
            instead=f"its source is left in {left}",
        )
    return store(built, target)


def _first_error(words: str) -> str:
    r"""The line of a compiler's message that says what is wrong.

    >>> _first_error("kernel.cpp: In function f:\nkernel.cpp:3:9: error: 'y' is not declared\n")
    "kernel.cpp:3:9: error: 'y' is not declared"
    """
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\b(error|undefined reference)\b", line)]
    return (errors or lines or ["it does not say why"])[0]


def _key(source: str, compiler: CppCompiler, flags: Flags) -> str:
    cpu = _cpu() if flags.baseline == "native" else os.uname().machine
    parts = [source, *command(compiler, flags), compiler.version, cpu]
    return _sha256([*parts, *(text for _, text in _native())])


def program_hash(source: str) -> str:
    """What a state of this kernel can be exchanged with: equal text over equal containers."""
    return _sha256([source, *(text for name, text in _native() if name not in STATELESS)])


def _sha256(parts: Sequence[str]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode()
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.hexdigest()


def _native() -> list[tuple[str, str]]:
    return [(path.name, path.read_text(encoding="utf-8")) for path in sorted(NATIVE.glob("*.?pp"))]


@cache
def _cpu() -> str:
    """What `-march=native` depends on: the processor and what it can do."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return " ".join(os.uname())
    names = ("model name", "flags", "Features", "CPU part")
    return "\n".join(sorted({line for line in lines if line.startswith(names)}))
