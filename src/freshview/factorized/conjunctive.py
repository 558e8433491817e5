"""Conjunctive queries: all rows of a join, as keys, as a payload, or factorized (F-IVM 2018, 6.3).

Factorized, the result is never listed: for every variable X of the head there is a view of the
values of X given those above it that it depends on, each with the number of joined rows under it.
Those views are maps like all others, and following them from the root lists the result, with a
delay between two rows that does not depend on the data. Variables in a chain, as those that only
one relation has, share a view. `runtime.enumerate` counts, finds and lists rows by arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from freshview.calculus.build import const, exists, mul
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.scope import ins
from freshview.calculus.terms import Apply, Expr, Lift, Rel, Var, View
from freshview.calculus.text import show
from freshview.calculus.types import Value
from freshview.factorized.compile import USUAL, ViewTreeCompiler
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.readout import NotFactorized
from freshview.factorized.terms import Join, Tree, TreeNode
from freshview.program.terms import Map, Program

Groups = Mapping[Row, Mapping[Row, int]]


def listed_by_keys(head: Sequence[str], atoms: Sequence[Rel]) -> Join:
    """The rows of the result are keys, their multiplicities numbers."""
    return Join(tuple(head), tuple(atoms))


def listed_in_payload(head: Sequence[str], atoms: Sequence[Rel]) -> Join:
    """No keys: the payload of the root is the result, an element of the relational ring."""
    lifts = tuple(Apply("listing", (const(v), Var(v)), "Relational") for v in head)
    return Join((), tuple(atoms), lifts)


@dataclass(frozen=True)
class Union:
    """The values of variables under those that they depend on, and the unions under each of them.

    `view` reads the map that holds them; `outer_keys` are its other keys. There are several
    variables where a chain of them has nothing else under it.
    """

    vars: tuple[str, ...]
    view: View
    outer_keys: tuple[str, ...]
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
    options: ViewTreeOptions = USUAL,
    functions: Functions = BUILTINS,
    tests: Sequence[Expr] = (),
) -> Factorized:
    """Keep the result of a conjunctive query factorized; the query itself counts its rows.

    The views that the result consists of are queries, too, so that every engine keeps them.
    """
    compiler = ViewTreeCompiler(tuple(relations), options, functions)
    join = Join((), tuple(atoms), tuple(tests))
    compiler.name_params(set(join.variables))
    query = compiler.query(name, join, frozenset(head))
    [tree] = compiler.trees[name]
    roots = _unions(tree, compiler.accesses, frozenset(), head)
    maps = {m.name: m for m in compiler.views.declared}
    read = dict.fromkeys(u.view.name for u in _all(roots))
    program = compiler.program([query, *(_reading(maps[n]) for n in read)])
    return Factorized(tuple(head), program, roots)


def _reading(m: Map) -> Query:
    """A map as a query: its keys, and how many rows each has."""
    names = tuple(c.name for c in m.keys)
    rows = View(m.name, names)
    count = "rows" if "rows" not in names else "_rows"
    term = mul(exists(rows), Lift(count, rows))
    return Query(m.name, (*m.keys, Column(count, m.payload)), (*names, count), term)


def _unions(
    t: Tree, accesses: Mapping[int, View], bound: frozenset[str], head: Sequence[str]
) -> tuple[Union, ...]:
    """The unions of a tree, under values of the variables that are `bound`."""
    if not isinstance(t, TreeNode):
        return ()
    inner = bound | set(t.keys) if t.listed else bound
    below = tuple(u for c in t.children for u in _unions(c, accesses, inner, head))
    for f in t.factors:
        for v in sorted({v for u in _all(below) for v in u.vars} & ins(f)):
            # The views below were added up without the test: they hold values that it rejects.
            raise NotFactorized(
                f"the test {show(f)} compares {v} with what no relation has beside it",
                instead="compare columns of one relation, or declare it with CREATE VIEW",
            )
    if not t.listed:
        return below
    new = tuple(k for k in t.keys if k not in bound)
    for k in new:
        if k not in head:
            raise NotFactorized(
                f"the values of {new[-1]} depend on {k}, which is not in the head",
                instead=f"give a variable order with {k} below the variables of the head",
            )
    return (Union(new, accesses[id(t)], tuple(k for k in t.keys if k in bound), below),)


@dataclass(frozen=True)
class Result:
    """The rows of a factorized result at one moment, over the contents of its views."""

    factorized: Factorized
    groups: Mapping[View, Groups]

    @classmethod
    def of(cls, factorized: Factorized, contents: Mapping[str, Mapping[Row, int]]) -> Result:
        """Index the views by what is given."""
        groups: dict[View, dict[Row, dict[Row, int]]] = {}
        for union in _all(factorized.roots):
            keys = union.view.vars
            at, outer = ([keys.index(k) for k in some] for some in (union.vars, union.outer_keys))
            groups_of_view = groups.setdefault(union.view, {})
            for row, n in contents[union.view.name].items():
                value = tuple(row[i] for i in at)
                groups_of_view.setdefault(tuple(row[i] for i in outer), {})[value] = n
        return cls(factorized, groups)

    def size(self) -> int:
        """How many rows its views have: the size of the factorized result."""
        return sum(len(values) for groups in self.groups.values() for values in groups.values())

    def total(self) -> int:
        """How many rows the result has, each as often as it counts; nothing is listed."""
        total = 1
        for root in self.factorized.roots:
            total *= sum(self._values(root, {}).values())
        return total

    def rows(self) -> Iterator[tuple[Row, int]]:
        """The rows over the head, with multiplicities."""
        for row, n in self._product(self.factorized.roots, {}, 1):
            yield tuple(row[v] for v in self.factorized.head), n

    def _values(self, union: Union, row: Mapping[str, Value]) -> Mapping[Row, int]:
        return self.groups[union.view].get(tuple(row[v] for v in union.outer_keys), {})

    def _product(
        self, unions: tuple[Union, ...], row: dict[str, Value], n: int
    ) -> Iterator[tuple[dict[str, Value], int]]:
        """All ways through the unions, the first one outermost."""
        if not unions:
            yield row, n
            return
        first, *rest = unions
        for value, count in self._values(first, row).items():
            inner = {**row, **dict(zip(first.vars, value, strict=True))}
            # What is under a value counts in its number: its own share is what they leave.
            share = count
            for below in first.below:
                share //= sum(self._values(below, inner).values())
            yield from self._product((*first.below, *rest), inner, n * share)


def _all(unions: tuple[Union, ...]) -> Iterator[Union]:
    for union in unions:
        yield union
        yield from _all(union.below)
