"""Conjunctive queries: all rows of a join, as keys, as a payload, or factorized (seed 004, 6.3).

Factorized, the result is never listed: for every variable X of the head there is a view of the
values of X given those above it that it depends on, each with the number of joined rows under it.
Those views are maps like all others, and following them from the root lists the result, with a
delay between two rows that does not depend on the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from freshet.calculus.build import const
from freshet.calculus.functions import BUILTINS, Functions
from freshet.calculus.schema import Relation
from freshet.calculus.terms import Apply, Rel, Var, View
from freshet.calculus.types import Value
from freshet.factorized.compile import USUAL, Compiler
from freshet.factorized.options import Options
from freshet.factorized.terms import Join, Node, Tree
from freshet.program.terms import Program

Row = tuple[Value, ...]
Groups = Mapping[Row, Mapping[Value, int]]


def listed_by_keys(head: Sequence[str], atoms: Sequence[Rel]) -> Join:
    """The rows of the result are keys, their multiplicities numbers."""
    return Join(tuple(head), tuple(atoms))


def listed_in_payload(head: Sequence[str], atoms: Sequence[Rel]) -> Join:
    """No keys: the payload of the root is the result, an element of the relational ring."""
    lifts = tuple(Apply("listing", (const(v), Var(v)), "Relational") for v in head)
    return Join((), tuple(atoms), lifts)


@dataclass(frozen=True)
class Union:
    """The values of one variable under those that it depends on, and the unions under each value.

    `view` reads the map that holds them; `given` are its other keys.
    """

    var: str
    view: View
    given: tuple[str, ...]
    below: tuple[Union, ...]


@dataclass(frozen=True)
class Factorized:
    """A program that keeps a result factorized, and how its views hang together."""

    head: tuple[str, ...]
    program: Program
    roots: tuple[Union, ...]


def factorize(
    name: str,
    head: Sequence[str],
    atoms: Sequence[Rel],
    relations: Sequence[Relation],
    options: Options = USUAL,
    functions: Functions = BUILTINS,
) -> Factorized:
    """Keep the result of a conjunctive query factorized; the query itself counts its rows."""
    compiler = Compiler(tuple(relations), options, functions)
    join = Join((), tuple(atoms))
    compiler.name_params(set(join.variables))
    query = compiler.query(name, join, frozenset(head))
    [tree] = compiler.trees[name]
    program = compiler.program([query])
    return Factorized(tuple(head), program, _unions(tree, compiler.accesses))


def _unions(t: Tree, accesses: Mapping[int, View]) -> tuple[Union, ...]:
    if not isinstance(t, Node):
        return ()
    below = tuple(u for c in t.children for u in _unions(c, accesses))
    if not t.listed:
        return below
    given = tuple(k for k in t.keys if k != t.var)
    return (Union(t.var, accesses[id(t)], given, below),)


@dataclass(frozen=True)
class Result:
    """The rows of a factorized result at one moment, over the contents of its views."""

    factorized: Factorized
    groups: Mapping[View, Groups]

    @classmethod
    def of(cls, factorized: Factorized, contents: Mapping[str, Mapping[Row, int]]) -> Result:
        """Index the views by what is given."""
        groups: dict[View, dict[Row, dict[Value, int]]] = {}
        for union in _all(factorized.roots):
            keys = union.view.vars
            at, given = keys.index(union.var), [keys.index(k) for k in union.given]
            found = groups.setdefault(union.view, {})
            for row, n in contents[union.view.name].items():
                found.setdefault(tuple(row[i] for i in given), {})[row[at]] = n
        return cls(factorized, groups)

    def size(self) -> int:
        """How many values are kept: the size of the factorized result."""
        return sum(len(values) for found in self.groups.values() for values in found.values())

    def total(self) -> int:
        """How many rows the result has, each as often as it counts; nothing is listed."""
        total = 1
        for root in self.factorized.roots:
            total *= sum(self._values(root, {}).values())
        return total

    def rows(self) -> Iterator[tuple[Row, int]]:
        """The rows over the head, with multiplicities."""
        for found, n in self._product(self.factorized.roots, {}, 1):
            yield tuple(found[v] for v in self.factorized.head), n

    def _values(self, union: Union, found: Mapping[str, Value]) -> Mapping[Value, int]:
        return self.groups[union.view].get(tuple(found[v] for v in union.given), {})

    def _product(
        self, unions: tuple[Union, ...], found: dict[str, Value], n: int
    ) -> Iterator[tuple[dict[str, Value], int]]:
        """All ways through the unions, the first one outermost."""
        if not unions:
            yield found, n
            return
        first, *rest = unions
        for value, count in self._values(first, found).items():
            inner = {**found, first.var: value}
            # What is under a value counts in its number: its own share is what they leave.
            share = count
            for below in first.below:
                share //= sum(self._values(below, inner).values())
            yield from self._product((*first.below, *rest), inner, n * share)


def _all(unions: tuple[Union, ...]) -> Iterator[Union]:
    for union in unions:
        yield union
        yield from _all(union.below)
