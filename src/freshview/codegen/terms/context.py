"""What the emission of terms passes along: the variables that are bound, and what comes next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from freshview.calculus.types import INT
from freshview.codegen.cpp.code import Spot
from freshview.codegen.cpp.types import Cpp, constant

Bound: TypeAlias = Mapping[str, Cpp]
"""The C++ expression of every variable that is bound."""

Next: TypeAlias = Callable[[Spot, Bound, Cpp], None]
"""What writes the code inside: where, with what bound, and the multiplicity so far."""

ONE = constant(1, INT)
