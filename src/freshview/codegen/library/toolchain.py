"""C++ text to a shared library: finding a compiler, calling it, keeping what it made."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache as remember
from pathlib import Path
from typing import Literal

from freshview.codegen.library.private import NotPrivate, private_folder, read_own
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
    "python.hpp",
    "results.hpp",
)
"""Files of it that say nothing about how a state lies in memory."""

Make = Literal["gcc", "clang", "zig"]
Baseline = Literal["native", "x86-64-v2", "x86-64-v3"]
Sanitizer = Literal["address", "undefined", "thread"]

_ONE_BOUNDARY = threading.Lock()  # threads that build kernels wait for the one that builds this


def forked() -> None:
    """In a new process no thread builds anything yet."""
    global _ONE_BOUNDARY
    _ONE_BOUNDARY = threading.Lock()


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C++ compiler of this machine: how it is called, and what it says of itself."""

    command: tuple[str, ...]
    version: str
    kind: Make
    halves: bool = False
    """Whether it can optimize the halves of a text on two cores (link-time optimization)."""


Level = Literal[0, 1, 2, 3]


@dataclass(frozen=True, slots=True)
class Flags:
    """What a kernel is compiled for.

    `baseline` other than "native" gives a library that runs on every machine of that level, as
    the executors of a cluster may be; `count` makes kernels count the rows they look at.
    `optimize` None means: well, unless the kernel is so large that its user would wait, or as the
    environment variable FRESHVIEW_OPTIMIZE (0 to 3) says. `large` is found by the size of a kernel.
    """

    optimize: Level | None = None
    baseline: Baseline = "native"
    count: bool = False
    sanitize: tuple[Sanitizer, ...] = ()
    large: bool = False

    def words(self, kind: Make = "gcc") -> list[str]:
        """The arguments for the compiler.

        >>> " ".join(Flags(count=True).words()[:4])
        '-std=c++17 -O2 -march=native -DFRESHVIEW_COUNT'
        """
        level = 2 if self.optimize is None else self.optimize
        words = ["-std=c++17", f"-O{level}"]
        if self.baseline == "native" or platform.machine() in ("x86_64", "AMD64"):
            spelled = self.baseline.replace("-", "_") if kind == "zig" else self.baseline
            words.append(f"-march={spelled}")
        if kind != "gcc":
            words.append("-fbracket-depth=8192")  # a query may nest further than the usual 256
        if self.count:
            words.append("-DFRESHVIEW_COUNT")
        if self.large:
            words.append("-DFRESHVIEW_LARGE")
        if self.sanitize:
            words += [f"-fsanitize={','.join(self.sanitize)}", "-fno-sanitize-recover=all"]
            words += ["-fno-omit-frame-pointer", "-g"]
        return [*words, "-fno-exceptions", "-fno-rtti", "-fPIC", "-fvisibility=hidden"]


USUAL = Flags()

LEVELS: dict[str, Level] = {"0": 0, "1": 1, "2": 2, "3": 3}

LARGE = 1200
"""Lines of a kernel above which it is compiled with -O1: that takes two thirds of the time, and
gives at least 85% of the speed (Q1, Q3, Q6, Q8 and Q18 of TPC-H). Its halves are optimized on two
cores where that is possible, which takes three quarters of what is left."""

HALVES = ("-flto=2", "--param=lto-partitions=2")


def _for(source: str, flags: Flags) -> Flags:
    """The flags for a text, where they depend on its size."""
    flags = _told(flags)
    if flags.optimize is not None:
        return flags
    return replace(flags, optimize=1, large=True) if source.count("\n") > LARGE else flags


def _told(flags: Flags) -> Flags:
    """The flags with the level that the environment names, where they name none."""
    told = os.environ.get("FRESHVIEW_OPTIMIZE", "")
    if flags.optimize is not None or told not in LEVELS:
        return flags
    return replace(flags, optimize=LEVELS[told])


def _command(compiler: Compiler, flags: Flags) -> list[str]:
    """How a compiler is called with these flags."""
    # Sanitizers are for tests, which had better run what is compiled in one piece.
    halves = HALVES if flags.large and compiler.halves and not flags.sanitize else ()
    return [*compiler.command, *flags.words(compiler.kind), *halves]


def find_compiler() -> Compiler | None:
    """The compiler of this machine: the first on the PATH that answers, else that of ziglang."""
    for name in ("c++", "g++", "clang++"):
        found = shutil.which(name)
        if found and (version := _version((found,))):
            if "clang" in version:
                return Compiler((found,), version, "clang")
            return Compiler((found,), version, "gcc", _can_halve(found))
    if importlib.util.find_spec("ziglang") is not None:
        zig = (sys.executable, "-m", "ziglang", "c++")
        if version := _version(zig):
            # Without this, its first use compiles a C++ library that kernels do not need.
            return Compiler((*zig, "-nostdlib++"), version, "zig")
    return None


def _version(command: tuple[str, ...]) -> str:
    """The first line that a compiler tells about itself; "" where it cannot be called."""
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return (done.stdout.splitlines() or [""])[0]


