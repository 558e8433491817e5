"""The C++ compiler of this machine, and what it is called with."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

CompilerKind = Literal["gcc", "clang", "zig"]
Baseline = Literal["native", "x86-64-v2", "x86-64-v3"]
Sanitizer = Literal["address", "undefined", "thread"]
Level = Literal[0, 1, 2, 3]

HALVES = ("-flto=2", "--param=lto-partitions=2")


@dataclass(frozen=True, slots=True)
class CppCompiler:
    """A C++ compiler of this machine: how it is called, and what it says of itself."""

    command: tuple[str, ...]
    version: str
    kind: CompilerKind
    halves: bool = False
    """Whether it can optimize the halves of a text on two cores (link-time optimization)."""


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

    def words(self, kind: CompilerKind = "gcc") -> list[str]:
        """The arguments for the compiler.

        >>> " ".join(Flags(count=True).words()[:4])
        '-std=c++17 -O2 -march=native -DFRESHVIEW_COUNT'
        """
        level = 2 if self.optimize is None else self.optimize
        words = ["-std=c++17", f"-O{level}"]
        if self.baseline == "native" or os.uname().machine in ("x86_64", "AMD64"):
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


USUAL_FLAGS = Flags()


def command(compiler: CppCompiler, flags: Flags) -> list[str]:
    """How a compiler is called with these flags."""
    # Sanitizers are for tests, which had better run what is compiled in one piece.
    halves = HALVES if flags.large and compiler.halves and not flags.sanitize else ()
    return [*compiler.command, *flags.words(compiler.kind), *halves]


def find_compiler() -> CppCompiler | None:
    """The compiler of this machine: the first on the PATH that answers, else that of ziglang."""
    import importlib.util
    import shutil

    for name in ("c++", "g++", "clang++"):
        path = shutil.which(name)
        if path and (version := _version((path,))):
            if "clang" in version:
                return CppCompiler((path,), version, "clang")
            return CppCompiler((path,), version, "gcc", _can_halve(path))
    if importlib.util.find_spec("ziglang") is not None:
        zig = (sys.executable, "-m", "ziglang", "c++")
        if version := _version(zig):
            # Without this, its first use compiles a C++ library that kernels do not need.
            return CppCompiler((*zig, "-nostdlib++"), version, "zig")
    return None


def _version(command: tuple[str, ...]) -> str:
    """The first line that a compiler tells about itself; "" where it cannot be called."""
    import subprocess  # most processes find their kernels in the cache, and compile nothing

    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return (done.stdout.splitlines() or [""])[0]


@cache
def _can_halve(gcc: str) -> bool:
    """Whether a gcc has what it needs for that; it starts the two processes by `make`."""
    import shutil
    import subprocess

    if (os.cpu_count() or 1) < 2 or shutil.which("make") is None:
        return False
    questions = ("-print-prog-name=lto1", "-print-file-name=liblto_plugin.so")
    answers = (subprocess.run([gcc, q], capture_output=True, text=True).stdout for q in questions)
    return all(Path(path.strip()).is_absolute() for path in answers)
