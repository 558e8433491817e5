"""Variable orders: which variable is summed out under which (F-IVM 2018, Def. 3.1).

An order is a forest with one node a variable. The variables of each relation lie on one path
from a root down, so a relation can hang under its lowest variable. In text: A - {B, C - {D, E}}.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from freshview.calculus.terms import Rel
from freshview.errors import FreshviewError, SyntaxProblem
from freshview.factorized.terms import Join


class OrderProblem(FreshviewError):
    """A variable order that is none, or does not fit its query."""


@dataclass(frozen=True)
class VariableOrder:
    """Every variable with the one above it, or None at a root; parents stand before children."""

    above: tuple[tuple[str, str | None], ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name, parent in self.above:
            if name in seen:
                raise OrderProblem(f"variable '{name}' stands twice in the variable order")
            if parent is not None and parent not in seen:
                raise OrderProblem(
                    f"variable '{name}' hangs under '{parent}', which is not above it",
                    instead="list a variable after the one that it hangs under",
                )
            seen.add(name)

    @cached_property
    def parents(self) -> dict[str, str | None]:
        """The variable above each variable."""
        return dict(self.above)

    @cached_property
    def children(self) -> dict[str | None, tuple[str, ...]]:
        """The variables right under each variable; those under None are the roots."""
        below_each: dict[str | None, list[str]] = {None: []}
        for name, parent in self.above:
            below_each.setdefault(name, [])
            below_each[parent].append(name)
        return {name: tuple(below) for name, below in below_each.items()}

    def with_rest(self, atoms: Iterable[Rel]) -> VariableOrder:
        """The order with all the variables of these atoms.

        Those that are missing hang in a chain under the lowest that their atom has in the order.

        >>> str(read_order("A").with_rest([Rel("R", ("A", "B", "C")), Rel("S", ("A", "D"))]))
        'A - {B - C, D}'
        """
        order = self
        for atom in atoms:
            there = [v for v in atom.vars if v in order.parents]
            last = max(there, key=lambda v: len(order.path(v)), default=None)
            missing = [v for v in dict.fromkeys(atom.vars) if v not in order.parents]
            chain = zip(missing, [last, *missing], strict=False)
            order = VariableOrder((*order.above, *chain)) if missing else order
        return order

    def path(self, name: str) -> tuple[str, ...]:
        """The variables from the root down to this one.

        >>> read_order("A - {B, C - {D, E}}").path("D")
        ('A', 'C', 'D')
        """
        return self._paths[name]

    @cached_property
    def _paths(self) -> dict[str, tuple[str, ...]]:
        paths: dict[str, tuple[str, ...]] = {}
        for name, parent in self.above:
            paths[name] = (name,) if parent is None else (*paths[parent], name)
        return paths

    def under(self, name: str) -> tuple[str, ...]:
        """The variable and all those below it."""
        below = (v for child in self.children[name] for v in self.under(child))
        return (name, *below)

    def lowest(self, atom: Rel) -> str:
        """The variable that a relation hangs under; its variables must lie on one path."""
        deepest = max(atom.vars, key=lambda v: len(self.path(v)))
        path = self.path(deepest)
        for v in atom.vars:
            if v not in path:
                raise OrderProblem(
                    f"{atom.name} has '{v}' and '{deepest}' on two branches of the variable order",
                    instead="put one of them above the other",
                )
        return deepest

    def depends(self, name: str, atoms: Iterable[Rel]) -> frozenset[str]:
        """dep(X): the variables above X that share a relation with X or with one below it."""
        below = set(self.under(name))
        met = {v for atom in atoms if below & set(atom.vars) for v in atom.vars}
        return frozenset(met) & frozenset(self.path(name)[:-1])

    def __str__(self) -> str:
        return _show(self, self.children[None])


def _show(order: VariableOrder, names: tuple[str, ...]) -> str:
    below = {v: order.children[v] for v in names}
    texts = [f"{v} - {_show(order, below[v])}" if below[v] else v for v in names]
    return texts[0] if len(texts) == 1 else "{" + ", ".join(texts) + "}"


def read_order(text: str) -> VariableOrder:
    """An order from its text.

    >>> str(read_order("A-{B,C-{D,E}}"))
    'A - {B, C - {D, E}}'
    """
    tokens = re.findall(r"[A-Za-z_][\w.$]*|[-{},]|\S", text)
    above: list[tuple[str, str | None]] = []

    def branch(parent: str | None) -> None:
        if tokens and tokens[0] == "{":
            tokens.pop(0)
            branch(parent)
            while tokens and tokens[0] == ",":
                tokens.pop(0)
                branch(parent)
            if not tokens or tokens.pop(0) != "}":
                raise SyntaxProblem(f"a brace of the variable order '{text}' is not closed")
            return
        if not tokens or tokens[0] in ("-", "}", ","):
            raise SyntaxProblem(f"the variable order '{text}' lacks a variable")
        name = tokens.pop(0)
        above.append((name, parent))
        if tokens and tokens[0] == "-":
            tokens.pop(0)
            branch(name)

    branch(None)
    if tokens:
        raise SyntaxProblem(f"'{tokens[0]}' is left over in the variable order '{text}'")
    return VariableOrder(tuple(above))


def check_order(order: VariableOrder, join: Join) -> None:
    """Refuse an order that lacks a variable of the query, has one too many, or parts a relation."""
    known = set(order.parents)
    for atom in join.atoms:
        for v in atom.vars:
            if v not in known:
                raise OrderProblem(
                    f"variable '{v}' of {atom.name} is not in the variable order {order}"
                )
        if atom.vars:
            order.lowest(atom)
    for v in order.parents:
        if v not in join.variables:
            raise OrderProblem(f"variable '{v}' of the order is in no relation of the query")
