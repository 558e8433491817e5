"""The rows that are aggregated, and what is assigned from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from freshview.calculus.build import NULL, add, mul, sum_
from freshview.calculus.terms import Expr, Lift, Var
from freshview.calculus.walk import freshen
from freshview.sql.lower.env import Env
from freshview.sql.lower.products import no_row, product
from freshview.sql.lower.val import Val


@dataclass(frozen=True)
class Group:
    """The rows that are aggregated, and the variables of GROUP BY; a global group has none."""

    core: tuple[Expr, ...]
    keys: tuple[str, ...]
    is_global: bool
    env: Env

    def total(self, *factors: Expr) -> Expr:
        """The sum of a product over the rows of the group, as a fresh copy."""
        return self.by((), *factors)

    def by(self, variables: tuple[str, ...], *factors: Expr) -> Expr:
        """The same for each of the values of some variables, which keep their names."""
        body = product(*self.core, *factors)
        return freshen(sum_((*self.keys, *variables), body), self.env.names)


@dataclass
class Computed:
    """What is computed of the rows of a group in order, each value under a variable."""

    group: Group
    prefix: list[Expr] = field(default_factory=list, kw_only=True)

    def let(self, hint: str, body: Expr) -> Var:
        """A variable with the value of a term."""
        var = self.group.env.names.fresh(hint)
        self.prefix.append(Lift(var, body))
        return Var(var)


def present(arguments: Sequence[Val]) -> tuple[Expr, ...]:
    """Factors of multiplicity 1 if none of the values is NULL, else 0."""
    return tuple(f for a in arguments for f in a.present)


def or_null(var: str, there: Expr, group: Group, guards: tuple[Expr, ...], v: Val) -> Val:
    """What is there where a row meets the guards, and NULL where none does."""
    names = group.env.names
    nothing = mul(no_row(group.total(*guards), names), Lift(var, NULL))
    whole = add(freshen(there, names), nothing)
    return Val(Var(var), v.type.or_null(), (whole,), (var,), (there,))
