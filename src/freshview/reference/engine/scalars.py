"""Scalar terms as closures over the slots of a compiled term."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, assert_never

from freshview.calculus.compare import OPERATORS, compare
from freshview.calculus.functions import Function, Functions, call, failed
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
    Op,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.types import Value
from freshview.reference.engine.scope import Slots
from freshview.reference.engine.store import picker
from freshview.reference.values import Multiplicity, multiply_values, sum_values, within_range

Scalar: TypeAlias = Callable[[], Multiplicity]


def compile_scalar(e: Expr, at: Mapping[str, int], slots: Slots, functions: Functions) -> Scalar:
    """The value of a scalar term, as a closure; the same meaning as `evaluate.value`.

    >>> from freshview.calculus.functions import BUILTINS
    >>> from freshview.calculus.build import const
    >>> compile_scalar(Add((Var("x"), const(2))), {"x": 0}, [40], BUILTINS)()
    42
    """

    def inner(part: Expr) -> Scalar:
        return compile_scalar(part, at, slots, functions)

    match e:
        case Const(constant, _):
            return lambda: constant
        case Var(name):
            i = at[name]
            return lambda: slots[i]
        case Apply("coalesce" | "or" | "and" as fn, args):
            return _until(fn, [inner(a) for a in args])
        case Apply(fn, args) if all(isinstance(a, Var) for a in args):
            where = [at[a.name] for a in args if isinstance(a, Var)]
            return _apply_to_slots(functions[fn], where, slots)
        case Apply(fn, args):
            function, parts = functions[fn], [inner(a) for a in args]
            return lambda: call(function, tuple([part() for part in parts]))
        case Cmp(op, left, right):
            test = compile_test(op, inner(left), inner(right))
            return lambda: int(test())
        case Add(many) | Mul(many):
            return _arithmetic(type(e), [inner(p) for p in many])
        case Rel() | Delta() | View() | Sum() | Lift() | Exists() | Top():
            raise TypeError("a relation has no value")
        case _:
            assert_never(e)


def compile_test(op: Op, left: Scalar, right: Scalar) -> Callable[[], bool]:
    """A comparison; values of one type are compared at once, the others by the rules."""
    direct = OPERATORS[op]

    def test() -> bool:
        a: Value = left()
        b: Value = right()
        kind = a.__class__
        if kind is b.__class__ and kind is not float and a is not None:
            return direct(a, b)
        return compare(op, a, b)

    return test


def _until(fn: str, parts: list[Scalar]) -> Scalar:
    """The functions that look at no more arguments than they need: the next may have no answer."""
    if fn == "coalesce":
        return lambda: next((x for part in parts if (x := part()) is not None), None)
    if fn == "or":
        return lambda: any(part() for part in parts)
    return lambda: all(part() for part in parts)


def _apply_to_slots(function: Function, where: list[int], slots: Slots) -> Scalar:
    compute, pick, strict = function.compute, picker(where), function.strict

    def run() -> Multiplicity:
        args = pick(slots)
        if strict and None in args:
            return None
        try:
            return compute(*args)
        except Exception as e:
            raise failed(function.name, args, e) from e

    return run


def _arithmetic(node: type[Add] | type[Mul], parts: list[Scalar]) -> Scalar:
    """A sum or a product of values, each of them in its range.

    What is added up over rows may leave its range on the way; but what is compared, bound to a
    name or given to a function is a value, and one that no engine holds has no answer.
    """
    slow = sum_values if node is Add else multiply_values
    if len(parts) != 2:
        return lambda: within_range(slow([part() for part in parts]))
    left, right = parts

    def add() -> Multiplicity:
        a, b = left(), right()
        try:
            return within_range(a + b)
        except TypeError:  # NULL, or a decimal meets a double
            return within_range(slow((a, b)))

    def mul() -> Multiplicity:
        a, b = left(), right()
        try:
            return within_range(a * b)
        except TypeError:
            return within_range(slow((a, b)))

    return add if node is Add else mul
