"""A conjunctive query of a user, as the views that keep its rows factorized.

The SELECT's term is one product: relations, tests, and assignments that name a column twice or
give a constant. Those are done when rows are read; the rest is a join for `conjunctive.factorize`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from freshview.calculus.build import add, addends, factors, mul, sum_
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Query, Relation
from freshview.calculus.scope import ins, outs, relations
from freshview.calculus.terms import Const, Expr, Lift, Sum, Var
from freshview.calculus.text import show
from freshview.factorized.compile import USUAL
from freshview.factorized.conjunctive import Factorized, factorize
from freshview.factorized.fit_order import fit_order
from freshview.factorized.optimize import find_order
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.order import VariableOrder
from freshview.factorized.readout import NotFactorized, as_join, refuse_derived
from freshview.factorized.terms import Join
from freshview.simplify import simplify

Source: TypeAlias = Var | Const
"""Where a column comes from: a variable of the join, or a constant."""
INSTEAD = "declare it with CREATE VIEW"


@dataclass(frozen=True)
class Result:
    """The views of a factorized result, and what each column of the SELECT shows of it."""

    query: Query
    sources: tuple[Source, ...]
    factorized: Factorized


def keep_factorized(
    query: Query,
    declared: Sequence[Relation],
    options: ViewTreeOptions = USUAL,
    functions: Functions = BUILTINS,
) -> Result:
    """Keep the rows of a SELECT factorized, or NotFactorized, naming the node.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.text import read
    >>> from freshview.calculus.types import INT
    >>> r, s = (Relation(n, (Column("x", INT), Column("y", INT))) for n in "RS")
    >>> columns = (Column("b", INT), Column("a", INT), Column("c", INT))
    >>> query = Query("q", columns, ("b", "a", "c"), read("R(a, b) * S(a, c)"))
    >>> [union.view.name for union in keep_factorized(query, [r, s]).factorized.roots]
    ['V_RS_at_a']
    """
    join = _join(query)
    source_of = {v: _source(v, join) for v in query.vars}
    shown = [v for v, source in source_of.items() if source != Var(v)]
    tests = tuple(f for f in join.factors if not _only_shown(f, shown, join.factors))
    sources = tuple(source_of[v] for v in query.vars)
    head = tuple(dict.fromkeys(s.name for s in sources if isinstance(s, Var)))
    join = Join((), join.atoms, tests)
    order = _order(query, join, head, declared, options)
    _check_projection(query, join, head, order, declared)
    chosen = replace(options, orders={query.name: order})
    try:
        factorized = factorize(query.name, head, join.atoms, declared, chosen, functions, tests)
    except NotFactorized as e:
        raise _across(join) or e from None
    words = _show_order(order, join, declared)
    note = f"strategy: a factorized result, never listed, in the variable order {words}"
    program = replace(factorized.program, notes=(note, *factorized.program.notes))
    return Result(query, sources, replace(factorized, program=program))


def _join(query: Query) -> Join:
    """The one product of the SELECT; its keys are the columns."""
    refuse_derived(query)
    term = simplify(query.term)
    if not relations(term):
        raise NotFactorized(f"'{query.name}' reads no relation", instead=INSTEAD)
    try:
        outside, join = as_join(_gathered(term))
    except NotFactorized as e:
        raise NotFactorized(e.what, instead=INSTEAD) from None
    if outside:
        raise NotFactorized(
            f"the rows of '{query.name}' are counted with {_short(outside[0])}", instead=INSTEAD
        )
    return join


def _gathered(e: Expr) -> Expr:
    """R * {f} + R * {g} => R * ({f} + {g}): what OR makes of a test of the same rows."""
    terms = addends(e)
    parts = [factors(t.body if isinstance(t, Sum) else t) for t in terms]
    common = [f for f in parts[0] if all(f in others for others in parts)]
    rests = [[f for f in some if f not in common] for some in parts]
    if len(terms) == 1 or any(relations(f) for rest in rests for f in rest):
        return e
    keys = tuple(sorted(outs(e)))
    return sum_(keys, mul(*common, add(*(mul(*rest) for rest in rests))))


def _source(var: str, join: Join) -> Source:
    """What a column shows, found through assignments of one variable to another."""
    if var in join.variables:
        return Var(var)
    lift = next(f for f in join.factors if isinstance(f, Lift) and f.var == var)
    match lift.body:
        case Var(name):
            return _source(name, join)
        case Const():
            return lift.body
        case body:
            raise NotFactorized(
                f"a factorized view shows columns as they are, not {_short(body)}",
                instead=f"select the columns of which it is computed, or {INSTEAD}",
            )


def _only_shown(f: Expr, shown: Sequence[str], others: Sequence[Expr]) -> bool:
    """Whether a factor only gives a column that no test reads."""
    return isinstance(f, Lift) and f.var in shown and not any(f.var in ins(x) for x in others)


def _across(join: Join) -> NotFactorized | None:
    """What is wrong with a test of columns that no one relation has, if there is one."""
    for f in join.factors:
        if not any(ins(f) <= set(atom.vars) for atom in join.atoms):
            return NotFactorized(
                f"the test {_short(f)} compares columns of several relations, whose pairs would "
                "have to be listed",
                instead=f"compare columns of one relation, or {INSTEAD}",
            )
    return None


def _order(
    query: Query,
    join: Join,
    head: tuple[str, ...],
    declared: Sequence[Relation],
    options: ViewTreeOptions,
) -> VariableOrder:
    asked = options.orders.get(query.name)
    if asked is not None:
        return fit_order(asked, join, declared)
    return find_order(replace(join, keys=head), declared, options.statistics)


def _check_projection(
    query: Query,
    join: Join,
    head: tuple[str, ...],
    order: VariableOrder,
    declared: Sequence[Relation],
) -> None:
    """A variable that is summed out must leave what one relation has: else pairs are listed."""
    titles = _titles(join, declared)
    for v in join.variables:
        left = order.depends(v, join.atoms) if v not in head else frozenset()
        if not any(left <= set(atom.vars) for atom in join.atoms):
            keys = ", ".join(titles[k] for k in order.path(v) if k in left)
            raise NotFactorized(
                f"'{query.name}' joins on {titles[v]} and does not select it, so that the view at "
                f"{titles[v]} would list every ({keys})",
                instead=f"select {titles[v]} as well, or {INSTEAD}",
            )


def _titles(join: Join, declared: Sequence[Relation]) -> dict[str, str]:
    """A column that each variable stands for."""
    named = {r.name: r for r in declared}
    titles = {
        v: f"{atom.name}.{column.name}"
        for atom in reversed(join.atoms)
        for v, column in zip(atom.vars, named[atom.name].columns, strict=True)
    }
    # A relation that is joined with itself has each column twice: then the variables tell more.
    several = Counter(titles.values())
    return {v: title if several[title] == 1 else v for v, title in titles.items()}


def _show_order(order: VariableOrder, join: Join, declared: Sequence[Relation]) -> str:
    titles = _titles(join, declared)
    return str(
        VariableOrder(
            tuple((titles[v], None if up is None else titles[up]) for v, up in order.above)
        )
    )


def _short(e: Expr) -> str:
    text = show(e)
    return text if len(text) <= 100 else text[:97] + "..."
