"""Kernels for the workers: built by the driver, stored in the checkpoint, run by executors."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

from freshview.calculus.functions import Functions
from freshview.codegen.library.cache import evict, user_cache
from freshview.codegen.library.compiler import Baseline, Flags, find_compiler
from freshview.codegen.library.private_files import private_folder, read_own
from freshview.distributed.terms import Distributed
from freshview.durable.storage.files import Folder
from freshview.durable.work import Role
from freshview.errors import BuildProblem, NotNative
from freshview.files import write_whole
from freshview.spark.nodes.kernel_node import kernel_of
from freshview.spark.nodes.node_program import NodeProgram


@dataclass(frozen=True)
class ShippedKernel:
    """The kernel of a role: its program, and the hash of its library."""

    program: NodeProgram
    library: str


def ship_kernels(
    distributed: Distributed, functions: Functions, folder: Folder, baseline: Baseline
) -> tuple[Mapping[Role, ShippedKernel], str]:
    """Build the kernels of both roles and write them to a folder; or none, and the reason.

    Executors may have other processors than the driver: all support the `baseline`.
    """
    compiler = find_compiler()
    if compiler is None:
        return {}, "there is no C++ compiler"
    build = partial(
        kernel_of,
        distributed,
        functions=functions,
        flags=Flags(baseline=baseline),
        compiler=compiler,
    )
    roles: tuple[Role, ...] = get_args(Role)
    try:
        with ThreadPoolExecutor(len(roles)) as pool:
            built = dict(zip(roles, pool.map(build, roles), strict=True))
    except (NotNative, BuildProblem) as e:
        return {}, str(e)
    kernels: dict[Role, ShippedKernel] = {}
    for role, (program, path) in built.items():
        kernels[role] = ShippedKernel(program, ship_library(path, folder))
    return kernels, ""


def library_hash(path: Path) -> str:
    """The hash by which a library is known."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def ship_library(path: Path, folder: Folder) -> str:
    """Write a library to a folder; its hash."""
    library = library_hash(path)
    folder.write(_name(library), path.read_bytes())
    return library


def fetch_library(library: str, folder: Folder) -> Path:
    """The library of a hash as a local file: downloaded once, verified whenever it is loaded.

    Like those that are built here, the libraries used least recently make room for a new one.
    """
    path = private_folder(user_cache() / "shipped") / f"{library}.so"
    if _has_digest(read_own(path), library):
        with suppress(OSError):  # a folder that cannot be written still has it
            os.utime(path)
    else:
        data = folder.read(_name(library))
        if data is None or not _has_digest(data, library):
            raise BuildProblem("the checkpoint has lost its kernels", instead="restart the flow")
        write_whole(path, data, private=True)
        evict(path.parent)
    return path


def _has_digest(data: bytes | None, library: str) -> bool:
    return data is not None and hashlib.sha256(data).hexdigest() == library


def _name(library: str) -> str:
    return f"kernel-{library}"
