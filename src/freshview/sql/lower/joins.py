"""The FROM clause: tables, subqueries and views as atoms, joins as products and sums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from freshview.calculus.build import NULL, add, exists, mul, sum_
from freshview.calculus.schema import Column, Query
from freshview.calculus.terms import Apply, Expr, Lift, Rel, Var
from freshview.calculus.types import common
from freshview.calculus.walk import freshen, rename, variables
from freshview.errors import AmbiguousName, TypeProblem, UnknownName, UnsupportedSql
from freshview.sql.lower.asof import nearest
from freshview.sql.lower.combined import combined
from freshview.sql.lower.conditions.null_rejecting import never_null
from freshview.sql.lower.constant_rows import constant_rows
from freshview.sql.lower.env import Env
from freshview.sql.lower.joined import Joined
from freshview.sql.lower.parts import MOST_PRODUCTS, Parts, products
from freshview.sql.lower.pivots import pivoted, unpivoted
from freshview.sql.lower.products import closed, no_row, product
from freshview.sql.lower.row_sets import is_set
from freshview.sql.lower.scope import Bound, FromItem, Scope, hint
from freshview.sql.lower.time.sessions import is_session, session_columns
from freshview.sql.terms import (
    Combined,
    Compare,
    Derived,
    From,
    Join,
    Name,
    Pivot,
    Ref,
    Scalar,
    Table,
    Unpivot,
    Values,
)
from freshview.sql.walk import conjuncts

Factors = tuple[Expr, ...]

NOTHING = Joined((), (), ())

_CASES = {"left": 2, "right": 2, "full": 3}
"""The cases of an outer join: rows with partners, and those of a side without."""


def sources(items: tuple[From, ...], env: Env) -> Joined:
    """All of FROM; `env` is that of the SELECT around."""
    done = NOTHING
    for item in items:
        done = _beside(done, source(item, env, done), item)
    return done


def source(item: From, env: Env, before: Joined = NOTHING) -> Joined:
    """One FROM item; one that is LATERAL may read those before it."""
    match item:
        case Table():
            return _table(item, env)
        case Derived(query, alias, columns, lateral=lateral):
            if is_session(item):
                return session_columns(item, env)
            around = replace(env, scope=before.scope(env.scope)) if lateral else env
            rows = around.rows(query)
            done = _item(rows.term, alias, rows.columns, columns, item, env)
            return replace(done, plain=()) if item.hidden else done
        case Combined(alias=alias):
            rows = combined(item, env)
            return _item(rows.term, alias, rows.columns, (), item, env)
        case Values(alias=alias):
            rows = constant_rows(item, env)
            return _item(rows.term, alias, rows.columns, (), item, env)
        case Pivot(table, alias=alias) | Unpivot(table, alias=alias):
            names = [c.name for c in source(table, env, before).plain]
            pivot = pivoted(item, names) if isinstance(item, Pivot) else unpivoted(item, names)
            rows = env.rows(pivot)
            return _item(rows.term, alias, rows.columns, (), item, env)
        case Join():
            return _join(item, env, before)


def _beside(left: Joined, right: Joined, at: From) -> Joined:
    aliases = {i.alias.lower() for i in left.items}
    for item in right.items:
        if item.alias.lower() in aliases:
            raise AmbiguousName(
                f"'{item.alias}' is in FROM twice", instead="give one an alias", at=at.at
            )
    return Joined(left.factors + right.factors, left.items + right.items, left.plain + right.plain)


def _item(
    term: Expr,
    alias: str,
    columns: tuple[Bound, ...],
    titles: tuple[str, ...],
    at: From,
    env: Env,
) -> Joined:
    if titles:
        if len(titles) != len(columns):
            raise TypeProblem(
                f"'{alias}' has {len(columns)} columns, {len(titles)} names are given",
                instead="give every column a name",
                at=at.at,
            )
        columns = tuple(replace(b, name=n) for b, n in zip(columns, titles, strict=True))
    row_key = tuple(c.var for c in columns) if is_set(term, env.catalog.views) else ()
    return Joined((term,), (FromItem(alias, columns, row_key=row_key),), columns)


def _table(item: Table, env: Env) -> Joined:
    name = env.catalog.declared_as(item.name).lower()
    if item.name.lower() in env.ctes:
        name = item.name.lower()
        cte, around = env.ctes[name]
        rows = replace(around, names=env.names).rows(cte.query)
        columns = rows.columns
        cte_item = _item(rows.term, cte.name, columns, cte.columns, item, env)
        return _item(rows.term, item.alias, cte_item.plain, item.columns, item, env)
    if len(item.name) > len(name):
        ignored = item.name[: -len(name) - 1]
        env.notes[f"'{ignored}' before '{name}' is ignored: it is declared without"] = None
    if name in env.catalog.views:
        query = env.catalog.view(name)
        return _definition(item, query, env) if env.catalog.written_out else _rows(item, query, env)
    if name not in env.catalog.relations:
        if "(" in item.name:
            raise UnsupportedSql(
                f"the table function {item.name.partition('(')[0]}() is not supported here",
                instead="declare the view in a database or in a pipeline, as freshview run does",
                at=item.at,
            )
        known = [r.name for r in env.catalog.relations.values()]
        raise UnknownName(
            f"there is no table, stream or view '{item.name}'",
            instead=f"declared are {', '.join(known)}" if known else "declare it first",
            at=item.at,
        )
    relation = env.catalog.relation(name)
    env.notes.update(dict.fromkeys(relation.notes))
    columns = _columns(item, relation.columns, env)
    atom = Rel(relation.name, tuple(b.var for b in columns))
    done = _item(atom, item.alias, columns, item.columns, item, env)
    key = tuple(b.var for k in relation.key for b in columns if b.name.lower() == k.lower())
    time = None if relation.time_column is None else columns[relation.time_column]
    return replace(done, items=(replace(done.items[0], key=key, time=time, row_key=key),))


def _rows(item: Table, query: Query, env: Env) -> Joined:
    """A view as a relation: its rows, whatever they are made of."""
    _refuse_elements(query, item)
    columns = _columns(item, query.columns, env)
    atom = Rel(query.name, tuple(b.var for b in columns))
    return _item(atom, item.alias, columns, item.columns, item, env)


def _columns(item: Table, columns: Iterable[Column], env: Env) -> tuple[Bound, ...]:
    """Columns of a relation or view, under variables of this query."""
    return tuple(Bound(c.name, env.names.fresh(hint(item.alias, c.name)), c.type) for c in columns)


def _refuse_elements(query: Query, item: Table) -> None:
    for c in query.columns:
        if c.type.kind == "ring":
            raise UnsupportedSql(
                f"'{item.name}' holds elements of {c.type}, which SQL does not know",
                instead="read that view by itself",
                at=item.at,
            )


def _definition(item: Table, query: Query, env: Env) -> Joined:
    """A copy of a view's term: its columns get variables of this query."""
    _refuse_elements(query, item)
    columns = _columns(item, query.columns, env)
    names = {v: b.var for v, b in zip(query.vars, columns, strict=True)}
    names |= {v: env.names.fresh(v) for v in sorted(variables(query.term) - names.keys())}
    term = rename(query.term, names)
    return _item(term, item.alias, columns, item.columns, item, env)


