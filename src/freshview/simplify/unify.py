"""Unification: equalities become assignments, and assignments are propagated (DBToaster 2014, 5.3).

A variable is *local* to a summed product if the Sum adds up over it. An equality with a local
variable renames it away, so that a join shares one variable; an assignment of a value is carried
to where the value is read, like beta reduction, and goes when nothing needs it. What restricts
the output of the query stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from freshview.calculus.build import factors, mul, sum_
from freshview.calculus.scope import free, ins, is_value, outs
from freshview.calculus.terms import (
    Cmp,
    Const,
    Delta,
    Expr,
    Lift,
    Mul,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.walk import (
    distinct_subterms,
    rename,
    substitute,
    tops,
    turned_visible,
    variables,
)


@dataclass(frozen=True)
class Product:
    """The factors under a Sum, with the variables seen from outside."""

    parts: tuple[Expr, ...]
    visible: frozenset[str]
    bound: frozenset[str]

    def is_local(self, name: str) -> bool:
        """Whether nothing outside the product knows this variable."""
        return name not in self.visible and name not in self.bound

    def may_rename(self, old: str, new: str) -> bool:
        """Whether one name can stand for the other inside every Top.

        A Top chooses among all values of the variables that are not its keys; such a variable
        must not become bound from outside, nor be made equal to another one within the choice.
        """
        for t in self.choices:
            seen = free(t)
            chosen = outs(t) - set(t.keys)
            if old in chosen and (new in self.bound or new in seen):
                return False
            if new in chosen and old in seen:
                return False
        return True

    def row(self, i: int) -> dict[str, str]:
        """(x := t) * (y := u) * ... from here on, as long as names of given values follow."""
        names: dict[str, str] = {}
        for f in self.parts[i:]:
            match f:
                case Lift(x, Var(t)) if x not in names and x not in self.bound and t in self.bound:
                    if not self.may_rename(x, t):
                        break
                    names[x] = t
                case _:
                    break
        return names

    @cached_property
    def choices(self) -> tuple[Top, ...]:
        """The Tops inside the factors."""
        return tuple([t for f in self.parts for t in tops(f)])

    @cached_property
    def uses(self) -> Counter[str]:
        """How many of the factors share a variable with their context."""
        return Counter([v for f in self.parts for v in free(f)])

    @cached_property
    def binders(self) -> Counter[str]:
        """How many of the factors bind a variable."""
        return Counter([v for f in self.parts for v in outs(f)])

    def others(self, i: int) -> tuple[Expr, ...]:
        """The factors without one."""
        return self.parts[:i] + self.parts[i + 1 :]


def unify(e: Expr, known: frozenset[str] = frozenset()) -> Expr | None:
    """Sum_[](R(a,b) * S(c) * {b = c}) => Sum_[](R(a,c) * S(c)); (x := 3) * {x < y} => {3 < y}.

    >>> from freshview.calculus.text import read, show
    >>> show(unify(read("Sum[a](R(a, b) * S(c) * {b = c})")))
    'Sum[a](R(a, c) * S(c))'

    `known` variables are bound outside (trigger variables), even where a term only assigns them.
    """
    answer = _unify_once(e, known)
    while answer is not None and (more := _unify_once(answer, known)) is not None:
        answer = more
    return answer


def _unify_once(e: Expr, known: frozenset[str]) -> Expr | None:
    match e:
        case Sum(keys, body):
            new = _unify_product(Product(factors(body), frozenset(keys), ins(body) | known))
            if new is None:
                return None
            joined = mul(*new)
            assigned = (outs(joined) - outs(body)) & known
            return sum_(keys + turned_visible(body, joined) + tuple(sorted(assigned)), joined)
        case Mul(parts):
            new = _unify_product(Product(parts, outs(e), ins(e) | known))
            return None if new is None else mul(*new)
        case Lift(x, body) if is_value(body) and (x in known or x in ins(body)):
            return Cmp("=", Var(x), body)
    return None


def _unify_product(p: Product) -> tuple[Expr, ...] | None:
    i = 0
    while i < len(p.parts):
        names = p.row(i)
        new = _assign_row(p, i, names) if names else _unify_factor(p, i)
        if new is not None:
            return new
        i += max(1, len(names))
    return None


def _unify_factor(p: Product, i: int) -> tuple[Expr, ...] | None:
    match p.parts[i]:
        case Cmp("=", Var(x), Var(y)):
            return _equate(p, i, x, y)
        case Lift(x, Var(y)):
            return _assign_variable(p, i, x, y)
        case Lift(x, body) if is_value(body):
            return _assign_value(p, i, x, body)
        case Lift(x, body):
            return _assign_query(p, i, x, body)
        case _:
            return None


def _renamed(parts: tuple[Expr, ...], names: Mapping[str, str]) -> tuple[Expr, ...]:
    return tuple([rename(f, names) for f in parts])


def _equate(p: Product, i: int, x: str, y: str) -> tuple[Expr, ...] | None:
    """{x = y}: one of the two is renamed to the other, if the outside need not tell them apart."""
    rest = p.others(i)
    if x == y:
        return rest
    for old, new in ((x, y), (y, x)):
        if p.is_local(old) and p.may_rename(old, new):
            return _renamed(rest, {old: new})
    for kept, other in ((x, y), (y, x)):
        if not p.may_rename(kept, other) or p.is_local(kept):
            continue
        if kept not in p.bound and p.binders[kept]:
            # Both are seen outside: join on one of them and say what the other is.
            if other in p.bound:
                return (Lift(kept, Var(other)), *_renamed(rest, {kept: other}))
            return (*_renamed(rest, {kept: other}), Lift(kept, Var(other)))
    return None


def _assign_row(p: Product, i: int, names: Mapping[str, str]) -> tuple[Expr, ...] | None:
    """A row of given values: all of them are carried at once, and local names go."""
    if not any(p.is_local(x) or p.uses[x] > 1 for x in names):
        return None
    kept = [Lift(x, Var(t)) for x, t in names.items() if not p.is_local(x)]
    before, after = p.parts[:i], p.parts[i + len(names) :]
    return (*_renamed(before, names), *kept, *_renamed(after, names))


def _assign_variable(p: Product, i: int, x: str, y: str) -> tuple[Expr, ...] | None:
    """(x := y): a local name goes; a visible x stays said once and is read as y elsewhere."""
    if x == y:
        return p.others(i)
    if p.is_local(x) and p.may_rename(x, y):
        return _renamed(p.others(i), {x: y})
    if p.is_local(y) and p.may_rename(y, x):
        return _renamed(p.others(i), {y: x})
    if not p.may_rename(x, y):
        return None
    if x in p.bound:
        if y in p.bound or not p.binders[y]:
            return (*p.parts[:i], Cmp("=", Var(x), Var(y)), *p.parts[i + 1 :])
        if not p.may_rename(y, x):
            return None
        return (Lift(y, Var(x)), *_renamed(p.others(i), {y: x}))
    if p.uses[x] > 1:
        renamed = _renamed(p.others(i), {x: y})
        return (*renamed[:i], p.parts[i], *renamed[i:])
    return None


def _with_value(f: Expr, x: str, body: Expr) -> Expr:
    """A factor with a value in place of a variable, where it reads that and can take it."""
    return f if x not in variables(f) or _captures(f, x, body) else substitute(f, x, body)


def _still_reads(f: Expr, x: str) -> bool:
    return x in variables(f) and (is_held(f, x) or x in free(f))


def _assign_value(p: Product, i: int, x: str, body: Expr) -> tuple[Expr, ...] | None:
    """(x := value): carried to its readers; kept while an atom or the outside needs x bound."""
    if x in p.bound:
        return (*p.parts[:i], Cmp("=", Var(x), body), *p.parts[i + 1 :])
    rest = p.others(i)
    if any(isinstance(f, Lift) and f.var == x for f in rest):
        return _assigned_twice(p, i, x, body)
    if x in free(body):
        return None
    carried = tuple([_with_value(f, x, body) for f in rest])
    if carried[:i] != rest[:i] and not ins(mul(*carried[:i])) <= p.bound:
        carried = (*rest[:i], *carried[i:])  # what the value reads is bound later than x is
    needed = x in p.visible or any(_still_reads(f, x) for f in carried)
    if not needed:
        return carried
    if carried == rest:
        return None
    return (*carried[:i], p.parts[i], *carried[i:])


def _captures(e: Expr, x: str, value: Expr) -> bool:
    """Whether a Top in a term has values of its own for x, or for a variable that its value reads.

    (x := 1) * Top[; y; 2](R(x) * (y := x)) joins with the two smallest of all x, not with y = 1.
    """
    names = free(value) | {x}
    return any(names & (outs(t) - set(t.keys)) for t in tops(e))


def _assigned_twice(p: Product, i: int, x: str, body: Expr) -> tuple[Expr, ...] | None:
    """(x := a) * (x := b) tests that a = b, where both are values."""
    for j, f in enumerate(p.parts):
        if j != i and isinstance(f, Lift) and f.var == x and is_value(f.body):
            first, second = sorted((i, j))
            kept, other = p.parts[first], p.parts[second]
            assert isinstance(kept, Lift)
            assert isinstance(other, Lift)
            if isinstance(kept.body, Const) and isinstance(other.body, Const):
                test: Expr = Cmp("=", kept.body, other.body)
            else:
                test = Cmp("=", Var(x), other.body)
            return (*p.parts[:second], test, *p.parts[second + 1 :])
    return None


def _assign_query(p: Product, i: int, x: str, body: Expr) -> tuple[Expr, ...] | None:
    """(x := Q) * x => Q where x is only a multiplicity; two names of one query become one."""
    if not p.is_local(x):
        return None
    rest = p.others(i)
    uses = p.uses[x] - 1  # besides the assignment
    if uses == 1 and Var(x) in rest:
        # The body's variables are bound by the context, so Q is one number here.
        bound = frozenset().union(*(outs(f) for f in rest)) | p.bound
        if outs(body) <= bound:
            return tuple(body if f == Var(x) else f for f in rest)
    if not uses:
        return rest
    for f in rest[i:]:
        same = isinstance(f, Lift) and f.body == body
        if isinstance(f, Lift) and same and p.is_local(f.var) and p.may_rename(f.var, x):
            return _renamed(tuple(g for g in p.parts if g is not f), {f.var: x})
    return None


def is_held(e: Expr, x: str) -> bool:
    """Whether a variable stands where only a name can: in an atom, a key, or left of :=."""
    for t in distinct_subterms(e):
        match t:
            case Rel(_, names) | Delta(_, names):
                if x in names:
                    return True
            case View(_, names, inputs):
                if x in names or x in inputs:
                    return True
            case Lift(var, _):
                if x == var:
                    return True
            case Sum(keys, _):
                if x in keys:
                    return True
            case Top(_, order, _, _):
                if any(o.var == x for o in order):
                    return True
            case _:
                pass
    return False
