"""A SELECT as a term whose outputs are its columns and whose multiplicity is the bag count."""

from __future__ import annotations

from dataclasses import dataclass, replace

from freshview.calculus.build import NULL, add, is_zero, mul, sum_
from freshview.calculus.scope import outs
from freshview.calculus.terms import Expr, Lift, Order, Top, Var
from freshview.calculus.walk import freshen
from freshview.errors import FreshviewError, TypeProblem, UnknownName, UnsupportedSql
from freshview.sql.lower.aggregates import Group, aggregate
from freshview.sql.lower.cardinality import at_most_one, is_one_row
from freshview.sql.lower.conditions.null_rejecting import never_null
from freshview.sql.lower.env import Env, Rows
from freshview.sql.lower.joins import sources
from freshview.sql.lower.products import assign, closed, no_row, product, some_row
from freshview.sql.lower.scope import Bound, hint
from freshview.sql.lower.val import Val, column, not_null
from freshview.sql.terms import (
    Aggregate,
    Call,
    Item,
    Lifted,
    Literal,
    Name,
    OrderKey,
    Ref,
    Scalar,
    Select,
)
from freshview.sql.walk import conjuncts, inside, parts, rewrite


@dataclass(frozen=True)
class _Output:
    """One column to be: its expression, names resolved, and what to call it."""

    expr: Scalar
    name: str


@dataclass(frozen=True)
class _Body:
    """A SELECT before its columns: the factors of its rows, and where to lower expressions."""

    factors: tuple[Expr, ...]
    env: Env
    inner: Env
    outputs: tuple[_Output, ...]
    aggregates: tuple[Val, ...] = ()


def rows(query: Select, env: Env, *, top: bool = False) -> Rows:
    """The rows of a SELECT; `env` is that of the SELECT around it."""
    body = _body(query, env)
    factors = list(body.factors)
    columns: list[Bound] = []
    for output in body.outputs:
        columns.append(_column(output, factors, {c.var for c in columns}, body.env))
    order, hidden = _order(query, body, columns, factors, top=top)
    keys = tuple(c.var for c in columns) + tuple(b.var for b in hidden)
    term = sum_(keys, product(*factors))
    if query.distinct:
        term = some_row(term)
    if query.limit is not None and not is_zero(term):
        term = Top((), _all_columns(order, columns), query.limit, term)
        term = sum_(tuple(c.var for c in columns), term)
    return Rows(term, tuple(columns), order if top else ())


def count(query: Select, env: Env) -> Expr:
    """How many rows a SELECT has; what it selects does not matter, if it can be computed."""
    if query.distinct or query.order or query.limit is not None:
        return closed(rows(query, env).term)
    body = _body(query, env)
    for output in body.outputs:
        body.env.value(output.expr)
    return closed(*body.factors)


def scalar(query: Select, env: Env) -> Val:
    """A SELECT where one value is asked for: NULL if it has no row."""
    body = _body(query, env)
    if len(body.outputs) != 1:
        raise TypeProblem(
            f"a subquery used as a value has {len(body.outputs)} columns",
            instead="select one",
            at=query.at,
        )
    if is_one_row(query):
        return _of_global(body)
    if not at_most_one(query, body.inner):
        raise UnsupportedSql(
            "this subquery may have more than one row",
            instead="wrap it in MAX(...) or MIN(...), or fix its primary key by equality",
            at=query.at,
        )
    found = rows(query, env)
    (bound,) = found.columns
    nothing = no_row(freshen(closed(found.term), env.names), env.names)
    whole = add(found.term, mul(nothing, Lift(bound.var, NULL)))
    certain = (found.term, not_null(bound.var)) if bound.type.nullable else (found.term,)
    return Val(Var(bound.var), bound.type.or_null(), (whole,), (bound.var,), certain)


def _of_global(body: _Body) -> Val:
    """One row always: the value of the only column, over the aggregates it reads."""
    v = body.env.value(body.outputs[0].expr)
    prefix = tuple(f for a in body.aggregates for f in a.prefix) + v.prefix
    own = {a.nulls[0]: a for a in body.aggregates if a.nulls}
    if v.certain is not None or not v.nulls:
        certain = None if v.certain is None else prefix[: -len(v.prefix) or None] + v.certain
        return replace(v, prefix=prefix, certain=certain)
    needed = [
        f
        for a in body.aggregates
        for f in (a.present if a.nulls and a.nulls[0] in v.nulls else a.prefix)
    ]
    guards = tuple(not_null(n) for n in v.nulls if n not in own)
    return replace(v, prefix=prefix, certain=(*needed, *v.prefix, *guards))


