"""Attach native kernels to a pipeline."""

from __future__ import annotations

import warnings
from dataclasses import replace

from freshview.codegen.library.compiler import Baseline
from freshview.errors import FreshviewWarning
from freshview.spark.nodes.shipped_kernels import ship_kernels
from freshview.spark.nodes.view_work import ViewWork


def attach_kernels(work: ViewWork, spark: object) -> ViewWork:
    """The work with kernels; without a kernel, Python keeps the maps, with a warning."""
    if not work.settings.native:
        return work
    kernels, why = ship_kernels(work.distributed, work.functions, work.folder, baseline_of(spark))
    if why:
        message = f"no native kernels: Python keeps the maps of this pipeline, which is slow: {why}"
        warnings.warn(message, FreshviewWarning, stacklevel=3)
    return replace(work, kernels=kernels)


def baseline_of(spark: object) -> Baseline:
    """The processors of the workers: those of this machine, if all of them are on it."""
    context = getattr(spark, "sparkContext", None)
    is_here = context is None or str(context.master).startswith("local")
    return "native" if is_here else "x86-64-v2"
