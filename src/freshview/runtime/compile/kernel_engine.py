"""A program as a kernel that runs in this process."""

from __future__ import annotations

from freshview.calculus.functions import BUILTINS, Functions
from freshview.codegen.kernel.source import emit
from freshview.codegen.library.compiler import CppCompiler, Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.codegen.library.load import Kernel
from freshview.codegen.library.toolchain import build
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.errors import BuildProblem
from freshview.program.terms import Program


def kernel_engine(
    program: Program,
    functions: Functions = BUILTINS,
    flags: Flags | None = None,
    compiler: CppCompiler | None = None,
    passes: KernelPasses = USUAL_PASSES,
) -> KernelEngine:
    """An engine with empty maps; its kernel is compiled unless the cache has it."""
    source = emit(program, functions, passes)
    compiler = compiler or find_compiler()
    if compiler is None:
        raise BuildProblem(
            "there is no C++ compiler", instead="install g++ or clang++, or the ziglang wheel"
        )
    return KernelEngine(Kernel(build(source, compiler=compiler, flags=flags or Flags())))
