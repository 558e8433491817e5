"""A SELECT as aggregates over one join, for compilers that take no more: no NULL, no nesting.

    SELECT E, D, SUM([f_A: Ring](A) * (B + 1)) FROM R NATURAL JOIN S GROUP BY E, D

has the keys E and D, the atoms R(..) and S(..), and one sum with two factors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from freshview.calculus.build import factors, is_number, mul
from freshview.calculus.scope import ins, is_value
from freshview.calculus.terms import Cmp, Expr, Lift, Rel, Var
from freshview.calculus.walk import Names, rename
from freshview.errors import FreshviewError, Place, TypeProblem, UnsupportedSql
from freshview.sql.catalog import Catalog
from freshview.sql.cpp_header import read_header
from freshview.sql.lower.env import Env
from freshview.sql.lower.joins import sources
from freshview.sql.lower.scope import hint
from freshview.sql.lower.translate import environment
from freshview.sql.parse.statements import parse
from freshview.sql.statements import CreateRelation, CreateType, CreateView
from freshview.sql.terms import (
    Aggregate,
    Arith,
    Item,
    Scalar,
    Select,
)
from freshview.sql.walk import conjuncts, inside

EMPTY = Catalog()
INSTEAD = "use another strategy, or write SELECT keys, SUM(product) FROM joins GROUP BY keys"


@dataclass(frozen=True)
class Aggregated:
    """Aggregates over a join: tests are conditions, each sum has a name and its factors."""

    name: str
    keys: tuple[tuple[str, str], ...]
    atoms: tuple[Rel, ...]
    tests: tuple[Expr, ...]
    sums: tuple[tuple[str, tuple[Expr, ...]], ...]


def load_joined(
    text: str, file: str = "<text>", catalog: Catalog = EMPTY
) -> tuple[Catalog, list[Aggregated]]:
    """A script whose queries are aggregates over joins; columns are taken as NOT NULL.

    >>> catalog, [query] = load_joined("CREATE STREAM R (A INT, B INT); CREATE TABLE S (A INT);"
    ...                                "SELECT SUM(B * 2) FROM R NATURAL JOIN S")
    >>> query.atoms[1].vars, query.name
    (('A',), 'query')
    """
    statements = parse(text, file)
    bare = [s for s in statements if isinstance(s, CreateView) and s.name is None]
    queries: list[Aggregated] = []
    for s in statements:
        try:
            match s:
                case CreateRelation(relation, source):
                    columns = tuple(replace(c, type=c.type.not_null()) for c in relation.columns)
                    catalog = catalog.with_relation(replace(relation, columns=columns), source)
                case CreateType(name, path):
                    catalog = catalog.with_type(read_header(path, name, file))
                case CreateView():
                    number = "" if len(bare) < 2 or s.name else f"_{bare.index(s) + 1}"
                    queries.append(aggregated(s, catalog, s.name or f"query{number}"))
        except FreshviewError as problem:
            raise problem.located(s.at) from None
    return catalog, queries


def aggregated(statement: CreateView, catalog: Catalog, name: str) -> Aggregated:
    """The aggregates of a view; whatever else it says is refused, naming the place."""
    query = statement.query
    _refuse_clauses(query)
    env = environment(catalog, Names())
    joined = sources(query.sources, env)
    env = replace(env, scope=joined.scope(env.scope))
    tests = [env.condition(env.resolve(c), True) for c in conjuncts(query.where)]
    join = _Join(env, query, tests)
    join.split(joined.factors)
    columns = statement.columns
    items = [i for i in query.items if isinstance(i, Item)]
    if columns and len(columns) != len(items):
        raise TypeProblem(
            f"the view has {len(items)} columns, {len(columns)} names are given",
            instead="give every column a name",
        )
    return join.finish(name, items, columns)


def _refuse_clauses(query: Select) -> None:
    for what, clause in (
        ("HAVING", query.having),
        ("QUALIFY", query.qualify),
        ("DISTINCT", query.distinct),
        ("LIMIT", query.limit),
        ("WITH", query.ctes),
        ("ORDER BY", query.order),
        ("OFFSET", query.offset),
        ("GROUPING SETS", query.sets),
        ("RANGE", query.window),
    ):
        if clause not in (None, False, (), 0):
            raise _refusal(what, query.at)
    for item in query.items:
        if not isinstance(item, Item):
            raise _refusal("*", item.at)


def _refusal(what: str, at: Place, instead: str = INSTEAD) -> UnsupportedSql:
    return UnsupportedSql(f"{what} is not kept by a view tree", instead=instead, at=at)


@dataclass
class _Join:
    """The atoms and tests of FROM and WHERE, equal columns under one name."""

    env: Env
    query: Select
    tests: list[Expr]

    def split(self, parts: tuple[Expr, ...]) -> None:
        """Relations apart from conditions; equal variables become one."""
        flat = [f for part in (*parts, *self.tests) for f in factors(part)]
        atoms = [f for f in flat if isinstance(f, Rel)]
        rest = [f for f in flat if not isinstance(f, Rel)]
        for f in rest:
            if not is_value(f) or isinstance(f, Lift):
                raise _refusal("a subquery, a view or an outer join", self.query.at)
        self.same: dict[str, str] = {}
        self.rest: list[Expr] = []
        for f in rest:
            match f:
                case Cmp("=", Var(a), Var(b)):
                    a, b = self._root(a), self._root(b)
                    if a != b:
                        self.same[b] = a
                case _:
                    self.rest.append(f)
        self.atoms = [self._named(a) for a in atoms]
        self._call_as_columns()

    def _root(self, name: str) -> str:
        while name in self.same:
            name = self.same[name]
        return name

    def _call_as_columns(self) -> None:
        """A variable goes by the name of its column, where no other one does."""
        wanted: dict[str, dict[str, None]] = {}
        for atom in self.atoms:
            assert isinstance(atom, Rel)
            columns = self.env.catalog.relation(atom.name).columns
            for v, c in zip(atom.vars, columns, strict=True):
                wanted.setdefault(v, {})[c.name] = None
        asked = [next(iter(names)) for names in wanted.values()]
        self.names = {
            v: name
            for v, names in wanted.items()
            if asked.count(name := next(iter(names))) == 1 and hint(name) == name.lower()
        }
        self.atoms = [rename(a, self.names) for a in self.atoms]

    def _named(self, e: Expr) -> Expr:
        known = {v: self._root(v) for v in self.same}
        return rename(e, known) if known else e

    def final(self, e: Expr) -> Expr:
        """A term under the names that variables have in the end."""
        return rename(self._named(e), self.names)

    def finish(self, name: str, items: list[Item], columns: tuple[str, ...]) -> Aggregated:
        """Keys from GROUP BY, sums from the SELECT list."""
        if not any(isinstance(x, Aggregate) for i in items for x in inside(i.expr)):
            raise _refusal("a SELECT without SUM or COUNT", self.query.at)
        group = dict.fromkeys(self._key(e) for e in self.query.group)
        keys: list[tuple[str, str]] = []
        sums: list[tuple[str, tuple[Expr, ...]]] = []
        for i, item in enumerate(items):
            title = columns[i] if columns else item.name or ""
            if isinstance(item.expr, Aggregate):
                sums.append((title or item.expr.fn.upper(), self._sum(item.expr)))
                continue
            var = self._key(item.expr)
            if var not in group:
                raise UnsupportedSql(
                    f"column '{var}' is neither in GROUP BY nor inside SUM",
                    instead="add it to GROUP BY",
                    at=item.at,
                )
            keys.append((title or var, var))
        keys += [(v, v) for v in group if v not in {k for _, k in keys}]
        titles = [title for title, _ in sums]
        sums = [
            (title if (n := titles[:i].count(title)) == 0 else f"{title}_{n + 1}", factors)
            for i, (title, factors) in enumerate(sums)
        ]
        atoms = tuple(a for a in self.atoms if isinstance(a, Rel))
        tests = tuple(map(self.final, self.rest))
        return Aggregated(name, tuple(keys), atoms, tests, tuple(sums))

    def _key(self, e: Scalar) -> str:
        term = self.final(self.env.value(self.env.resolve(e)).term)
        if not isinstance(term, Var):
            raise _refusal("an expression as a key", e.at)
        return term.name

    def _sum(self, e: Aggregate) -> tuple[Expr, ...]:
        """The factors of a sum; a number goes with the factor beside it."""
        if e.distinct or e.fn not in ("sum", "count"):
            what = f"{e.fn.upper()}(DISTINCT ...)" if e.distinct else e.fn.upper()
            pair = "write SUM([pair: Pair](x)), which is count and sum"
            raise _refusal(what, e.at, pair if e.fn == "avg" else INSTEAD)
        if e.fn == "count":
            return ()
        terms: list[Expr] = []
        number: Expr = mul()
        for factor in _product(e.args[0]):
            v = self.env.value(self.env.resolve(factor))
            if v.prefix or v.type.kind not in ("int", "decimal", "double", "ring"):
                instead = "multiply numbers, or lifting functions of columns"
                raise _refusal(f"a value of type {v.type}", factor.at, instead)
            term = self.final(v.term)
            if is_number(term) or not ins(term):
                number = mul(number, term)
            else:
                terms.append(mul(term, number))
                number = mul()
        if number != mul():
            terms[-1:] = [mul(*terms[-1:], number)]
        return tuple(terms)


def _product(e: Scalar) -> Iterator[Scalar]:
    """The factors between which `*` is the ring's; one in parentheses on the right is one."""
    if isinstance(e, Arith) and e.op == "*":
        yield from _product(e.left)
        yield e.right
    else:
        yield e
