"""Kernels of views that call functions of the user's."""

from __future__ import annotations

from copy import copy

from freshview.calculus.functions import Functions
from freshview.codegen.library.load import Kernel


def calling(kernel: Kernel, functions: Functions) -> Kernel:
    """The kernel for views that call these functions: its library may serve other views, too."""
    if functions is kernel.functions:
        return kernel
    own = copy(kernel)
    own.functions = functions
    return own
