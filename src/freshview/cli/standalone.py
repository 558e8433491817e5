"""What `freshview compile` writes beside programs and kernels: code that stands by itself."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from freshview.calculus.schema import Query
from freshview.cli.files import write_file
from freshview.codegen.library import toolchain
from freshview.codegen.standalone import loader
from freshview.codegen.standalone.write import LIBRARY_SOURCES, build_words
from freshview.runtime.compile import kernels
from freshview.runtime.compile.standalone import Standalone, plan_standalone
from freshview.runtime.settings import DatabaseSettings
from freshview.sql import Catalog

GENERIC = ("c++",)


def write_standalone(
    queries: Sequence[Query],
    catalog: Catalog,
    script: Path,
    folder: Path,
    settings: DatabaseSettings,
    tell: Callable[[str], object],
) -> Iterator[Path | str]:
    """Write `standalone` and `python` into a folder; the last line is the command that builds."""
    plan = plan_standalone(queries, catalog, settings, tell)
    if plan is None:
        return
    home = folder / "standalone"
    for name, text in plan.files.items():
        write_file(home / name, text.encode())
    yield home
    library = _library(plan, settings)
    if library is not None:
        write_file(home / "libviews.so", library)
        yield write_package(folder / "python" / package_name(script), library)
    yield f"build: {_command(settings, home)}"


def write_package(folder: Path, library: bytes) -> Path:
    """Write a package of Python: the library, and what loads it."""
    source = Path(loader.__file__).read_bytes()
    write_file(folder / "__init__.py", source)
    write_file(folder / "libviews.so", library)
    return folder


def package_name(script: Path) -> str:
    """The name of a script as that of a package.

    >>> package_name(Path("daily-sales.sql")), package_name(Path("2024.sql"))
    ('daily_sales', '_2024')
    """
    name = re.sub(r"\W", "_", script.stem)
    return f"_{name}" if name[:1].isdigit() else name


def _library(plan: Standalone, settings: DatabaseSettings) -> bytes | None:
    compiler = kernels.compiler()
    if compiler is None:
        return None
    path = toolchain.build_files(
        plan.files, LIBRARY_SOURCES, compiler=compiler, flags=settings.flags
    )
    return path.read_bytes()


def _command(settings: DatabaseSettings, folder: Path) -> str:
    compiler = kernels.compiler()
    words = compiler.command if compiler else GENERIC
    kind = compiler.kind if compiler else "gcc"
    # Wide vectors never leave the program: how they are passed is nobody else's concern.
    flags = [*settings.flags.words(kind), "-Wno-psabi"]
    return build_words([*map(shlex.quote, words), *flags], folder)