@remember
def _can_halve(gcc: str) -> bool:
    """Whether a gcc has what it needs for that; it starts the two processes by `make`."""
    if (os.cpu_count() or 1) < 2 or shutil.which("make") is None:
        return False
    asked = ("-print-prog-name=lto1", "-print-file-name=liblto_plugin.so")
    found = [subprocess.run([gcc, a], capture_output=True, text=True).stdout for a in asked]
    return all(Path(name.strip()).is_absolute() for name in found)


def user_cache() -> Path:
    """Where this user's kernels are kept: the one place that the desktop convention names."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return root / "freshview" / "kernels"


def build(
    source: str,
    *,
    compiler: Compiler | None,
    flags: Flags = USUAL,
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
    if _whole(library) is None:
        boundary = _boundary(compiler, flags, folder)
        flags = _for(source, flags)
        with _workshop(folder) as name:
            (name / "boundary.o").write_bytes(boundary)
            words = ["-shared", f'-DFRESHVIEW_PROGRAM="{program_hash(source)}"', "boundary.o"]
            _compile(source, [*_command(compiler, flags), *words], name, library)
    return library


def _library(source: str, compiler: Compiler, flags: Flags, folder: Path) -> Path:
    return folder / f"{_key(source, compiler, _for(source, flags))}.so"


def cached(
    source: str, *, compiler: Compiler, flags: Flags = USUAL, cache: Path | None = None
) -> Path | None:
    """The shared library of a kernel's C++ text, if it was compiled before."""
    folder = user_cache() if cache is None else cache
    library = _library(source, compiler, flags, folder)
    return None if _whole(library) is None else library


def build_many(
    sources: Sequence[str],
    *,
    compiler: Compiler | None,
    flags: Flags = USUAL,
    cache: Path | None = None,
) -> list[Path]:
    """The libraries of several kernels, in their order, compiled on all the cores."""

    def one(source: str) -> Path:
        return build(source, compiler=compiler, flags=flags, cache=cache)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, sources))


def _boundary(compiler: Compiler, flags: Flags, folder: Path) -> bytes:
    """The object file that every kernel is linked to; it takes seconds to compile, but once.

    Its loops over columns are worth vector instructions.
    """
    flags = _told(flags)
    if flags.optimize is None:
        flags = replace(flags, optimize=3)
    source = (NATIVE / "boundary.cpp").read_text(encoding="utf-8")
    made = folder / f"{_key(source, compiler, flags)}.o"
    with _ONE_BOUNDARY:
        data = _whole(made)
        if data is None:
            with _workshop(folder) as name:
                _compile(source, [*_command(compiler, flags), "-c"], name, made)
            data = _whole(made)
    assert data is not None, "it was written a moment ago"
    return data


@contextmanager
def _workshop(folder: Path) -> Iterator[Path]:
    """A folder for one compilation, on the same disk as the cache so that results can be moved."""
    try:
        private_folder(folder)
        with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as name:
            yield Path(name)
    except NotPrivate as e:
        raise BuildProblem(f"the kernel cannot be written: {e}") from e
    except OSError as e:
        raise BuildProblem(
            f"the kernel cannot be written to {folder}: {e.strerror or e}",
            instead="name a folder that can be written",
        ) from e


def _compile(source: str, command: Sequence[str], name: Path, target: Path) -> None:
    text, made = name / "kernel.cpp", name / f"made{target.suffix}"
    text.write_text(source, encoding="utf-8")
    words = [*command, f"-I{NATIVE}", text.name, "-o", made.name]
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
    with made.open("ab") as out:
        out.write(hashlib.sha256(made.read_bytes()).digest())
    os.replace(made, target)


def _first_error(words: str) -> str:
    r"""The line of a compiler's complaint that says what is wrong.

    >>> _first_error("kernel.cpp: In function f:\nkernel.cpp:3:9: error: 'y' is not declared\n")
    "kernel.cpp:3:9: error: 'y' is not declared"
    """
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\b(error|undefined reference)\b", line)]
    return (errors or lines or ["it does not say why"])[0]


def _whole(made: Path) -> bytes | None:
    """What the cache has in a file, or None where bytes of it were lost or changed.

    A cache that others can write to is none: what it has is run.
    """
    try:
        private_folder(made.parent)
    except (NotPrivate, OSError):
        return None
    data = read_own(made)
    if data is None:
        return None
    return data[:-32] if hashlib.sha256(data[:-32]).digest() == data[-32:] else None


def _key(source: str, compiler: Compiler, flags: Flags) -> str:
    cpu = _cpu() if flags.baseline == "native" else platform.machine()
    parts = [source, *_command(compiler, flags), compiler.version, cpu]
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


@remember
def _cpu() -> str:
    """What `-march=native` depends on: the processor and what it can do."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    told = ("model name", "flags", "Features", "CPU part")
    return "\n".join(sorted({line for line in lines if line.startswith(told)}))