def _join(j: Join, env: Env, before: Joined) -> Joined:
    left = source(j.left, env, before)
    _refuse_lateral(j)
    right = source(j.right, env, _visible_to_lateral(before, left))
    left, right = _apart(j, left, right, env)
    both = _beside(left, right, j)
    shared = _shared(j, left, right)
    tests: list[Scalar] = [
        Compare("=", Ref(a.var, a.type, a.name, j.at), Ref(b.var, b.type, b.name, j.at), j.at)
        for a, b in shared
    ]
    inner = replace(env, scope=both.scope(env.scope))
    tests += [inner.resolve(c) for c in conjuncts(j.on)]
    if j.asof:
        if j.using and isinstance(last := tests[len(shared) - 1], Compare):
            tests[len(shared) - 1] = replace(last, op=">=")
        right, tests = nearest(j, right, tests, inner), []
        both = _beside(left, right, j)
    if j.kind in ("semi", "anti"):
        matches = closed(*right.factors, *(inner.condition(t, True) for t in tests))
        test = exists(matches) if j.kind == "semi" else no_row(matches, env.names)
        return replace(left, factors=(*left.factors, test))
    if j.kind == "inner":
        holds = tuple(inner.condition(t, True) for t in tests)
        known = frozenset().union(*(never_null(t, inner) for t in tests))
        done = _merged(j, left, right, shared, env, both.factors + holds)
        scope = done.scope(env.scope).without_null(known)
        return replace(done, items=scope.items, plain=scope.plain)
    factors = _outer(j, left, right, tests, inner)
    if j.kind in ("left", "full"):
        right = right.nullable()
    if j.kind in ("right", "full"):
        left = left.nullable()
    shared = _shared(j, left, right)
    return _merged(j, left, right, shared, env, factors)


