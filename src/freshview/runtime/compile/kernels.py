"""Kernels of plans: loaded from the cache, or built now, in parallel or in the background."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

from freshview.codegen.library import toolchain
from freshview.codegen.library.compiler import USUAL_FLAGS, CppCompiler, Flags
from freshview.codegen.library.last_compiler import last_compiler, present_compiler
from freshview.codegen.library.load import Kernel
from freshview.codegen.library.row_store import row_store_source
from freshview.errors import BuildProblem
from freshview.runtime.compile.compiled_plan import CompiledPlan

Built = TypeVar("Built")

_BUILD_SLOTS = threading.BoundedSemaphore(2)  # background builds leave the machine to the others


def forked() -> None:
    """In a new process nobody builds anything yet."""
    global _BUILD_SLOTS
    _BUILD_SLOTS = threading.BoundedSemaphore(2)


@dataclass(frozen=True)
class BuiltKernel:
    """A kernel in this process, the plan that it runs, and the seconds of the build."""

    plan: CompiledPlan
    kernel: Kernel
    seconds: float


@cache
def compiler() -> CppCompiler | None:
    """The compiler of this machine: the one that was found last, or looked for now."""
    return last_compiler() or present_compiler()


def need_compiler() -> CppCompiler:
    """The compiler of this machine, asked itself, or a BuildProblem that says what to install."""
    this = None if compiler() is None else present_compiler()
    if this is None:
        raise BuildProblem(
            "there is no C++ compiler on this machine",
            instead="install g++ or clang++, run: pip install ziglang, or use engine='reference'",
        )
    return this


def build(plan: CompiledPlan, flags: Flags) -> BuiltKernel:
    """The kernel of a plan, compiled unless the cache has it."""
    start = time.perf_counter()
    path = _cached_path(plan.source, flags)
    if path is None:
        path = toolchain.build(plan.source, compiler=need_compiler(), flags=flags)
    return BuiltKernel(plan, load(path), time.perf_counter() - start)


def build_all(plans: Sequence[CompiledPlan], flags: Flags) -> list[BuiltKernel]:
    """The kernels of several plans, compiled on all the cores."""
    if len(plans) < 2:
        return [build(plan, flags) for plan in plans]
    from concurrent.futures import ThreadPoolExecutor

    need_compiler()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda plan: build(plan, flags), plans))


def cached(plan: CompiledPlan, flags: Flags) -> BuiltKernel | None:
    """The kernel of a plan if the cache has it."""
    start = time.perf_counter()
    path = _cached_path(plan.source, flags)
    if path is None:
        return None
    return BuiltKernel(plan, load(path), time.perf_counter() - start)


def _cached_path(source: str, flags: Flags) -> Path | None:
    this = compiler()
    return None if this is None else toolchain.cached(source, compiler=this, flags=flags)


def row_store() -> Kernel:
    """The library that keeps rows, compiled unless the cache has it; it takes no flags."""
    source = row_store_source()
    path = _cached_path(source, USUAL_FLAGS)
    if path is None:
        path = toolchain.build(source, compiler=need_compiler(), flags=USUAL_FLAGS)
    return load(path)


def cached_row_store() -> Kernel | None:
    """The library that keeps rows, if the cache has it."""
    path = _cached_path(row_store_source(), USUAL_FLAGS)
    return None if path is None else load(path)


@cache
def load(path: Path) -> Kernel:
    """A library as a kernel, loaded once a process."""
    return Kernel(path)


class BackgroundBuild(Generic[Built]):
    """What a thread builds; `kernel` or `error` is there when it is done."""

    def __init__(self, build: Callable[[], Built], wide: bool = False) -> None:
        self.wide = wide
        self.kernel: Built | None = None
        self.error: BaseException | None = None
        self._build = build
        self._done = threading.Event()
        # A program may end while a compiler runs: nobody waits for it then.
        threading.Thread(target=self._run, name="freshview build", daemon=True).start()

    def _run(self) -> None:
        try:
            with _BUILD_SLOTS:
                self.kernel = self._build()
        except BaseException as e:
            self.error = e
        finally:
            self._done.set()

    def restarted(self) -> BackgroundBuild[Built]:
        """The same build, from the beginning."""
        return BackgroundBuild(self._build, self.wide)

    @property
    def done(self) -> bool:
        """Whether there is a kernel or an error."""
        return self._done.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is done; tells whether it is."""
        return self._done.wait(seconds)
