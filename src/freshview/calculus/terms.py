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
from threading import Lock
from typing import Any, ClassVar, Literal, TypeAlias
from weakref import WeakValueDictionary

from freshview.calculus.types import Type, Value

Op = Literal["=", "<>", "<", "<=", ">", ">="]


class Interned(type):
    """Makes equal terms one object: comparing terms, and looking them up, costs nothing."""

    known: ClassVar[WeakValueDictionary[tuple[object, ...], Any]] = WeakValueDictionary()
    lock: ClassVar[Lock] = Lock()

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """The node of this kind and these parts: the known one, or a new one."""
        interned = None if kwargs else Interned.known.get((cls, *args))
        if interned is not None:
            return interned
        new = super().__call__(*args, **kwargs)
        with Interned.lock:
            return Interned.known.setdefault((cls, *new.parts()), new)


class TermNode(metaclass=Interned):
    """What all terms share; equality is identity, since equal terms are one object."""

    __slots__ = ("__weakref__",)
    __match_args__: ClassVar[tuple[str, ...]]

    def parts(self) -> tuple[object, ...]:
        """The values of the fields, in order."""
        return tuple([getattr(self, name) for name in self.__match_args__])

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), self.parts()


@dataclass(frozen=True, slots=True, eq=False)
class Const(TermNode):
    """A number, string, date ... or NULL; `type` tells 1 from 1.00 and from true."""

    value: Value
    type: Type


@dataclass(frozen=True, slots=True, eq=False)
class Var(TermNode):
    """The value of a bound variable."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Apply(TermNode):
    """A function of values; `functions.py` knows its meaning and its type.

    `ring` names the ring that a lifting function answers in; without it the answer is a scalar.
    """

    fn: str
    args: tuple[Expr, ...]
    ring: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Cmp(TermNode):
    """1 if the comparison of two values holds, else 0."""

    op: Op
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Rel(TermNode):
    """R(x, y): the rows of a base relation, columns renamed to variables."""

    name: str
    vars: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Delta(TermNode):
    """(DELTA R)(x, y): the rows of the batch that updates R, deletions negative."""

    name: str
    vars: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class View(TermNode):
    """M[x, y]: the entries of a materialized map; `inputs` are the keys of a view cache."""

    name: str
    vars: tuple[str, ...]
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Add(TermNode):
    """Union: multiplicities add up."""

    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Mul(TermNode):
    """Natural join: multiplicities multiply; binds left to right. -Q is (-1) * Q."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sum(TermNode):
    """Group by `keys`, adding up over all the other variables that the body binds."""

    keys: tuple[str, ...]
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Lift(TermNode):
    """x := q: binds (or, if bound, tests) x to the value of q, with multiplicity 1.

    Every output variable of q must be bound by the context: q is one number there, 0 if it has
    no row. A body without relations is a value and may be a string, a date or NULL as well.
    """

    var: str
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Exists(TermNode):
    """1 for every row of q that is there, whatever its multiplicity."""

    body: Expr


@dataclass(frozen=True, slots=True)
class Order:
    """One key of an ordering; `nulls_first` places NULL."""

    var: str
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Top(TermNode):
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
