"""Kernels for recipes: found in the cache, or built: now, side by side, or in the background."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from freshview.codegen.library import toolchain
from freshview.codegen.library.compiler import CppCompiler, Flags, find_compiler
from freshview.codegen.library.load import Kernel
from freshview.errors import BuildProblem
from freshview.runtime.database.compiled_plan import CompiledPlan

_BUILDERS = threading.BoundedSemaphore(2)  # background builds leave the machine to the others


def forked() -> None:
    """In a new process nobody builds anything yet."""
    global _BUILDERS
    _BUILDERS = threading.BoundedSemaphore(2)


@dataclass(frozen=True)
class Built:
    """A kernel in this process, what it was made from, and the seconds that this took."""

    recipe: CompiledPlan
    kernel: Kernel
    seconds: float


@cache
def compiler() -> CppCompiler | None:
    """The compiler of this machine, looked for once."""
    return find_compiler()


def need_compiler() -> CppCompiler:
    """The compiler of this machine, or a BuildProblem that says what to install."""
    found = compiler()
    if found is None:
        raise BuildProblem(
            "there is no C++ compiler on this machine",
            instead="install g++ or clang++, run: pip install ziglang, or use engine='reference'",
        )
    return found


def build(recipe: CompiledPlan, flags: Flags) -> Built:
    """The kernel of a recipe, compiled unless the cache has it."""
    start = time.perf_counter()
    path = toolchain.build(recipe.source, compiler=need_compiler(), flags=flags)
    return Built(recipe, load(path), time.perf_counter() - start)


def build_all(recipes: Sequence[CompiledPlan], flags: Flags) -> list[Built]:
    """The kernels of several recipes, compiled on all the cores."""
    need_compiler()
    if len(recipes) < 2:
        return [build(r, flags) for r in recipes]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda r: build(r, flags), recipes))


def cached(recipe: CompiledPlan, flags: Flags) -> Built | None:
    """The kernel of a recipe if the cache has it."""
    found = compiler()
    if found is None:
        return None
    start = time.perf_counter()
    path = toolchain.cached(recipe.source, compiler=found, flags=flags)
    if path is None:
        return None
    return Built(recipe, load(path), time.perf_counter() - start)


@cache
def load(path: Path) -> Kernel:
    """A library as a kernel, loaded once a process."""
    return Kernel(path)


class Job:
    """Something that is made in the background; `result` or `error` is there when it is done."""

    def __init__(self, make: Callable[[], Built], wide: bool = False) -> None:
        self.wide = wide
        self.result: Built | None = None
        self.error: BaseException | None = None
        self._make = make
        self._done = threading.Event()
        # A program may end while a compiler runs: nobody waits for it then.
        threading.Thread(target=self._run, name="freshview build", daemon=True).start()

    def _run(self) -> None:
        try:
            with _BUILDERS:
                self.result = self._make()
        except BaseException as e:
            self.error = e
        finally:
            self._done.set()

    def again(self) -> Job:
        """The same, from the beginning."""
        return Job(self._make)

    @property
    def done(self) -> bool:
        """Whether there is a result or an error."""
        return self._done.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is done; tells whether it is."""
        return self._done.wait(seconds)