def _body(query: Select, env: Env) -> _Body:
    ctes = dict(env.ctes)
    for cte in query.ctes:
        ctes[cte.name.lower()] = (cte, replace(env, ctes=dict(ctes)))
    env = replace(env, ctes=ctes, known={})
    joined = sources(query.sources, env)
    inner = replace(env, scope=joined.scope(env.scope))
    factors = joined.factors
    for condition in conjuncts(query.where):
        test = inner.resolve(condition)
        _refuse_aggregates(test, "WHERE")
        factors = (*factors, inner.condition(test, True))
        known = never_null(test, inner)
        inner = replace(inner, scope=inner.scope.without_null(known))
    outputs = _outputs(query, inner)
    clauses = (query.where, query.having, *query.group, *(k.expr for k in query.order))
    for e in (*(o.expr for o in outputs), *(c for c in clauses if c is not None)):
        _refuse_lifted(e)
    if _is_aggregated(query, outputs):
        return _grouped(query, factors, inner, outputs)
    return _Body(factors, inner, inner, outputs)


def _refuse_aggregates(e: Scalar, clause: str) -> None:
    for x in inside(e):
        if isinstance(x, Aggregate):
            raise UnsupportedSql(
                f"{x.fn.upper()} is not allowed in {clause}",
                instead="use HAVING, or aggregate in a subquery",
                at=x.at,
            )


def _refuse_lifted(e: Scalar) -> None:
    """A payload is added up; no row holds one."""
    if isinstance(e, Lifted):
        raise UnsupportedSql(
            f"the lifting function '{e.fn}' outside of SUM is not supported",
            instead=f"write SUM([{e.fn}: {e.ring}](...))",
            at=e.at,
        )
    if not isinstance(e, Aggregate):
        for part in parts(e):
            _refuse_lifted(part)


def _outputs(query: Select, env: Env) -> tuple[_Output, ...]:
    """The SELECT list, stars written out, names resolved."""
    found: list[_Output] = []
    for item in query.items:
        if isinstance(item, Item):
            name = item.name or _default_name(item.expr, len(found) + 1, {o.name for o in found})
            found.append(_Output(env.resolve(item.expr), name))
            continue
        columns = env.scope.plain
        if item.table is not None:
            table = env.scope.item(item.table)
            if table is None:
                raise UnknownName(
                    f"there is no table '{item.table}' in FROM", instead="check it", at=item.at
                )
            columns = table.columns
        if not columns:
            raise UnsupportedSql("* without FROM", instead="name a table in FROM", at=item.at)
        found += [_Output(Ref(c.var, c.type, c.name, item.at), c.name) for c in columns]
    return tuple(found)


def _default_name(e: Scalar, position: int, taken: set[str]) -> str:
    """The name of a column that is given none: that of what is selected, or its position."""
    match e:
        case Name(name):
            return name
        case Aggregate(fn) | Call(fn):
            return fn if fn not in taken else f"{fn}_{position}"
        case _:
            return f"column_{position}"


def _is_aggregated(query: Select, outputs: tuple[_Output, ...]) -> bool:
    if query.group or query.having is not None:
        return True
    asked = [*(o.expr for o in outputs), *(k.expr for k in query.order)]
    return any(isinstance(x, Aggregate) for e in asked for x in inside(e))


def _grouped(
    query: Select, core: tuple[Expr, ...], inner: Env, outputs: tuple[_Output, ...]
) -> _Body:
    """GROUP BY: a row for every group that has rows, with its aggregates beside it."""
    known: dict[Scalar, Val] = {}
    keys: list[str] = []
    bound = outs(mul(*core))
    for expr in query.group:
        expr = _named(expr, outputs, inner, columns_first=True)
        _refuse_aggregates(expr, "GROUP BY")
        v = inner.value(expr)
        if not v.prefix and isinstance(v.term, Var) and v.term.name in bound:
            var = v.term.name
        else:
            var = inner.names.fresh("g")
            core = (*core, *assign(var, v, inner.catalog.functions))
        keys.append(var)
        known[expr] = column(var, v.type)
    group = Group(core, tuple(dict.fromkeys(keys)), not query.group, inner)
    having = None if query.having is None else _named(query.having, outputs, inner)
    order = [_named(k.expr, outputs, inner, columns_first=False) for k in query.order]
    found: list[Val] = []
    for e in [*(o.expr for o in outputs), *([] if having is None else [having]), *order]:
        for x in inside(e):
            if isinstance(x, Aggregate) and x not in known:
                v = _aggregate(x, group)
                found.append(v)
                known[x] = Val(v.term, v.type, nulls=v.nulls)
    scope = replace(inner.scope, grouped=frozenset(group.keys))
    env = replace(inner, scope=scope, known=known)
    alive = () if group.is_global else (some_row(sum_(group.keys, product(*core))),)
    factors = (*alive, *(f for v in found for f in v.prefix))
    if having is not None:
        factors += tuple(env.condition(c, True) for c in conjuncts(having))
    return _Body(factors, env, inner, outputs, tuple(found))


