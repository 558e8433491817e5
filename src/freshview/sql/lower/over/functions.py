"""Window functions by name: numbers of rows before, first rows of a frame, and aggregates of it."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.build import NULL, ONE, add, mul, sub, sum_
from freshview.calculus.terms import Expr, Lift, Var
from freshview.calculus.types import DOUBLE, INT, Type, common
from freshview.calculus.walk import freshen
from freshview.errors import UnsupportedSql
from freshview.sql.lower.aggregates.aggregate import aggregate
from freshview.sql.lower.over.frames import framed
from freshview.sql.lower.over.ordering import Key, backwards, before, up_to
from freshview.sql.lower.over.partition import Partition
from freshview.sql.lower.products import assign, no_row, product
from freshview.sql.lower.scope import Scope
from freshview.sql.lower.val import Val, not_null
from freshview.sql.lower.values.coerce import coerce
from freshview.sql.terms import Aggregate, Arith, Call, Case, Compare, Literal, Ref, Scalar

RANKS = ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile")
NEIGHBOURS = ("lag", "lead")
PICKS = ("first", "first_value", "last", "last_value", "nth_value")


def window_value(p: Partition) -> Val:
    """What a window function is worth in a row."""
    fn = p.over.fn
    if fn in (*RANKS, *NEIGHBOURS):
        if not p.over.order:
            raise UnsupportedSql(
                f"{fn.upper()} without ORDER BY is not supported", instead="say what comes first"
            )
        if p.over.frame is not None and fn not in ("row_number", "rank", "dense_rank"):
            raise UnsupportedSql(f"{fn.upper()} has no frame", instead="leave it out")
        return rank(p) if fn in RANKS else neighbour(p)
    if p.over.ignore_nulls and fn not in PICKS:
        raise UnsupportedSql("IGNORE NULLS here is not supported", instead="leave it out")
    if fn in PICKS:
        return pick(p)
    frame = framed(p)
    group = p.group(frame.rows, may_be_empty=not frame.has_own)
    return aggregate(Aggregate(fn, p.args, p.over.distinct, p.over.at), group)


# -- ranks ----------------------------------------------------------------------------------------


def rank(p: Partition) -> Val:
    """Numbers of rows before a row, or of all of them."""
    count = _Counts(p)
    match p.over.fn:
        case "row_number":
            return count.of(Arith("+", count.rows(before(p.total)), _int(1)))
        case "rank":
            return count.of(Arith("+", count.rows(before(p.order)), _int(1)))
        case "dense_rank":
            return count.of(Arith("+", count.values(before(p.order)), _int(1)))
        case "percent_rank":
            less = Arith("-", count.rows(ONE), _int(1))
            share = Arith("/", count.rows(before(p.order)), less)
            return count.of(Call("coalesce", (share, Literal(0.0, DOUBLE))))
        case "cume_dist":
            return count.of(Arith("/", count.rows(up_to(p.order)), count.rows(ONE)), total=True)
    return _tile(p, count)


def _tile(p: Partition, count: _Counts) -> Val:
    """NTILE(k): the first n % k of k parts have a row more than the others."""
    (parts,) = p.own
    if not isinstance(parts, Literal) or type(parts.value) is not int or parts.value < 1:
        raise UnsupportedSql("this NTILE is not supported", instead="give it a whole number from 1")
    row, n = count.rows(before(p.total)), count.rows(ONE)
    size = count.let(Call("floor", (Arith("/", n, parts),)))
    longer = count.let(Arith("-", n, Arith("*", size, parts)))
    first = Arith("*", longer, Arith("+", size, _int(1)))
    among_longer = Call("floor", (Arith("/", row, Arith("+", size, _int(1))),))
    behind = Call("floor", (Arith("/", Arith("-", row, first), size),))
    tile = Case(((Compare("<", row, first), among_longer),), Arith("+", longer, behind))
    return count.of(Arith("+", tile, _int(1)), total=True)


class _Counts:
    """Numbers of rows under variables, and what is computed of them."""

    def __init__(self, p: Partition) -> None:
        self.p = p
        self.env = replace(p.env, scope=Scope(), known={})
        self.prefix: tuple[Expr, ...] = ()

    def rows(self, test: Expr) -> Ref:
        """How many rows meet a test."""
        return self._count(self.p.group(self.p.where(test), may_be_empty=True).total())

    def values(self, test: Expr) -> Ref:
        """How many different values of ORDER BY meet a test."""
        values = mul(self.p.values(), test)
        return self._count(self.p.group(values, may_be_empty=True).total())

    def let(self, e: Scalar) -> Ref:
        """The value of an expression that is never NULL."""
        v = self.env.value(e)
        var = self.env.names.fresh("part")
        self.prefix += assign(var, v, self.env.catalog.functions)
        return Ref(var, v.type.not_null())

    def of(self, e: Scalar, *, total: bool = False) -> Val:
        """The value of an expression of what was counted; `total`: it is never NULL."""
        if total:
            ref = self.let(e)
            return Val(Var(ref.var), ref.type, self.prefix)
        v = self.env.value(e)
        return replace(v, prefix=(*self.prefix, *v.prefix))

    def _count(self, term: Expr) -> Ref:
        var = self.env.names.fresh("rank")
        self.prefix += (Lift(var, term),)
        return Ref(var, INT)


def _int(n: int) -> Literal:
    return Literal(n, INT)


# -- values of other rows -------------------------------------------------------------------------


def neighbour(p: Partition) -> Val:
    """LAG and LEAD: the value so many rows before or behind, else a default."""
    offset = p.own[1] if len(p.own) > 1 else _int(1)
    if not isinstance(offset, Literal) or type(offset.value) is not int or offset.value < 0:
        raise UnsupportedSql(
            f"this offset of {p.over.fn.upper()} is not supported",
            instead="give it a whole number from 0",
        )
    away = backwards(p.total) if p.over.fn == "lag" else p.total
    value = p.inner.value(p.args[0])
    if not offset.value:
        return p.env.value(p.own[0])
    default = p.env.value(p.own[2]) if len(p.own) > 2 else None
    rows = p.where(before(backwards(away)), *_seen(p, value))
    return _at(p, rows, away, offset.value, value, default)


def pick(p: Partition) -> Val:
    """FIRST_VALUE, LAST_VALUE and NTH_VALUE: of the rows of the frame in their order."""
    frame = framed(p)
    value = p.inner.value(p.args[0])
    position = 1
    if p.over.fn == "nth_value":
        asked = p.own[1]
        if not isinstance(asked, Literal) or type(asked.value) is not int or asked.value < 1:
            raise UnsupportedSql(
                "this position of NTH_VALUE is not supported", instead="give a whole number from 1"
            )
        position = asked.value
    keys = _every_key(p)
    away = backwards(keys) if p.over.fn.startswith("last") else keys
    rows = product(frame.rows, *_seen(p, value))
    sure = frame.has_own and position == 1 and not p.over.ignore_nulls
    return _at(p, rows, away, position, value, None, sure=sure)


def _every_key(p: Partition) -> tuple[Key, ...]:
    """ORDER BY, then what tells rows apart, then the value itself."""
    known = p.every_key
    seen = {k.other for k in known}
    own = [r for r in p.args if isinstance(r, Ref) and r.var in p.read and r.var not in seen]
    return (*known, *(Key("", r.var, r.type) for r in own))


def _seen(p: Partition, value: Val) -> tuple[Expr, ...]:
    return value.present if p.over.ignore_nulls else ()


def _at(
    p: Partition,
    rows: Expr,
    away: tuple[Key, ...],
    position: int,
    value: Val,
    default: Val | None,
    *,
    sure: bool = False,
) -> Val:
    """The value of one of some rows: the first ones less those before it."""
    names = p.env.names
    var = names.fresh(p.over.fn)
    t = value.type if default is None else common(value.type, default.type)
    chosen = p.first(rows, away, position)
    if position > 1:
        chosen = sub(chosen, freshen(p.first(rows, away, position - 1), names))
    own = assign(var, coerce(value, t), p.env.catalog.functions)
    there = freshen(sum_((*p.keys, var), product(chosen, *own)), names)
    if sure:
        return _held(var, t, there, there)
    nothing = no_row(freshen(sum_(p.keys, chosen), names), names)
    other: tuple[Expr, ...] = (Lift(var, NULL),)
    if default is not None:
        other = assign(var, coerce(default, t), p.env.catalog.functions)
    never_null = default is not None and not default.nulls
    whole = add(freshen(there, names), sum_((var,), mul(nothing, *other)))
    return _held(var, t if never_null else t.or_null(), whole, whole if default else there)


def _held(var: str, t: Type, whole: Expr, there: Expr) -> Val:
    """A variable that a term binds, with its values that are not NULL."""
    if not t.nullable:
        return Val(Var(var), t, (whole,))
    return Val(Var(var), t, (whole,), (var,), (there, not_null(var)))
