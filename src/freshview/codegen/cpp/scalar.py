"""Scalar terms as C++ expressions: the same meaning as `reference.oracle.evaluate.value`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import assert_never

from freshview.calculus.check import Schema
from freshview.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.types import INT
from freshview.codegen.cpp.arithmetic import product, total
from freshview.codegen.cpp.compare import compare
from freshview.codegen.cpp.functions import FUNCTIONS
from freshview.codegen.cpp.ring_elements import call, lift
from freshview.codegen.cpp.types import Cpp, constant

Look = Callable[[str], Cpp]
"""Finds the C++ expression of a variable."""


def scalar(
    e: Expr, look: Look, schema: Schema, computed: Mapping[Expr, Cpp] = MappingProxyType({})
) -> Cpp:
    """The value of a scalar term; what is `computed` already has a text."""

    def inner(part: Expr) -> Cpp:
        return scalar(part, look, schema, computed)

    match e:
        case Apply() if e in computed:
            return computed[e]
        case Const(value, t):
            return constant(value, t)
        case Var(name):
            return look(name)
        case Cmp(op, left, right):
            return Cpp(f"i64({compare(op, inner(left), inner(right))})", INT, "i64")
        case Apply(fn, args, ring) if ring in schema.functions.headers:
            return call(fn, [inner(a) for a in args], schema.functions.headers[ring])
        case Apply(_, (_, value), ring) if ring:
            return lift(e, inner(value))
        case Apply(fn, args):
            return FUNCTIONS.call(fn, [inner(a) for a in args], schema)
        case Add(parts):
            return total([inner(p) for p in parts])
        case Mul(parts):
            return product([inner(p) for p in parts])
        case Rel() | Delta() | View() | Sum() | Lift() | Exists() | Top():
            raise TypeError("a relation has no value")
        case _:
            assert_never(e)