def _apart(j: Join, left: Joined, right: Joined, env: Env) -> tuple[Joined, Joined]:
    """The sides of an outer join; what is too many products for one query is a part of it."""
    if j.kind not in _CASES or env.parts is None:
        return left, right
    sides = [left, right]
    counts = [products(mul(*side.factors)) for side in sides]
    for i in sorted((0, 1), key=lambda i: -counts[i]):
        if counts[i] > 1 and _CASES[j.kind] * counts[0] * counts[1] > MOST_PRODUCTS:
            sides[i], counts[i] = _part(sides[i], env.parts), 1
    return sides[0], sides[1]


def _part(side: Joined, parts: Parts) -> Joined:
    """The same columns, read from a derived relation."""
    term = sum_(side.vars, product(*side.factors))
    return replace(side, factors=(parts.atom(term, side.types()),))


def _visible_to_lateral(before: Joined, left: Joined) -> Joined:
    """What a LATERAL subquery on the right of a join sees."""
    return Joined((), before.items + left.items, before.plain + left.plain)


def _refuse_lateral(j: Join) -> None:
    """A LATERAL subquery has rows beside rows of the left only."""
    if isinstance(j.right, Derived) and j.right.lateral and j.kind not in ("inner", "left"):
        raise UnsupportedSql(
            f"{j.kind.upper()} JOIN LATERAL is not supported",
            instead="write JOIN LATERAL or LEFT JOIN LATERAL",
            at=j.at,
        )


def _outer(j: Join, left: Joined, right: Joined, tests: list[Scalar], env: Env) -> Factors:
    """The rows that match, and the rows of one side that nothing on the other side matches."""
    if j.kind != "full":
        kept, other = (left, right) if j.kind == "left" else (right, left)
        return *kept.factors, add(*_partners(other, tests, env))
    matched = product(*left.factors, *right.factors, *_holds(tests, env))
    both = sum_(left.vars + right.vars, matched)
    return (add(both, _alone(left, right, tests, env), _alone(right, left, tests, env)),)


def _holds(tests: list[Scalar], env: Env) -> Factors:
    return tuple(env.condition(t, True) for t in tests)


def _partners(other: Joined, tests: list[Scalar], env: Env) -> Factors:
    """What stands beside a row: each of the rows that match, or NULL where there is none."""
    matched = sum_(other.vars, product(*other.factors, *_holds(tests, env)))
    return matched, _nothing(other, tests, env)


def _nothing(other: Joined, tests: list[Scalar], env: Env) -> Expr:
    matches = freshen(closed(*other.factors, *_holds(tests, env)), env.names)
    return mul(no_row(matches, env.names), *(Lift(v, NULL) for v in other.vars))


def _alone(kept: Joined, other: Joined, tests: list[Scalar], env: Env) -> Expr:
    """The rows of one side that nothing on the other side matches."""
    own = freshen(sum_(kept.vars, product(*kept.factors)), env.names)
    return mul(own, _nothing(other, tests, env))


def _shared(j: Join, left: Joined, right: Joined) -> list[tuple[Bound, Bound]]:
    """The pairs of columns that USING names or that NATURAL finds."""
    if j.using is None:
        theirs = {b.name.lower() for b in right.plain}
        names = [b.name for b in left.plain if b.name.lower() in theirs]
        if not names:
            raise UnknownName(
                "NATURAL JOIN finds no common column", instead="write CROSS JOIN or ON", at=j.at
            )
    else:
        names = list(j.using)
    pairs = []
    for name in dict.fromkeys(n.lower() for n in names):
        sought = Name(name, None, j.at)
        a, b = (
            Scope(left.items, left.plain).find(sought),
            Scope(right.items, right.plain).find(sought),
        )
        pairs.append((a, b))
    return pairs


def _merged(
    j: Join,
    left: Joined,
    right: Joined,
    shared: list[tuple[Bound, Bound]],
    env: Env,
    factors: tuple[Expr, ...],
) -> Joined:
    """The columns of a join: common ones once and first, then the others."""
    items = left.items + right.items
    merged: list[Bound] = []
    for a, b in shared:
        if j.kind == "full":
            var = env.names.fresh(hint(a.name))
            factors = (*factors, Lift(var, Apply("coalesce", (Var(a.var), Var(b.var)))))
            merged.append(Bound(a.name, var, common(a.type, b.type)))
        else:
            merged.append(b if j.kind == "right" else a)
    gone = {c.var for pair in shared for c in pair}
    rest = tuple(c for c in left.plain + right.plain if c.var not in gone)
    return Joined(factors, items, (*merged, *rest))
