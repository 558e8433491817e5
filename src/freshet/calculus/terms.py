"""The ring calculus on one screen: what a query is, before and after every pass.

A term denotes a generalized multiset relation: a finite map from valuations of its output
variables to numbers. Input variables must be given by the context. In a product, bindings flow
from left to right. SQL NULL is the value None: `=` is identity (None = None holds), the order
comparisons are false on None, and None counts as 0 where a number is asked for; three-valued
logic is settled before, in the translation from SQL.

Hygiene: a variable that a `Sum` adds up over is local to it, and no two binders share a name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from freshet.calculus.types import Type, Value

Op = Literal["=", "<>", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Const:
    """A number, string, date ... or NULL; `type` tells 1 from 1.00 and from true."""

    value: Value
    type: Type


@dataclass(frozen=True, slots=True)
class Var:
    """The value of a bound variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """A scalar function of values; `functions.py` knows its meaning and its type."""

    fn: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Cmp:
    """1 if the comparison of two values holds, else 0."""

    op: Op
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Rel:
    """R(x, y): the rows of a base relation, columns renamed to variables."""

    name: str
    vars: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delta:
    """(DELTA R)(x, y): the rows of the batch that updates R, deletions negative."""

    name: str
    vars: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    """M[x, y]: the entries of a materialized map; `inputs` are the keys of a view cache."""

    name: str
    vars: tuple[str, ...]
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Add:
    """Union: multiplicities add up."""

    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Mul:
    """Natural join: multiplicities multiply; binds left to right. -Q is (-1) * Q."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """Group by `keys`, adding up over all the other variables that the body binds."""

    keys: tuple[str, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class Lift:
    """x := q: binds (or, if bound, tests) x to the value of q, with multiplicity 1.

    Every output variable of q must be bound by the context: q is one number there, 0 if it has
    no row. A body without relations is a value and may be a string, a date or NULL as well.
    """

    var: str
    body: Expr


@dataclass(frozen=True, slots=True)
class Exists:
    """1 for every row of q that is there, whatever its multiplicity."""

    body: Expr


@dataclass(frozen=True, slots=True)
class Order:
    """One key of an ordering; `nulls_first` places NULL."""

    var: str
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Top:
    """Per valuation of `keys`, the first `limit` rows of q by `order`: MIN, MAX, ORDER BY LIMIT.

    Ties are broken by the remaining variables in the order of their names.
    """

    keys: tuple[str, ...]
    order: tuple[Order, ...]
    limit: int
    body: Expr


Expr: TypeAlias = (
    Const | Var | Apply | Cmp | Rel | Delta | View | Add | Mul | Sum | Lift | Exists | Top
)

Nested: TypeAlias = Lift | Exists | Top
"""The nodes that are not linear: the delta of each is new minus old."""
