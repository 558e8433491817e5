"""A variable order as its user writes it, over columns, becomes one over a join's variables."""

from __future__ import annotations

from collections.abc import Sequence

from freshview.calculus.schema import Relation
from freshview.calculus.terms import Rel
from freshview.factorized.order import OrderProblem, VariableOrder
from freshview.factorized.terms import Join


def fit_order(order: VariableOrder, join: Join, relations: Sequence[Relation]) -> VariableOrder:
    """The order with columns replaced by the variables that hold them.

    A name is a variable, a column, or `relation.column`. Variables that the order leaves out
    hang in a chain under the lowest one of their relation that it has: it is enough to order the
    columns that relations share.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> from freshview.factorized.order import read_order
    >>> r = Relation("R", (Column("A", INT), Column("B", INT)))
    >>> join = Join((), (Rel("R", ("r_a", "r_b")),))
    >>> str(fit_order(read_order("a"), join, [r]))
    'r_a - r_b'
    """
    known = _known(join.atoms, relations)
    names = {name: _variable(name, known, join) for name, _ in order.above}
    above = [(names[name], None if up is None else names[up]) for name, up in order.above]
    return VariableOrder(tuple(above)).with_rest(join.atoms)


def _known(atoms: Sequence[Rel], relations: Sequence[Relation]) -> dict[str, set[str]]:
    """The variables that each name of a column may mean."""
    named = {r.name: r for r in relations}
    known: dict[str, set[str]] = {}
    for atom in atoms:
        for column, var in zip(named[atom.name].columns, atom.vars, strict=True):
            for name in (column.name, f"{atom.name}.{column.name}"):
                known.setdefault(name.lower(), set()).add(var)
    return known


def _variable(name: str, known: dict[str, set[str]], join: Join) -> str:
    if name in join.variables:
        return name
    variables = known.get(name.lower(), set())
    if not variables:
        raise OrderProblem(
            f"'{name}' of the variable order is not a column of the query's relations",
            instead=f"they have {', '.join(sorted(n for n in known if '.' not in n))}",
        )
    if len(variables) > 1:
        raise OrderProblem(
            f"'{name}' of the variable order is a column of several relations that do not join on "
            "it",
            instead="write relation.column",
        )
    return next(iter(variables))
