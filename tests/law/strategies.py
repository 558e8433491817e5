"""Random terms, databases and changes over four small relations.

`terms()` gives well-bound terms in normal form (built through the constructors) that cover every
node: `ins(e)` is within `given`, and `outs(e)` says what it binds. They are hygienic by default:
what a Sum adds up over has a name that stands nowhere else. `hygienic=False` lets local variables
take the names of the context, which the meaning of terms must keep apart.

Multiplicities in databases may be negative: the laws of meaning and of deltas hold all the same,
since a Top takes a row with a negative multiplicity for absent, before the change as well as
after it. A law that moves something through a Top may ask for `databases(negative=False)`.

Numbers are integers and dyadic fractions (as decimals and as doubles), so that sums and products
are exact in any order and results can be compared with ==.
"""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

from freshview.calculus.build import add, const, mul, sum_
from freshview.calculus.scope import outs
from freshview.calculus.terms import (
    Apply,
    Cmp,
    Delta,
    Exists,
    Expr,
    Lift,
    Order,
    Rel,
    Top,
    Var,
    View,
)
from freshview.calculus.types import Value
from freshview.calculus.walk import Names, rename
from freshview.reference.oracle.evaluate import Database

RELATIONS = {"R": ("a", "b"), "S": ("b", "c"), "T": ("c", "d"), "U": ("a",)}
MAPS = {"M": ("k", "l"), "N": ("k",), "O": ()}
CACHES = {"C": (("p",), ("k",))}
"""View caches of random terms: inputs and keys."""

POOL = ("w", "x", "y", "z")
OPS = ("=", "<>", "<", "<=", ">", ">=")
ALL_ATOMS = ("rel", "delta", "view", "cache")

values: st.SearchStrategy[Value] = st.sampled_from([1, 2, 0, 1, 2, 1, 2, 3, -1, None])
fractions = st.sampled_from([Decimal("0.5"), Decimal("1.00"), 0.25, 2.0, Decimal("-2")])
constants: st.SearchStrategy[Value] = st.one_of(
    st.sampled_from([1, 2, 1, 2, 3, 0, -1]), fractions, st.sampled_from([2, True, False, None])
)
counts = st.sampled_from([1, 1, 1, 2, 3, -1, -2])


