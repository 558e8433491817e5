"""The compiler that was found last, in a file: to ask one for its version takes three processes.

It is for those who look for libraries that were built before. Whoever compiles asks the compiler
itself (`present_compiler`), which stores the answer here.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path

from freshview.codegen.library.cache import cache_root
from freshview.codegen.library.compiler import CppCompiler, find_compiler
from freshview.codegen.library.private_files import NotPrivate, private_folder, read_own
from freshview.files import write_whole


def last_compiler() -> CppCompiler | None:
    """The compiler that was found last, if its file and what it was looked for in are the same."""
    try:
        private_folder(_path().parent)
        stored = json.loads(read_own(_path()) or b"{}")
        compiler = CppCompiler(
            **{**stored["compiler"], "command": (*stored["compiler"]["command"],)}
        )
        return compiler if stored["where"] == _where(compiler) else None
    except (OSError, NotPrivate, ValueError, KeyError, TypeError):
        return None


@cache
def present_compiler() -> CppCompiler | None:
    """The compiler of this machine: it is asked once a process, and the answer is stored."""
    compiler = find_compiler()
    if compiler is not None:
        remember_compiler(compiler)
    return compiler


def remember_compiler(compiler: CppCompiler) -> None:
    """Store a compiler; where that fails, it is asked again the next time."""
    with suppress(OSError, NotPrivate):
        data = json.dumps({"compiler": asdict(compiler), "where": _where(compiler)}).encode()
        private_folder(_path().parent)
        write_whole(_path(), data, private=True)


def _path() -> Path:
    return cache_root() / "compiler" / "last.json"


def _where(compiler: CppCompiler) -> list[object]:
    """What the answers of a compiler depend on: another file, or another search, may give others.

    The time of a change of the file cannot be set by who installs it.
    """
    file = os.path.realpath(compiler.command[0])
    status = os.stat(file)
    place = [os.environ.get("PATH", ""), sys.executable, os.cpu_count(), file]
    return [*place, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
