"""The placement of a trigger's operations, and the transfers for them.

    driver * driver           the driver; if the product is large, workers: rows of the left
    A * x       (x broadcast)  every worker its rows; small products are gathered
    A' * x                     by its columns where A is copied, else by rows, and summed up
    A * B                      B goes to every worker, every worker its rows
    A' * B                     every worker a summand, summed up where the rows are
    view += U * V'             U and V broadcast, every worker its rows (and columns)

x * A is (A' * x')', and A' * B' is (B * A)'.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import assert_never

from freshview.distributed.matrix.spread import DriverTerm, Spread, SpreadRule, Value
from freshview.distributed.matrix.terms import (
    TEMPORARY,
    Evaluate,
    Exchange,
    Fill,
    Follow,
    Gather,
    Grow,
    How,
    Join,
    Keep,
    Multiply,
    Operand,
    Plus,
    Replace,
    Scatter,
    Step,
    Total,
)
from freshview.errors import FreshviewError
from freshview.linear.cost.operations import chain, dims
from freshview.linear.language.build import above, add, beside, inverse, mul, scale, transpose
from freshview.linear.language.meta import Meta, infer
from freshview.linear.language.show import Tree, show
from freshview.linear.language.sizes import ONE
from freshview.linear.language.terms import (
    Above,
    Add,
    Beside,
    Expr,
    Identity,
    Inverse,
    Iterate,
    Let,
    Mul,
    Ones,
    Scale,
    Transpose,
    Until,
    Var,
    Zero,
)
from freshview.linear.language.walk import free


@dataclass
class Placer:
    """Translates statements into steps of the driver and of the workers."""

    rule: SpreadRule
    scope: dict[str, Meta]
    limit: float = math.inf
    steps: list[Step] = field(default_factory=list)
    shapes: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The shapes of intermediate spread matrices."""
    _names: dict[str, Value] = field(default_factory=dict)
    _there: set[tuple[str, str]] = field(default_factory=set)
    """The broadcast and exchanged matrices that are still valid."""
    _count: int = 0

    # ---------------------------------------------------------------- statements

    def assign(self, name: str, term: Expr) -> None:
        """Assign the value of a term to a name."""
        value = self.value(term)
        self.scope[name] = infer(term, self.scope)
        if isinstance(value, DriverTerm):
            self.steps.append(Evaluate(name, value.term, self.limit))
            value = DriverTerm(Var(name), value.meta)
        elif not value.name.startswith(TEMPORARY):
            # A copy, since the view may change later.
            value = self._total(((1.0, self._rows(value)),), value.meta)
        self._names[name] = value

    def define(self, view: str, term: Expr) -> None:
        """Recompute a view."""
        value = self.value(term)
        if isinstance(value, DriverTerm):
            self.steps.append(Evaluate(view, value.term, math.inf))
        else:
            self.steps.append(Keep(view, self._rows(value)))
        self._written(view)
        if isinstance(value, Spread) and view in self.rule.copied:
            self._exchange(view, Operand(view), "columns", self.scope[view])

    def follow(self, view: str, left: Expr, right: Expr) -> None:
        """View += left * right'."""
        a, b = self.value(left), self.value(right)
        if isinstance(a, Spread) or isinstance(b, Spread):
            self.add(view, mul(left, transpose(right)))
        elif self.rule.is_large(self.scope[view]):
            sides = self._sent(a), self._sent(b)
            self.steps.append(Grow(view, *sides))
            self._written(view)
        else:
            self.steps.append(Follow(view, a.term, b.term))
            self._written(view)

    def add(self, view: str, term: Expr) -> None:
        """View += a whole matrix."""
        value = self.value(term)
        if isinstance(value, DriverTerm):
            self.steps.append(Follow(view, value.term))
        else:
            columns = self._columns(value) if view in self.rule.copied else None
            self.steps.append(Plus(view, self._rows(value), columns))
        self._written(view)

    def replace(self, view: str, names: Collection[str]) -> None:
        """Replace cells of a view by values that the driver has under these names."""
        spread = self.rule.is_large(self.scope[view])
        if spread:
            self.steps += [Scatter(n, ONE) for n in names]
        self.steps.append(Replace(view, spread))
        self._written(view)

    def _written(self, view: str) -> None:
        """Invalidate the transfers of a matrix."""
        self._there = {(n, how) for n, how in self._there if n != view}

    # ---------------------------------------------------------------- terms

    def value(self, e: Expr) -> Value:
        """The matrix of a term: spread if it is large, on the driver if not."""
        m = infer(e, self.scope)
        match e:
            case Var(name):
                if name in self._names:
                    return self._names[name]
                return Spread(name, m) if self.rule.is_large(m) else DriverTerm(e, m)
            case Transpose(body):
                return self._transposed(self.value(body))
            case Mul(factors):
                tree = chain(dims(factors, self.scope), self.rule.sizes)[1]
                return self._product(tree, [self.value(f) for f in factors])
            case Inverse(body):
                return self._inverse(e, self.value(body), m)
            case Let() | Iterate():
                raise AssertionError("a statement of a trigger has none of these")
            case Until():
                return self._iterated(e, m)
            case Zero() | Ones() | Identity() | Scale() | Add() | Beside() | Above():
                return self._large(e, m) if self.rule.is_large(m) else self._small(e, m)
            case _:
                assert_never(e)

    def _small(self, e: Expr, m: Meta) -> DriverTerm:
        """A small term, computed by the driver."""

        def driver_term(t: Expr) -> Expr:
            value = self.value(t)
            assert isinstance(value, DriverTerm)
            return value.term

        match e:
            case Scale(by, body):
                return DriverTerm(scale(by, driver_term(body)), m)
            case Add(terms):
                return DriverTerm(add(*map(driver_term, terms)), m)
            case Beside(parts):
                return DriverTerm(beside(*map(driver_term, parts)), m)
            case Above(parts):
                return DriverTerm(above(*map(driver_term, parts)), m)
            case _:
                return DriverTerm(e, m)

    def _large(self, e: Expr, m: Meta) -> Spread:
        """A large term, computed by the workers by rows."""
        match e:
            case Add(terms):
                return self._total(tuple(self._item(t) for t in terms), m)
            case Beside(parts):
                pieces = tuple(self._rows_of_any(self.value(p)) for p in parts)
                joined = self._fresh(m)
                self.steps.append(Join(joined.name, pieces))
                return joined
            case Above(parts):
                return self._stack([self.value(p) for p in parts], m)
            case _:
                return self._total((self._item(e),), m)

    def _item(self, e: Expr) -> tuple[float, Operand | Fill]:
        by, body = (e.by, e.body) if isinstance(e, Scale) else (1.0, e)
        m = infer(body, self.scope)
        rows, cols = self.rule.at(m.rows), self.rule.at(m.cols)
        match body:
            case Zero():
                return by, Fill("zeros", rows, cols)
            case Ones():
                return by, Fill("ones", rows, cols)
            case Identity():
                return by, Fill("eye", rows, cols)
            case _:
                return by, self._rows_of_any(self.value(body))

    def _total(self, items: tuple[tuple[float, Operand | Fill], ...], m: Meta) -> Spread:
        total = self._fresh(m)
        self.steps.append(Total(total.name, items))
        return total

    def _stack(self, parts: list[Value], m: Meta) -> Spread:
        stacked = self._fresh(m)
        at, rows = 0, self.rule.at(m.rows)
        for p in parts:
            if isinstance(p, DriverTerm) or p.transposed:
                p = self._total(((1.0, self._rows_of_any(p)),), p.meta)
            self.steps.append(
                Exchange(
                    stacked.name, Operand(p.name), "place", p.meta.rows * p.meta.cols, at, rows
                )
            )
            at += self.rule.at(p.meta.rows)
        return stacked

    def _inverse(self, e: Expr, body: Value, m: Meta) -> Value:
        if isinstance(body, DriverTerm):
            return DriverTerm(inverse(body.term), m)
        cells = self.rule.at(m.rows) ** 2
        if cells > self.rule.most:
            raise FreshviewError(
                f"{show(e)} is an inverse of {self.rule.at(m.rows)} rows, which workers cannot "
                "compute together",
                instead=f"let the driver do it: driver_inverse={cells} or more",
            )
        whole = self._gathered(body)
        name = self._name()
        self.steps.append(Evaluate(name, inverse(whole.term), self.limit))
        self.scope[name] = m
        return self._total(((1.0, self._rows_of_any(DriverTerm(Var(name), m))),), m)

    def _iterated(self, e: Until, m: Meta) -> DriverTerm:
        """An iteration of the driver, over its own matrices."""
        for name in sorted(free(e)):
            if isinstance(self.value(Var(name)), Spread):
                raise FreshviewError(
                    f"{show(e)} is iterated until it settles, over {name}, which workers share",
                    instead="iterate a number of rounds, or use linear.Program",
                )
        return DriverTerm(e, m)

    # ---------------------------------------------------------------- products

    def _product(self, tree: Tree, values: list[Value]) -> Value:
        if isinstance(tree, int):
            return values[tree]
        a, b = (self._product(side, values) for side in tree)
        return self._times(a, b)

    def _times(self, a: Value, b: Value) -> Value:
        m = Meta(a.meta.rows, b.meta.cols)
        if isinstance(a, DriverTerm) and isinstance(b, DriverTerm):
            if not self.rule.is_large(m):
                return DriverTerm(mul(a.term, b.term), m)
            left, right = Operand(self._sent(a), "slice"), Operand(self._sent(b), "local")
            return self._multiplied(left, right, m, summed=False)
        if isinstance(a, DriverTerm):
            return self._transposed(self._times(self._transposed(b), self._transposed(a)))
        if isinstance(b, DriverTerm):
            if not a.transposed:
                right = Operand(self._sent(b), "local")
                return self._multiplied(Operand(a.name), right, m, summed=False)
            if a.name in self.rule.copied:
                left = Operand(a.name, "columns", transposed=True)
                return self._multiplied(left, Operand(self._sent(b), "local"), m, summed=False)
            left = Operand(a.name, transposed=True)
            return self._multiplied(left, Operand(self._sent(b), "slice"), m, summed=True)
        if not a.transposed:
            self._exchange(b.name, Operand(b.name), "whole", b.meta)
            right = Operand(b.name, "whole", b.transposed)
            return self._multiplied(Operand(a.name), right, m, summed=False)
        if not b.transposed:
            left = Operand(a.name, transposed=True)
            return self._multiplied(left, Operand(b.name), m, summed=True)
        return self._transposed(self._times(self._transposed(b), self._transposed(a)))

    def _multiplied(self, left: Operand, right: Operand, m: Meta, *, summed: bool) -> Value:
        """A product of blocks: rows that stay or are gathered, or summands to add up."""
        product = self._fresh(m)
        self.steps.append(Multiply(product.name, left, right, "partial" if summed else "rows"))
        if not self.rule.is_large(m):
            form = "partial" if summed else "rows"
            return self._gathered(product, Operand(product.name, form))  # type: ignore[arg-type]
        if summed:
            self._exchange(product.name, Operand(product.name, "partial"), "reduce", m)
        return product

    def _gathered(self, spread: Spread, by: Operand | None = None) -> DriverTerm:
        """Gather a spread matrix on the driver."""
        by = by or self._rows(spread)
        m = spread.meta
        name = spread.name if spread.name.startswith(TEMPORARY) else self._name()
        self.steps.append(Gather(name, by, m.rows * m.cols))
        self.scope[name] = m
        return DriverTerm(Var(name), m)

    # ---------------------------------------------------------------- pieces

    def _transposed(self, v: Value) -> Value:
        m = infer(transpose(Var("x")), {"x": v.meta})
        if isinstance(v, DriverTerm):
            return DriverTerm(transpose(v.term), m)
        return Spread(v.name, m, not v.transposed)

    def _rows(self, v: Spread) -> Operand:
        """The rows of a spread matrix: of a transposed one, its columns."""
        if not v.transposed:
            return Operand(v.name)
        if v.name not in self.rule.copied:
            m = self._transposed(v).meta
            self._exchange(v.name, Operand(v.name), "columns", m)
        return Operand(v.name, "columns", transposed=True)

    def _columns(self, v: Spread) -> Operand:
        """The columns of a spread matrix."""
        transposed = self._transposed(v)
        assert isinstance(transposed, Spread)
        rows = self._rows(transposed)
        return Operand(rows.name, rows.form, not rows.transposed)

    def _rows_of_any(self, v: Value) -> Operand:
        return self._rows(v) if isinstance(v, Spread) else Operand(self._sent(v), "slice")

    def _sent(self, v: DriverTerm) -> str:
        """Broadcast a matrix of the driver; its name on the workers."""
        if isinstance(v.term, Var):
            name = v.term.name
        else:
            name = self._name()
            self.steps.append(Evaluate(name, v.term, self.limit))
            self.scope[name] = v.meta
        if (name, "local") not in self._there:
            self._there.add((name, "local"))
            self.steps.append(Scatter(name, v.meta.rows * v.meta.cols))
        return name

    def _exchange(self, name: str, source: Operand, how: How, m: Meta) -> None:
        if (name, how) not in self._there:
            self._there.add((name, how))
            self.steps.append(Exchange(name, source, how, m.rows * m.cols))

    def _fresh(self, m: Meta) -> Spread:
        name = self._name()
        self.shapes[name] = self.rule.at(m.rows), self.rule.at(m.cols)
        return Spread(name, m)

    def _name(self) -> str:
        self._count += 1
        return f"{TEMPORARY}{self._count}"
