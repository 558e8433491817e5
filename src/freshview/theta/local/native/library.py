"""The library of a predicate: compiled once for this machine, and loaded once a process."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from freshview.codegen.library.compiler import (
    USUAL_FLAGS,
    Baseline,
    CppCompiler,
    find_compiler,
)
from freshview.codegen.library.last_compiler import last_compiler, remember_compiler
from freshview.codegen.library.toolchain import NATIVE, build_with
from freshview.errors import BuildProblem

Calls: TypeAlias = dict[str, Callable[..., Any]]
"""The functions of a library, by name: those of `native/theta/entries.hpp`."""


def cached_library(text: str) -> Calls | None:
    """The functions of a text if it was compiled before."""
    compiler = last_compiler() if _is_usual_python() else None
    if compiler is None:
        return None
    path = build_with(text, _headers(), compiler=compiler, only_cached=True)
    return None if path is None else load_library(path)


def build_library(text: str) -> Calls:
    """The functions of a text, compiled unless the cache has it."""
    return load_library(library_file(text))


def library_file(text: str, baseline: Baseline = "native") -> Path:
    """The library of a text, for processors of a baseline: compiled unless the cache has it."""
    compiler = _compiler() if _is_usual_python() else None
    if compiler is None:
        raise BuildProblem(
            "there is no C++ compiler on this machine, or no global lock in this Python",
            instead="install g++ or clang++, run: pip install ziglang, or use engine='numpy'",
        )
    flags = replace(USUAL_FLAGS, baseline=baseline)
    path = build_with(text, _headers(), compiler=compiler, flags=flags)
    assert path is not None
    return path


@cache
def _compiler() -> CppCompiler | None:
    compiler = find_compiler()
    if compiler is not None:
        remember_compiler(compiler)
    return compiler


def _is_usual_python() -> bool:
    """Stores count references of Python's objects: somebody must hold the global lock."""
    return "t" not in sys.abiflags


def _headers() -> list[Path]:
    return sorted([*NATIVE.glob("*.hpp"), *(NATIVE / "theta").glob("*.hpp")])


@cache
def load_library(path: Path) -> Calls:
    """The functions of a library, loaded once a process."""
    try:
        start = ctypes.PyDLL(str(path)).freshview_functions
    except (OSError, AttributeError) as e:
        raise BuildProblem(f"{path} cannot be loaded: {e}") from e
    start.restype = ctypes.py_object
    return {f.__name__: f for f in start()}
