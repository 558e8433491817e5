"""What needs all the rows of its body first: Lift, Exists and Top as loops."""

from __future__ import annotations

from collections.abc import Sequence, Set

from freshview.calculus.check import infer
from freshview.calculus.scope import is_value, outs
from freshview.calculus.terms import Add, Cmp, Expr, Mul, Order, Rel, Top, Var, View
from freshview.calculus.types import INT, Type
from freshview.codegen.layout.terms import Table
from freshview.codegen.loops.effects import (
    Yield,
)
from freshview.codegen.loops.parts import Holds, NotZero, SortKey
from freshview.codegen.loops.terms import (
    Collect,
    FirstOfGroups,
    If,
    Let,
    Scan,
    Stmt,
)
from freshview.codegen.lower.context import ONE, Bound, Count, Local, Names, Next
from freshview.codegen.lower.writer import TermLowering, counted
from freshview.codegen.lower.writes import write_yields
from freshview.errors import NotNative


def lower_lift(
    terms: TermLowering, var: str, body: Expr, env: Bound, m: Count, k: Next
) -> list[Stmt]:
    """A variable bound to the value of a term; the test that it has it, if it is bound."""
    before: list[Stmt] = []
    if is_value(body):
        value, t = terms.value(body, env), terms.type(body, env)
    else:
        definition, total = terms.total(body, env)
        before, value, t = [definition], total.value, total.type
    if var in env:
        test = Holds(Cmp("=", env[var].value, value))
        return [*before, If((test,), tuple(k(env, m)))]
    if is_value(body) and isinstance(body, Var):
        return k({**env, var: env[body.name]}, m)
    name = terms.names.after(var)
    exact = isinstance(body, Add | Mul) or not is_value(body)
    rest = k({**env, var: Local(name, t)}, m)
    return [*before, Let(name, value, exact), *rest]


def lower_exists(terms: TermLowering, body: Expr, env: Bound, m: Count, k: Next) -> list[Stmt]:
    """Each row of a term once, however often it is there."""
    free = sorted(outs(body) - env.keys())
    if isinstance(body, View | Rel):

        def there(b: Bound, n: Count) -> list[Stmt]:
            return [If((NotZero(n.weight[0]),), tuple(k(b, m)))]

        return terms.access(terms.layout.places[body.name], body.vars, env, ONE, there)
    if not free:
        definition, value = terms.total(body, env)
        return [definition, If((NotZero(value.value),), tuple(k(env, m)))]
    collect, rows = materialize(terms, body, free, env)
    return [collect, *release(terms, rows, free, env, lambda b, _: k(b, m))]


def materialize(
    terms: TermLowering, body: Expr, names: Sequence[str], inner: Bound, of: Expr | None = None
) -> tuple[Stmt, Table]:
    """The rows of a term in a transient table; `of` is the sum that it is a part of, if it is one.

    The parts of a sum give its variables values of different types: a NULL alone has none.
    """
    types = infer(of or body, terms.schema, {v: x.type for v, x in inner.items()})[1]
    within = terms.inner()

    def collect(b: Bound, m: Count) -> list[Stmt]:
        return [Yield(tuple(b[v].value for v in names), m.weight)]

    block = within.emit(body, inner, ONE, collect, last=True)
    table = transient(terms.names, tuple(types[v] for v in names), (terms.payload(body, inner),))
    columns = tuple(range(len(names)))
    filled = write_yields(tuple(block), table, 0, columns, "+=", within.names)
    return Collect(table.name, table, filled), table


def transient(names: Names, keys: tuple[Type, ...], payloads: tuple[Type, ...]) -> Table:
    """A table that lives while a statement runs."""
    return Table(names.fresh("tmp"), keys, payloads, transient=True)


def columns_of(row: str, table: Table) -> list[Local]:
    """The key columns of a row of a table."""
    return [Local(f"{row}.k{i}", t) for i, t in enumerate(table.keys)]


def release(
    terms: TermLowering, table: Table, names: Sequence[str], env: Bound, k: Next
) -> list[Stmt]:
    """The rows of a transient table, each once; `k` is told its number."""
    row = terms.names.fresh("row")
    number = Count().times(Var(f"{row}.p0"), table.payloads[0])
    return [Scan(row, table.name, tuple(terms.bind(names, columns_of(row, table), env, number, k)))]


def lower_materialized(terms: TermLowering, e: Expr, env: Bound, m: Count, k: Next) -> list[Stmt]:
    """The rows of a term in a transient table first: what follows is written once."""
    free = sorted(outs(e) - env.keys())
    if not free:
        definition, value = terms.total(e, env)
        return [definition, If((NotZero(value.value),), tuple(k(env, counted(m, value))))]
    collect, rows = materialize(terms, e, free, env)
    t = rows.payloads[0]

    def go_on(b: Bound, n: Count) -> list[Stmt]:
        return k(b, m.times(n.weight[0], t))

    return [collect, *release(terms, rows, free, env, go_on)]


def lower_top(terms: TermLowering, e: Top, env: Bound, m: Count, k: Next) -> list[Stmt]:
    """The first rows of each group, by the order."""
    inner = terms.inside(e.keys, e.body, env)
    names = sorted(outs(e.body) - inner.keys())
    collect, rows = materialize(terms, e.body, names, inner)
    if rows.payloads[0].kind != "int":
        raise NotNative("rows that are not counted by whole numbers have no first one")
    return [collect, *first_of_groups(terms, e, rows, names, env, m, k)]


def first_of_groups(
    terms: TermLowering, e: Top, rows: Table, names: list[str], env: Bound, m: Count, k: Next
) -> list[Stmt]:
    """The first rows of each group of a transient table."""
    at = {v: i for i, v in enumerate(names)}
    groups = tuple(at[v] for v in e.keys if v in at)
    order = tuple(
        SortKey(at[o.var], o.descending, o.nulls_first) for o in total_order(e.order, at.keys())
    )
    row = terms.names.fresh("row")
    # A variable that is bound outside, but is not a key, is tested after the choice.
    count = m.times(Var(f"{row}.n"), INT)
    body = terms.bind(names, columns_of(row, rows), env, count, k)
    return [FirstOfGroups(row, rows.name, groups, order, e.limit, tuple(body))]


def total_order(order: Sequence[Order], names: Set[str]) -> tuple[Order, ...]:
    """An order of variables; ties are broken by those that it does not name, NULL first."""
    ordered = dict.fromkeys(o.var for o in order if o.var in names)
    rest = [Order(v, nulls_first=True) for v in sorted(names - ordered.keys())]
    return (*(next(o for o in order if o.var == v) for v in ordered), *rest)
