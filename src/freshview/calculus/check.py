"""Binding check and type inference: what must hold of a term before anyone runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.scope import free, ins, is_value, outs
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
from freshview.calculus.types import INT, Type, common, counted, product
from freshview.errors import ProgramProblem, TypeProblem, UnboundVariable, UnknownName


class Types(dict[str, Type]):
    """Types of variables in scope; `log` remembers those of inner scopes as well."""

    def __init__(self, bound: Mapping[str, Type], log: dict[str, Type] | None = None) -> None:
        super().__init__(bound)
        self.log: dict[str, Type] = {} if log is None else log

    def __setitem__(self, name: str, t: Type) -> None:
        super().__setitem__(name, t)
        self.log[name] = t

    def inner(self) -> Types:
        """A scope inside this one."""
        return Types(self, self.log)


@dataclass(frozen=True)
class Schema:
    """What the atoms of a term are: column types of relations, key and payload types of maps."""

    relations: Mapping[str, tuple[Type, ...]] = field(default_factory=dict)
    maps: Mapping[str, tuple[tuple[Type, ...], Type]] = field(default_factory=dict)
    functions: Functions = BUILTINS


def check_bound(e: Expr, bound: frozenset[str] = frozenset()) -> None:
    """Refuse a term that reads a variable which neither its left nor the context binds.

    >>> check_bound(Mul((Var("x"), Rel("R", ("x",)))))
    Traceback (most recent call last):
      ...
    freshview.errors.UnboundVariable: variable 'x' is read before anything binds it; bind it ...
    """
    for name in sorted(ins(e) - bound):
        raise UnboundVariable(
            f"variable '{name}' is read before anything binds it",
            instead="bind it by a relation or an assignment to its left",
        )
    _check_values(e)


def _check_values(e: Expr) -> None:
    """Comparisons and functions take values only; a lifted query is one number."""
    match e:
        case Const() | Var() | Rel() | Delta() | View():
            return
        case Apply(fn, args):
            if not all(is_value(a) for a in args):
                raise ProgramProblem(f"function '{fn}' is given a relation")
        case Cmp(op, left, right):
            if not (is_value(left) and is_value(right)):
                raise ProgramProblem(f"'{op}' compares a relation; lift it to a variable first")
        case Add(parts) | Mul(parts):
            for part in parts:
                _check_values(part)
        case Sum(_, body) | Lift(_, body) | Exists(body):
            _check_values(body)
        case Top(_, order, limit, body):
            missing = {o.var for o in order} - outs(body)
            if missing or limit < 0:
                raise ProgramProblem(f"Top orders by {sorted(missing)}, which its body lacks")
            _check_values(body)
        case _:
            assert_never(e)


def infer(
    e: Expr, schema: Schema, bound: Mapping[str, Type] | None = None
) -> tuple[Type, dict[str, Type]]:
    """The payload type of a term, and the types of the variables that it binds."""
    env = Types(bound or {})
    payload = _infer(e, schema, env)
    return payload, {v: env[v] for v in free(e) if v in env}


def all_types(e: Expr, schema: Schema) -> dict[str, Type]:
    """The types of all the variables of a term, local ones too."""
    env = Types({})
    _infer(e, schema, env)
    return env.log


def value_type(e: Expr, schema: Schema, env: Mapping[str, Type]) -> Type:
    """The type of a scalar term."""
    match e:
        case Const(_, t):
            return t
        case Var(name):
            if name not in env:
                raise UnboundVariable(f"variable '{name}' has no type: nothing binds it")
            return env[name]
        case Cmp(_, left, right):
            common(value_type(left, schema, env), value_type(right, schema, env))
            return INT
        case Apply(fn, args, named):
            function = schema.functions[fn]
            types = [value_type(a, schema, env) for a in args]
            low, high = function.arity
            if not low <= len(args) <= high:
                raise TypeProblem(f"function '{fn}' takes {low} arguments, {len(args)} are given")
            result = function.result(*types)
            if result.ring != named:
                raise TypeProblem(f"function '{fn}' gives {result}, not ring({named})")
            strict_null = function.strict and any(t.nullable for t in types)
            return result.or_null(function.partial or strict_null)
        case Add(parts):
            out = counted(value_type(parts[0], schema, env))
            for part in parts[1:]:
                out = common(out, counted(value_type(part, schema, env)))
            return _numeric(out, e)
        case Mul(parts):
            out = INT
            for part in parts:
                out = product(out, value_type(part, schema, env), schema.functions.headers)
            return _numeric(out, e)
        case _:
            raise ProgramProblem("a relation stands where a value is asked for")


def _numeric(t: Type, e: Expr) -> Type:
    if not t.is_payload:
        raise TypeProblem(f"arithmetic needs numbers, not {t.kind}")
    return t


def _bind(env: Types, names: tuple[str, ...], types: tuple[Type, ...], atom: str) -> None:
    if len(names) != len(types):
        raise TypeProblem(f"'{atom}' has {len(types)} columns, {len(names)} are given")
    for name, t in zip(names, types, strict=True):
        # Two atoms that share a variable agree on its values: NULL only if both admit it.
        old = env.get(name)
        if old is None or old == t:
            env[name] = t
        else:
            joined = common(old, t)
            env[name] = joined.or_null() if t.nullable and old.nullable else joined.not_null()


def _infer(e: Expr, schema: Schema, env: Types) -> Type:
    match e:
        case Const() | Var() | Apply() | Cmp():
            return counted(value_type(e, schema, env)).not_null()
        case Rel(name, names) | Delta(name, names):
            if name not in schema.relations:
                raise UnknownName(f"there is no relation '{name}'", instead="declare it first")
            _bind(env, names, schema.relations[name], name)
            return INT
        case View(name, names, inputs):
            if name not in schema.maps:
                raise UnknownName(f"there is no map '{name}'", instead="declare it first")
            keys, payload = schema.maps[name]
            _bind(env, inputs + names, keys, name)
            return payload
        case Mul(parts):
            out = INT
            for part in parts:
                out = product(out, _infer(part, schema, env), schema.functions.headers)
            return out
        case Add(parts):
            scopes = [env.inner() for _ in parts]
            types = [_infer(p, schema, s) for p, s in zip(parts, scopes, strict=True)]
            for name in outs(e):
                joined = scopes[0][name]
                for s in scopes[1:]:
                    joined = common(joined, s[name])
                if name not in env:
                    env[name] = joined
            out = types[0]
            for t in types[1:]:
                out = common(out, t)
            return out
        case Sum(keys, body):
            inner = env.inner()
            payload = _infer(body, schema, inner)
            env.update({k: inner[k] for k in keys if k in inner})
            return payload
        case Lift(var, body):
            if is_value(body):
                t = value_type(body, schema, env)
            else:
                t = _infer(body, schema, env.inner())
            old = env.get(var)
            if old is not None:
                common(old, t)
            env[var] = t if old is None else old
            return INT
        case Exists(body):
            inner = env.inner()
            _infer(body, schema, inner)
            env.update({k: inner[k] for k in outs(body)})
            return INT
        case Top(_, _, _, body):
            inner = env.inner()
            payload = _infer(body, schema, inner)
            env.update({k: inner[k] for k in outs(body)})
            return payload
        case _:
            assert_never(e)
