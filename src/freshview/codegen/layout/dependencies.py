"""Functional dependencies: which keys of a map determine the others.

A declared key of a relation determines its row, so in a join of orders and lines the order's key
determines its date. A record is then found by the key alone, and holds the rest beside it: fewer
columns to hash, and a slice by the key is a single look-up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from freshview.calculus.build import factors
from freshview.calculus.schema import Relation
from freshview.calculus.scope import free, is_value, outs
from freshview.calculus.terms import Cmp, Const, Expr, Lift, Rel, Sum, Var
from freshview.program.dependencies import Dependency, determined
from freshview.program.terms import Map

NARROW = ("int", "date", "bool", "timestamp", "decimal", "double", "string")
"""Kinds of keys from the best to look up by to the worst."""


def determining(m: Map, relations: Mapping[str, Relation]) -> tuple[int, ...]:
    """Positions of keys that determine all the keys of a map; as few and narrow as can be."""
    rules = dependencies(m.definition, relations)
    names = [k.name for k in m.keys]
    positions = list(range(len(names)))
    for i in sorted(positions, key=lambda i: (-NARROW.index(_kind(m, i)), i)):
        others = [names[j] for j in positions if j != i]
        if names[i] in determined(others, rules):
            positions.remove(i)
    return tuple(positions)


def _kind(m: Map, i: int) -> str:
    kind = m.keys[i].type.kind
    return kind if kind in NARROW else "string"


def dependencies(definition: Expr, relations: Mapping[str, Relation]) -> list[Dependency]:
    """What the factors of a definition say about its variables.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.text import read
    >>> from freshview.calculus.types import INT
    >>> orders = Relation("O", (Column("k", INT), Column("d", INT)), key=("k",))
    >>> [d] = dependencies(read("Sum[x, y](O(x, y) * L(x))"), {"O": orders})
    >>> sorted(d.key), sorted(d.others)
    (['x'], ['x', 'y'])
    """
    body = definition.body if isinstance(definition, Sum) else definition
    rules: list[Dependency] = []
    for f in factors(body):
        match f:
            case Rel(name, names) if name in relations and relations[name].key:
                columns = [c.name for c in relations[name].columns]
                key = frozenset(names[columns.index(k)] for k in relations[name].key)
                rules.append(Dependency(key, frozenset(names)))
            case Cmp("=", Var(a), Var(b)):
                one, other = frozenset((a,)), frozenset((b,))
                rules += [Dependency(one, other), Dependency(other, one)]
            case Cmp("=", Var(a), Const()) | Cmp("=", Const(), Var(a)):
                rules.append(Dependency(frozenset(), frozenset((a,))))
            case Lift(var, value) if is_value(value):
                rules.append(Dependency(free(value), frozenset((var,))))
            case _:
                pass
    return rules


def is_determined(m: Map, key: int, by: Collection[int]) -> bool:
    """Whether a key of a map has one value for given values of others, as an aggregate of them has.

    So it is between changes only: while one is on its way, the old value may be there as well.
    """
    names = [k.name for k in m.keys]
    body = m.definition.body if isinstance(m.definition, Sum) else m.definition
    known = dependencies(body, {})
    known += [Dependency(free(f.body) | outs(f.body), frozenset((f.var,))) for f in lifts(body)]
    return names[key] in determined([names[i] for i in by], known)


def lifts(body: Expr) -> list[Lift]:
    """The assignments among the factors of a product."""
    return [f for f in factors(body) if isinstance(f, Lift)]