class Maker:
    """Draws one term; the supply of fresh names lasts for all of it."""

    def __init__(self, draw: st.DrawFn, atoms: tuple[str, ...], hygienic: bool) -> None:
        self.draw = draw
        self.atoms = atoms
        self.hygienic = hygienic
        self.names = Names(set(POOL))

    def pick(self, *choices: object) -> object:
        return self.draw(st.sampled_from(choices))

    def value(self, bound: frozenset[str], depth: int) -> Expr:
        kinds = ["const", "var", "var"] + ["cmp", "apply", "add", "mul"] * (depth > 0)
        match self.pick(*kinds):
            case "var" if bound:
                return Var(str(self.pick(*sorted(bound))))
            case "cmp":
                return self.comparison(bound, depth - 1)
            case "apply":
                return self.apply(bound, depth - 1)
            case "add":
                return add(self.value(bound, depth - 1), self.value(bound, depth - 1))
            case "mul":
                return mul(self.value(bound, depth - 1), self.value(bound, depth - 1))
            case _:
                return const(self.draw(constants))

    def comparison(self, bound: frozenset[str], depth: int) -> Expr:
        left, right = self.value(bound, depth), self.value(bound, depth)
        return Cmp(self.draw(st.sampled_from(OPS)), left, right)

    def apply(self, bound: frozenset[str], depth: int) -> Expr:
        fn, arity = self.draw(
            st.sampled_from(
                [("abs", 1), ("not", 1), ("coalesce", 2), ("in", 3), ("or", 2), ("greatest", 2)]
            )
        )
        return Apply(fn, tuple(self.value(bound, depth) for _ in range(arity)))

    def columns(self, bound: frozenset[str], count: int) -> tuple[str, ...]:
        """Variables for an atom; few are bound, seldom one stands twice: rows shall be found."""
        names: list[str] = []
        for _ in range(count):
            unused = [v for v in POOL if v not in names and v not in bound]
            known = [v for v in sorted(bound) if v not in names]
            names.append(str(self.pick(*unused, *(known[:2] or POOL), *POOL[:1])))
        return tuple(names)

    def atom(self, bound: frozenset[str]) -> Expr:
        match self.pick(*self.atoms):
            case "rel":
                name = str(self.pick(*RELATIONS))
                return Rel(name, self.columns(bound, len(RELATIONS[name])))
            case "delta":
                name = str(self.pick(*RELATIONS))
                return Delta(name, self.columns(bound, len(RELATIONS[name])))
            case "cache" if bound:
                name = str(self.pick(*CACHES))
                inputs, keys = CACHES[name]
                asked = tuple(str(self.pick(*sorted(bound))) for _ in inputs)
                return View(name, self.columns(bound, len(keys)), asked)
            case _:
                if "view" not in self.atoms:
                    return Rel("U", self.columns(bound, 1))
                name = str(self.pick(*MAPS))
                return View(name, self.columns(bound, len(MAPS[name])))

    def term(self, bound: frozenset[str], depth: int) -> Expr:
        if depth <= 0:
            return self.value(bound, 1) if self.pick(True, False, False) else self.atom(bound)
        match self.pick("mul", "mul", "mul", "sum", "sum", "add", "lift", "exists", "top", "leaf"):
            case "mul":
                return self.product(bound, depth)
            case "sum":
                return self.grouping(bound, depth)
            case "add":
                return self.union(bound, depth)
            case "lift":
                return self.lift(bound, depth)
            case "exists":
                return Exists(self.term(bound, depth - 1))
            case "top":
                return self.top(bound, depth)
            case _:
                return self.term(bound, 0)

    def product(self, bound: frozenset[str], depth: int) -> Expr:
        e: Expr = self.term(bound, depth - 1)
        for _ in range(self.draw(st.integers(1, 2))):
            e = mul(e, self.term(bound | outs(e), depth - 1))
        return e

    def without(self, e: Expr, local: frozenset[str]) -> Expr:
        """Add up over some variables, renamed apart unless hygiene is off."""
        if self.hygienic:
            apart = {v: self.names.fresh("l") for v in sorted(local)}
            e = rename(e, apart)
            local = frozenset(apart.values())
        return sum_(tuple(sorted(outs(e) - local)), e)

    def grouping(self, bound: frozenset[str], depth: int) -> Expr:
        e = self.term(bound, depth - 1)
        free = sorted(outs(e) - bound if self.hygienic else outs(e))
        local = frozenset(v for v in free if self.draw(st.booleans()))
        return self.without(e, local)

    def binding(self, e: Expr, bound: frozenset[str], wanted: frozenset[str]) -> Expr:
        """The same term, made to bind just `wanted` besides what is given."""
        e = self.without(e, outs(e) - wanted - bound)
        for v in sorted(wanted - outs(e) - bound):
            e = mul(e, Lift(v, self.value(bound | outs(e), 1)))
        return e

    def union(self, bound: frozenset[str], depth: int) -> Expr:
        parts = [self.term(bound, depth - 1) for _ in range(self.draw(st.integers(2, 3)))]
        wanted = outs(parts[0]) - bound
        return add(*(self.binding(p, bound, wanted) for p in parts))

    def lift(self, bound: frozenset[str], depth: int) -> Expr:
        if self.draw(st.booleans()):
            body = self.value(bound, depth)
        else:
            q = self.term(bound, depth - 1)
            body = self.without(q, outs(q) - bound)
        choices = ["new"] + (["pool", "bound"] if bound else ["pool"])
        match self.pick(*choices):
            case "bound":
                return Lift(str(self.pick(*sorted(bound))), body)
            case "pool" if not self.hygienic:
                return Lift(str(self.pick(*POOL)), body)
            case _:
                return Lift(self.names.fresh("n"), body)

    def top(self, bound: frozenset[str], depth: int) -> Expr:
        body = self.term(bound, depth - 1)
        names = sorted(outs(body))
        keys = tuple(v for v in names if self.draw(st.booleans()))
        order = tuple(
            Order(v, self.draw(st.booleans()), self.draw(st.booleans()))
            for v in self.draw(st.permutations(names))
            if self.draw(st.booleans())
        )
        return Top(keys, order, self.draw(st.sampled_from([1, 2, 3, 1, 2, 0])), body)


@st.composite
def terms(
    draw: st.DrawFn,
    bound: tuple[str, ...] = (),
    depth: int = 3,
    atoms: tuple[str, ...] = ("rel",),
    hygienic: bool = True,
) -> Expr:
    """A term whose input variables are among `given`; `atoms` says what it may read."""
    return Maker(draw, atoms, hygienic).term(frozenset(bound), depth)


def rows_of(columns: tuple[str, ...]) -> st.SearchStrategy[tuple[Value, ...]]:
    return st.tuples(*(values for _ in columns))


def contents(columns: tuple[str, ...], negative: bool = True) -> st.SearchStrategy[dict]:
    """A few rows with multiplicities."""
    numbers = counts if negative else st.sampled_from([1, 1, 2, 3])
    few = min(2, len(columns))
    return st.dictionaries(rows_of(columns), numbers, min_size=few, max_size=7)


@st.composite
def databases(draw: st.DrawFn, negative: bool = True) -> Database:
    """Rows for all the relations, batches and maps (and caches, all their inputs in place)."""
    cached = {name: inputs + keys for name, (inputs, keys) in CACHES.items()}
    return Database(
        {name: draw(contents(columns, negative)) for name, columns in RELATIONS.items()},
        {name: draw(contents(columns)) for name, columns in RELATIONS.items()},
        {name: draw(contents(columns)) for name, columns in {**MAPS, **cached}.items()},
    )


def deltas(relation: str) -> st.SearchStrategy[dict]:
    """A change of a relation: insertions and deletions, whether the rows are there or not."""
    return contents(RELATIONS[relation])


@st.composite
def contexts(draw: st.DrawFn, bound: tuple[str, ...]) -> dict[str, Value]:
    """Values for the variables that are given."""
    return {v: draw(values) for v in bound}


def updated(rows: dict, change: dict) -> dict:
    """D + dD, for one relation.

    >>> updated({(1,): 2, (2,): 1}, {(2,): -1, (3,): 1})
    {(1,): 2, (3,): 1}
    """
    out = dict(rows)
    for row, m in change.items():
        out[row] = out.get(row, 0) + m
    return {row: m for row, m in out.items() if m}
