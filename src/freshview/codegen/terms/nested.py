"""What needs all the rows of its body first: Lift, Exists and Top as code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from freshview.calculus.check import infer
from freshview.calculus.scope import is_value, outs
from freshview.calculus.terms import Add, Expr, Mul, Order, Rel, Top, View
from freshview.calculus.types import INT
from freshview.codegen.cpp.arithmetic import times
from freshview.codegen.cpp.code import Spot, detached
from freshview.codegen.cpp.compare import compare
from freshview.codegen.cpp.types import Cpp, cpp_type, nearest_double
from freshview.codegen.layout.storage import MapPlace, Storage
from freshview.codegen.terms.context import ONE, Bound, Next
from freshview.codegen.terms.writer import TermWriter
from freshview.errors import NotNative


def emit_lift(
    terms: TermWriter, var: str, body: Expr, spot: Spot, env: Bound, m: Cpp, k: Next
) -> None:
    """A variable bound to the value of a term; the test that it has it, if it is bound."""
    value = terms.value(body, env) if is_value(body) else None
    if value is None:
        value, spot = terms.total(body, spot, env)
        value = nearest_double(value)
    if var in env:
        test = compare("=", env[var], value)
        _, spot = spot.open(("if", test), "", f"if ({test}) {{")
        k(spot, env, m)
        return
    computed = isinstance(body, Add | Mul) or not is_value(body)
    if computed and value.cpp_type == "i64" and not value.nullable:
        value = Cpp(f"known(o, {value.text})", value.type, value.cpp_type)
    if not value.text.replace("_", "").isalnum():
        opener = f"const {value.cpp_type} @ = {value.text};"
        name, spot = spot.let(("let", value.text), "x", opener)
        value = Cpp(name, value.type, value.cpp_type)
    k(spot, {**env, var: value}, m)


def emit_exists(terms: TermWriter, body: Expr, spot: Spot, env: Bound, m: Cpp, k: Next) -> None:
    """Each row of a term once, however often it is there."""
    free = sorted(outs(body) - env.keys())
    if isinstance(body, View | Rel):
        there = terms.places[body.name]
        terms.access(there, body.vars, spot, env, ONE, _if_there(m, k))
        return
    if not free:
        value, spot = terms.total(body, spot, env)
        _, spot = spot.open(("there", value.text), "", f"if ({value.text} != 0) {{")
        k(spot, env, m)
        return
    rows, spot = materialize(terms, body, free, env, spot)
    _release(terms, rows, free, spot, env, m, k)


def materialize(
    terms: TermWriter, body: Expr, names: list[str], inner: Bound, spot: Spot
) -> tuple[Storage, Spot]:
    """The rows of a term in a transient table."""
    payload = terms.payload(body, inner)
    types = infer(body, terms.schema, {v: x.type for v, x in inner.items()})[1]
    rows = Storage(
        f"tmp{len(terms.transients)}", tuple(types[v] for v in names), [payload], transient=True
    )
    terms.transients.append(rows)
    place = MapPlace(rows, 0, tuple(range(len(names))))
    inside = detached(spot)

    def collect(s: Spot, b: Bound, m: Cpp) -> None:
        terms.write(place, [b[v] for v in names], s, m)

    terms.emit(body, Spot(inside), inner, ONE, collect, last=True)
    _, spot = spot.computed("", f"{rows.table} {rows.name}{{}};", inside)
    return rows, spot


def _release(
    terms: TermWriter,
    rows: Storage,
    names: list[str],
    spot: Spot,
    env: Bound,
    m: Cpp,
    k: Next,
    count: Callable[[str], Cpp] | None = None,
) -> None:
    """The rows of a transient table, each once, or as often as `count` says."""
    opener = f"{rows.name}.each(e.scratch, [&](const {rows.record}& @) {{"
    r, spot = spot.open(("scan", rows.name), "r", opener, "});")
    columns = [Cpp(f"{r}.k{i}", t, cpp_type(t)) for i, t in enumerate(rows.keys)]
    terms.bind(tuple(names), columns, spot, env, m if count is None else times(m, count(r)), k)


def emit_materialized(terms: TermWriter, e: Expr, spot: Spot, env: Bound, m: Cpp, k: Next) -> None:
    """The rows of a term in a transient table first: what follows is written once."""
    free = sorted(outs(e) - env.keys())
    if not free:
        value, spot = terms.total(e, spot, env)
        _, spot = spot.open(("there", value.text), "", f"if ({value.text} != 0) {{")
        k(spot, env, times(m, value))
        return
    copies, terms.copies = terms.copies, 1
    rows, spot = materialize(terms, e, free, env, spot)
    terms.copies = copies
    t = rows.payloads[0]
    _release(terms, rows, free, spot, env, m, k, lambda r: Cpp(f"{r}.p0", t, cpp_type(t)))


def emit_top(terms: TermWriter, e: Top, spot: Spot, env: Bound, m: Cpp, k: Next) -> None:
    """The first rows of each group, by the order."""
    inner = terms.inside(e.keys, e.body, env)
    names = sorted(outs(e.body) - inner.keys())
    rows, spot = materialize(terms, e.body, names, inner, spot)
    if rows.payloads[0].kind != "int":
        raise NotNative("rows that are not counted by whole numbers have no first one")
    emit_first_of_groups(terms, e, rows, names, spot, env, m, k)


def emit_first_of_groups(
    terms: TermWriter,
    e: Top,
    rows: Storage,
    names: list[str],
    spot: Spot,
    env: Bound,
    m: Cpp,
    k: Next,
) -> None:
    """The first rows of each group of a transient table."""
    at = {v: i for i, v in enumerate(names)}
    groups = [v for v in e.keys if v in at]
    first = [Order(v, nulls_first=True) for v in groups]
    less = _less([*first, *total_order(e.order, at.keys())], at, rows)
    same = " && ".join(f"same(a.k{at[v]}, b.k{at[v]})" for v in groups) or "true"
    opener = (
        f"top(e.scratch, {rows.name}, {e.limit}, "
        f"[&](const {rows.record}& a, const {rows.record}& b) {{ {less} }}, "
        f"[&](const {rows.record}& a, const {rows.record}& b) {{ "
        f"(void)a, (void)b; return {same}; }}, "
        f"[&](const {rows.record}& @, i64 n@) {{"
    )
    r, spot = spot.open(("top", rows.name), "r", opener, "});")
    columns = [Cpp(f"{r}.k{i}", t, cpp_type(t)) for i, t in enumerate(rows.keys)]
    # A variable that is bound outside, but is no key, is tested after the choice.
    terms.bind(tuple(names), columns, spot, env, times(m, Cpp(f"n{r}", INT, "i64")), k)


def total_order(order: Sequence[Order], names: Set[str]) -> tuple[Order, ...]:
    """An order of variables; ties are broken by those that it does not name, NULL first."""
    ordered = dict.fromkeys(o.var for o in order if o.var in names)
    rest = [Order(v, nulls_first=True) for v in sorted(names - ordered.keys())]
    return (*(next(o for o in order if o.var == v) for v in ordered), *rest)


def _less(order: list[Order], at: Mapping[str, int], rows: Storage) -> str:
    tests = []
    for o in order:
        t = rows.keys[at[o.var]]
        a, b = f"a.k{at[o.var]}", f"b.k{at[o.var]}"
        if t.nullable:
            here, there = ("a", "b") if o.nulls_first else ("b", "a")
            tests.append(
                f"if (is_null({a}) != is_null({b})) "
                f"return is_null({here}.k{at[o.var]}); (void){there};"
            )
        sign = ">" if o.descending else "<"
        if t.kind == "string":
            both = f"text_compare(text(e, {a}), text(e, {b}))"
            guard = f"!is_null({a}) && " if t.nullable else ""
            tests.append(f"if ({guard}{a} != {b}) return {both} {sign} 0;")
        else:
            tests.append(f"if (!same({a}, {b})) return {a} {sign} {b};")
    return " ".join([*tests, "return false;"])


def _if_there(m: Cpp, k: Next) -> Next:
    """A row counts once, if its number is not zero."""

    def there(spot: Spot, env: Bound, n: Cpp) -> None:
        _, spot = spot.open(("there", n.text), "", f"if ({n.text} != 0) {{")
        k(spot, env, m)

    return there
