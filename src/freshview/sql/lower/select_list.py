"""The SELECT list: its columns, their names, and the aliases that other clauses may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from freshview.calculus.scope import outs
from freshview.calculus.terms import Expr, Var
from freshview.errors import AmbiguousName, UnknownName, UnsupportedSql
from freshview.sql.lower.env import Env
from freshview.sql.lower.products import assign
from freshview.sql.lower.scope import Bound, hint
from freshview.sql.terms import Aggregate, Call, Item, Literal, Name, Ref, Scalar, Select, Star
from freshview.sql.walk import rewrite


@dataclass(frozen=True)
class Output:
    """One column to be: its expression, names resolved, and what to call it."""

    expr: Scalar
    name: str


def select_list(query: Select, env: Env) -> tuple[Output, ...]:
    """The SELECT list, stars written out, names resolved."""
    outputs: list[Output] = []
    aliases: dict[str, list[Scalar]] = {}
    for item in query.items:
        if isinstance(item, Item):
            name = item.name or default_name(item.expr, len(outputs) + 1, {o.name for o in outputs})
            expr = _resolved(item.expr, aliases, env)
            outputs.append(Output(expr, name))
            if item.name:
                aliases.setdefault(item.name.lower(), []).append(expr)
            continue
        columns = env.scope.plain
        if item.table is not None:
            table = env.scope.item(item.table)
            if table is None:
                there = ", ".join(i.alias for i in env.scope.items if not i.alias.startswith("#"))
                raise UnknownName(
                    f"there is no table '{item.table}' in FROM",
                    instead=f"name one of {there}" if there else "name it in FROM",
                    at=item.at,
                )
            columns = table.columns
        if not columns:
            raise UnsupportedSql(
                "there is a * without FROM", instead="name a table in FROM", at=item.at
            )
        columns = _without(item, columns)
        outputs += [Output(Ref(c.var, c.type, c.name, item.at), c.name) for c in columns]
    return tuple(outputs)


def _resolved(e: Scalar, aliases: Mapping[str, list[Scalar]], env: Env) -> Scalar:
    """An item of the list; a name that is no column may be that of an item before it."""

    def rule(x: Scalar) -> Scalar | None:
        if not isinstance(x, Name):
            return None
        try:
            return env.resolve(x)
        except UnknownName:
            before = aliases.get(x.name.lower(), []) if x.table is None else []
            if not before:
                raise
            if len(before) > 1:
                raise AmbiguousName(
                    f"two columns before this one are called '{x.name}'",
                    instead="rename one",
                    at=x.at,
                ) from None
            return before[0]

    return rewrite(e, rule)


def _without(star: Star, columns: tuple[Bound, ...]) -> tuple[Bound, ...]:
    """The columns of a star but for those that EXCEPT names."""
    names = {c.name.lower() for c in columns}
    for name in star.without:
        if name.name.lower() not in names:
            raise UnknownName(
                f"there is no column '{name.name}' to leave out",
                instead="the columns here are " + ", ".join(c.name for c in columns),
                at=name.at,
            )
    gone = {n.name.lower() for n in star.without}
    left = tuple(c for c in columns if c.name.lower() not in gone)
    if not left:
        raise UnsupportedSql("EXCEPT leaves no column", instead="name fewer", at=star.at)
    return left


def default_name(e: Scalar, position: int, used: set[str]) -> str:
    """The name of a column that is given none: that of what is selected, or its position."""
    match e:
        case Name(name):
            return name
        case Aggregate(fn) | Call(fn):
            return fn if fn not in used else f"{fn}_{position}"
        case _:
            return f"column_{position}"


def by_alias(
    e: Scalar, outputs: tuple[Output, ...], env: Env, *, columns_first: bool = True
) -> Scalar:
    """An expression of GROUP BY, HAVING or ORDER BY: ordinals and aliases become expressions."""
    if isinstance(e, Literal) and isinstance(e.value, int) and not isinstance(e.value, bool):
        if not 1 <= e.value <= len(outputs):
            raise UnknownName(
                f"there is no column {e.value} in the SELECT list",
                instead=f"give a number from 1 to {len(outputs)}",
                at=e.at,
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
        if not columns_first and (expr := alias(x)) is not None:
            return expr
        try:
            return env.resolve(x)
        except UnknownName:
            expr = alias(x)
            if expr is None:
                raise
            return expr

    return rewrite(e, rule)


def bind_column(output: Output, factors: list[Expr], used: set[str], env: Env) -> Bound:
    """Bind one column, reusing the variable of a plain one."""
    v = env.value(output.expr)
    factors.extend(v.prefix)
    if isinstance(v.term, Var) and v.term.name not in used:
        if any(v.term.name in outs(f) for f in factors):
            return Bound(output.name, v.term.name, v.type)
    var = env.names.fresh(hint(output.name))
    factors.extend(assign(var, replace(v, prefix=()), env.catalog.functions))
    return Bound(output.name, var, v.type)
