"""Triggers: what is done when an input changes by a product of two narrow matrices, U * V'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from freshview.linear.cost.operations import Sizes, chain, cost, dims, traffic, work
from freshview.linear.language.build import mul, transpose
from freshview.linear.language.meta import Meta, infer
from freshview.linear.language.show import Tree, show
from freshview.linear.language.sizes import Size, total
from freshview.linear.language.terms import Expr, Statement, Transpose, Var


@dataclass(frozen=True, slots=True)
class Factored:
    """A change of the form left * right', both narrow."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Dense:
    """A change as one whole matrix."""

    term: Expr


Change: TypeAlias = Factored | Dense


@dataclass(frozen=True, slots=True)
class Update:
    """View += change."""

    view: str
    change: Change


@dataclass(frozen=True)
class Trigger:
    """First all the assignments, over the old views; then the updates.

    `again` are the views that are computed anew, in order, after the updates.
    """

    input: str
    left: str
    right: str
    rank: Size
    assignments: tuple[Statement, ...]
    updates: tuple[Update, ...]
    again: tuple[Statement, ...]
    scope: Mapping[str, Meta]
    sizes: Sizes

    def cost(self) -> Size:
        """Operations of one run: assignments, updates in place, and what is computed anew."""
        parts = [cost(s.term, self.scope, self.sizes) for s in (*self.assignments, *self.again)]
        return total(parts) + total(self.update_cost(u) for u in self.updates)

    def update_cost(self, u: Update) -> Size:
        """A factored update costs its rank for every cell, a dense one an addition."""
        m = self.scope[u.view]
        if isinstance(u.change, Dense):
            return m.rows * m.cols
        return m.rows * m.cols * infer(u.change.left, self.scope).cols

    def traffic(self) -> Size:
        """Cells that travel in one run if the views are spread over machines."""
        statements = (*self.assignments, *self.again)
        every = [w for s in statements for w in work(s.term, self.scope, self.sizes)]
        sent = [traffic(w, self.sizes) for w in every]
        for u in self.updates:
            m = self.scope[u.view]
            if isinstance(u.change, Dense):
                sent.append(m.rows * m.cols)
            else:
                sent.append((m.rows + m.cols) * infer(u.change.left, self.scope).cols)
        return total(sent)

    def ranks(self) -> dict[str, Size]:
        """The rank of the change of every view that is updated by factors."""
        return {
            u.view: infer(u.change.left, self.scope).cols
            for u in self.updates
            if isinstance(u.change, Factored)
        }

    def grouping(self, factors: tuple[Expr, ...]) -> Tree:
        """In which order a product is computed."""
        return chain(dims(factors, self.scope), self.sizes)[1]

    def __str__(self) -> str:
        """The text of a trigger."""
        grouping = self.grouping
        lines = [f"on {self.input} += {self.left} * {self.right}' (rank {self.rank}):"]
        lines += [f"  {s.name} := {show(s.term, grouping)};" for s in self.assignments]
        for u in self.updates:
            if isinstance(u.change, Factored):
                text = f"{show(u.change.left)} * {_primed(u.change.right)}"
            else:
                text = show(u.change.term)
            lines.append(f"  {u.view} += {text};")
        lines += [f"  {s.name} := {show(s.term, grouping)};" for s in self.again]
        return "\n".join(lines) + "\n"


def change_term(change: Change) -> Expr:
    """A change as one term: left * right' where it is factored."""
    if isinstance(change, Dense):
        return change.term
    return mul(change.left, transpose(change.right))


def _primed(e: Expr) -> str:
    return show(e.body) if isinstance(e, Transpose) else show(Transpose(e))


def names(e: Expr) -> bool:
    """Whether a term is a bare name, transposed or not."""
    return isinstance(e, Var) or (isinstance(e, Transpose) and isinstance(e.body, Var))