def _aggregate(e: Aggregate, group: Group) -> Val:
    try:
        return aggregate(e, group)
    except FreshviewError as problem:
        raise problem.located(e.at) from None


def _named(
    e: Scalar, outputs: tuple[_Output, ...], env: Env, *, columns_first: bool = True
) -> Scalar:
    """An expression of GROUP BY, HAVING or ORDER BY: ordinals and aliases become expressions."""
    if isinstance(e, Literal) and isinstance(e.value, int) and not isinstance(e.value, bool):
        if not 1 <= e.value <= len(outputs):
            raise UnknownName(
                f"there is no column {e.value}", instead=f"there are {len(outputs)}", at=e.at
            )
        return outputs[e.value - 1].expr

    def alias(name: Name) -> Scalar | None:
        if name.table is not None:
            return None
        same = {o.expr for o in outputs if o.name.lower() == name.name.lower()}
        return same.pop() if len(same) == 1 else None

    def rule(x: Scalar) -> Scalar | None:
        if not isinstance(x, Name):
            return None
        if not columns_first and (found := alias(x)) is not None:
            return found
        try:
            return env.resolve(x)
        except UnknownName:
            found = alias(x)
            if found is None:
                raise
            return found

    return rewrite(e, rule)


def _column(output: _Output, factors: list[Expr], taken: set[str], env: Env) -> Bound:
    """Bind one column, reusing the variable of a plain one."""
    v = env.value(output.expr)
    factors.extend(v.prefix)
    if isinstance(v.term, Var) and v.term.name not in taken:
        if any(v.term.name in outs(f) for f in factors):
            return Bound(output.name, v.term.name, v.type)
    var = env.names.fresh(hint(output.name))
    factors.extend(assign(var, replace(v, prefix=()), env.catalog.functions))
    return Bound(output.name, var, v.type)


def _order(
    query: Select, body: _Body, columns: list[Bound], factors: list[Expr], *, top: bool
) -> tuple[tuple[Order, ...], list[Bound]]:
    """The ordering over column variables; expressions that are no column become hidden ones."""
    if query.limit is not None and not query.order:
        raise UnsupportedSql(
            "LIMIT without ORDER BY has no fixed answer", instead="add ORDER BY", at=query.at
        )
    if query.order and query.limit is None and not top:
        raise UnsupportedSql(
            "ORDER BY in a subquery has no effect",
            instead="leave it out or add LIMIT",
            at=query.order[0].at,
        )
    found: list[Order] = []
    hidden: list[Bound] = []
    for key in query.order:
        expr = _named(key.expr, body.outputs, body.inner, columns_first=False)
        var = _position(expr, body.outputs, columns)
        if var is None:
            var = _hidden(query, key, expr, columns, hidden, factors, body, top=top)
        if var not in (o.var for o in found):
            found.append(Order(var, key.descending, key.nulls_first))
    return tuple(found), hidden


def _position(e: Scalar, outputs: tuple[_Output, ...], columns: list[Bound]) -> str | None:
    for output, bound in zip(outputs, columns, strict=True):
        if output.expr == e:
            return bound.var
    return None


def _hidden(
    query: Select,
    key: OrderKey,
    e: Scalar,
    columns: list[Bound],
    hidden: list[Bound],
    factors: list[Expr],
    body: _Body,
    *,
    top: bool,
) -> str:
    if top or query.distinct:
        raise UnsupportedSql(
            "ORDER BY names an expression that is not selected",
            instead="add it to the SELECT list",
            at=key.at,
        )
    taken = {c.var for c in columns}
    bound = _column(_Output(e, "sort"), factors, taken, body.env)
    hidden.append(bound)
    return bound.var


def _all_columns(order: tuple[Order, ...], columns: list[Bound]) -> tuple[Order, ...]:
    """Ties are broken by the columns from left to right, so that the answer is one."""
    named = {o.var for o in order}
    rest = tuple(Order(c.var, False, True) for c in columns if c.var not in named)
    return order + rest
