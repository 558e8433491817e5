"""The compiler's own program as plain Python: a dictionary for each map, a function for each event.

Statement after statement, as DBToaster's papers write them, with the tests of a statement before
its look-ups, and sets of keys where a statement asks for a slice. Numbers are ints and floats and
dates are days, so that Python has nothing to do but the maintenance.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal

from freshview.calculus.build import addends, factors
from freshview.calculus.scope import ins, is_value, outs
from freshview.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Exists,
    Expr,
    Lift,
    Mul,
    Sum,
    Var,
    View,
)
from freshview.program.terms import Map, Program, Statement, Trigger

Names = dict[str, str]
"""Variables of the calculus, and what holds them in Python."""
Next = Callable[[int, Names, list[str]], None]
"""Writes what is done for each row: indentation, names, factors of its number."""


class Plain:
    """Python source of a program whose triggers take single rows."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.maps = {m.name: m for m in program.maps}
        self.slices: dict[tuple[str, tuple[int, ...]], str] = {}
        self.lines: list[str] = []
        self.locals = 0
        self.columns: dict[str, tuple[int, ...]] = {}
        """The columns of each relation that its functions take."""

    def source(self) -> str:
        """A module: `TRIGGERS` by event and relation, and the dictionaries by the maps' names."""
        triggers = [
            t for t in self.program.triggers if t.event in ("insert", "delete") and t.statements
        ]
        for t in triggers:
            self._trigger(t)
        body, self.lines = self.lines, []
        for m in self.program.maps:
            self._map(m)
        names = ", ".join(
            f"({t.event!r}, {t.relation!r}): {t.event}_{t.relation}" for t in triggers
        )
        return "\n".join([*self.lines, *body, f"TRIGGERS = {{{names}}}"]) + "\n"

    def _map(self, m: Map) -> None:
        """The dictionary of a map, the sets of its slices, and what adds to them."""
        slices = {name: at for (of, at), name in self.slices.items() if of == m.name}
        self.lines += [f"{m.name} = {{}}", *(f"{name} = {{}}" for name in slices)]
        self.lines += [f"def add_{m.name}(key, n):", f"    old = {m.name}.get(key)"]
        self.lines += ["    if old is None:", "        if n:", f"            {m.name}[key] = n"]
        for name, at in slices.items():
            self.lines += [f"            {name}.setdefault({_part(at)}, set()).add(key)"]
        self.lines += ["    elif old + n:", f"        {m.name}[key] = old + n"]
        self.lines += ["    else:", f"        del {m.name}[key]"]
        for name, at in slices.items():
            self.lines += [f"        {name}[{_part(at)}].discard(key)"]

    def _trigger(self, t: Trigger) -> None:
        """A function of the columns that the statements read."""
        columns = [f"d{i}" for i in range(len(t.params))]
        before, self.lines = self.lines, []
        for s in t.statements:
            self._statement(s, dict(zip(t.params, columns, strict=True)))
        words = set(re.findall(r"\bd\d+\b", "\n".join(self.lines)))
        self.columns[t.relation] = tuple(i for i, c in enumerate(columns) if c in words)
        parameters = ", ".join(columns[i] for i in self.columns[t.relation])
        self.lines = [*before, f"def {t.event}_{t.relation}({parameters}):", *self.lines]

    def _statement(self, s: Statement, names: Names) -> None:
        assert s.op == "+=", "these programs recompute nothing"

        def write(pad: int, bound: Names, number: list[str]) -> None:
            key = _key([bound[v] for v in s.target.vars])
            self._line(pad, f"add_{s.target.name}({key}, {_times(number)})")

        self._emit(s.term, 1, names, [], write)

    def _line(self, pad: int, text: str) -> None:
        self.lines.append("    " * pad + text)

    def _local(self) -> str:
        self.locals += 1
        return f"x{self.locals}"

    def _emit(self, e: Expr, pad: int, names: Names, number: list[str], k: Next) -> None:
        if isinstance(e, Cmp) or (isinstance(e, Apply) and e.fn in ("in", "like", "not")):
            self._line(pad, f"if {self._value(e, names)}:")
            k(pad + 1, names, number)
        elif is_value(e) and not isinstance(e, Mul):
            k(pad, names, [*number, self._value(e, names)])
        elif isinstance(e, View):
            self._look_up(e, pad, names, number, k)
        elif isinstance(e, Mul):
            self._product(list(factors(e)), pad, names, number, k)
        elif isinstance(e, Sum):
            inner = {v: x for v, x in names.items() if v in {*e.keys, *ins(e.body)}}

            def leave(p: int, bound: Names, n: list[str]) -> None:
                k(p, {**names, **{v: bound[v] for v in outs(e)}}, n)

            self._emit(e.body, pad, inner, number, leave)
        elif isinstance(e, Add):
            total = self._total(e, pad, names)
            self._line(pad, f"if {total}:")
            k(pad + 1, names, [*number, total])
        elif isinstance(e, Exists):
            total = self._total(e.body, pad, names)
            self._line(pad, f"if {total}:")
            k(pad + 1, names, number)
        elif isinstance(e, Lift):
            value = self._total(e.body, pad, names)
            k(pad, {**names, e.var: value}, number)
        else:
            raise NotImplementedError(type(e).__name__)

    def _product(
        self, left: list[Expr], pad: int, names: Names, number: list[str], k: Next
    ) -> None:
        if not left:
            return k(pad, names, number)
        tests = [i for i, f in enumerate(left) if is_value(f) and ins(f) <= names.keys()]
        at = next((i for i in tests if isinstance(left[i], Cmp | Apply)), 0)
        rest = left[:at] + left[at + 1 :]
        self._emit(left[at], pad, names, number, lambda p, b, n: self._product(rest, p, b, n, k))

    def _total(self, e: Expr, pad: int, names: Names) -> str:
        total = self._local()
        self._line(pad, f"{total} = 0")
        for part in addends(e):
            self._emit(
                part, pad, names, [], lambda p, _, n: self._line(p, f"{total} += {_times(n)}")
            )
        return total

    def _look_up(self, e: View, pad: int, names: Names, number: list[str], k: Next) -> None:
        known = tuple(i for i, v in enumerate(e.vars) if v in names)
        bound, n = dict(names), self._local()
        if len(known) == len(e.vars):
            self._line(pad, f"{n} = {e.name}.get({_key([names[v] for v in e.vars])})")
            self._line(pad, f"if {n} is not None:")
        else:
            key = self._local()
            keys = f"list({e.name})"
            if known:
                index = self.slices.setdefault((e.name, known), f"{e.name}_by_{len(self.slices)}")
                keys = f"list({index}.get({_key([names[e.vars[i]] for i in known])}, ()))"
            self._line(pad, f"for {key} in {keys}:")
            self._line(pad + 1, f"{n} = {e.name}[{key}]")
            for i, v in enumerate(e.vars):
                if i not in known:
                    bound[v] = f"{key}[{i}]" if len(e.vars) > 1 else key
        k(pad + 1, bound, [*number, n])

    def _value(self, e: Expr, names: Names) -> str:
        match e:
            case Const(value, _):
                return _constant(value)
            case Var(name):
                return names[name]
            case Cmp(op, left, right):
                sign = {"=": "==", "<>": "!="}.get(op, op)
                return f"({self._value(left, names)} {sign} {self._value(right, names)})"
            case Apply("in", (x, *several)):
                among = "".join(f"{self._value(s, names)}, " for s in several)
                return f"({self._value(x, names)} in ({among}))"
            case Apply("not", (x,)):
                return f"(not {self._value(x, names)})"
            case Apply("like", (x, Const(str(pattern), _))) if (
                pattern.find("%") == len(pattern) - 1
            ):
                return f"{self._value(x, names)}.startswith({pattern[:-1]!r})"
            case Add(parts):
                return f"({' + '.join(self._value(p, names) for p in parts)})"
            case Mul(parts):
                return f"({' * '.join(self._value(p, names) for p in parts)})"
        raise NotImplementedError(str(e))


def _constant(value: object) -> str:
    if isinstance(value, date):
        return str((value - date(1970, 1, 1)).days)
    return repr(float(value) if isinstance(value, Decimal) else value)


def _key(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _part(at: tuple[int, ...]) -> str:
    return _key([f"key[{i}]" for i in at])


def _times(number: list[str]) -> str:
    return " * ".join(number) or "1"
