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
    baseline: Baseline = "native" if _is_local(spark) else "x86-64-v2"
    kernels, why = ship_kernels(work.distributed, work.functions, work.folder, baseline)
    if why:
        message = f"no native kernels: Python keeps the maps of this pipeline, which is slow: {why}"
        warnings.warn(message, FreshviewWarning, stacklevel=3)
    return replace(work, kernels=kernels)


def _is_local(spark: object) -> bool:
    """Whether all the workers are on this machine."""
    context = getattr(spark, "sparkContext", None)
    return context is None or str(context.master).startswith("local")
