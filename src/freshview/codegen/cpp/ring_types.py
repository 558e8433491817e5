"""Payloads that are not numbers, as kernels hold them: cofactors, and rings of C++ headers.

In a program the payload of a cofactor is of type `ring(Cofactor)`, whatever its variables. A kernel
knows the variables of each map and term, and has a type for every set of them
(`native/cofactor.hpp`; with categorical ones, `native/categorical.hpp`). What a header declares is
taken as it is (`native/element.hpp`). Read out, a payload is as many columns as it has numbers; one
with categories takes a row more for each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import isqrt
from types import MappingProxyType

from freshview.algebra import Cofactor
from freshview.algebra.cofactor import Amount, Block
from freshview.calculus.check import Schema, all_types, value_type
from freshview.calculus.functions import CppRing
from freshview.calculus.schema import Column
from freshview.calculus.terms import Apply, Cmp, Const, Exists, Expr, Lift, Var, View
from freshview.calculus.types import DOUBLE, INT, Type
from freshview.calculus.walk import children, subterms
from freshview.errors import NotNative
from freshview.program.terms import Program

MOST_CATEGORIES = 127
NONE: Mapping[str, Type] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RingType(Type, ABC):
    """The elements of a ring, as a kernel knows them."""

    @property
    @abstractmethod
    def cpp_type(self) -> str:
        """The C++ type."""

    @property
    def zero(self) -> str:
        """What a new element starts with."""
        return "{}"

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers an element has."""

    @property
    def width(self) -> int:
        """How many columns an element is read as."""
        return self.size


@dataclass(frozen=True, slots=True)
class HeaderType(RingType):
    """The elements of a ring that a C++ header declares."""

    members: tuple[tuple[str, Type], ...] = ()
    scaled: bool = False

    @property
    def cpp_type(self) -> str:
        """The C++ type."""
        return f"Element<::{self.ring}>"

    @property
    def zero(self) -> str:
        """What a new element starts with."""
        return f"{{zero_of<::{self.ring}>()}}"

    @property
    def size(self) -> int:
        """How many numbers an element has."""
        return len(self.members)


def header_type(ring: CppRing) -> HeaderType:
    """The type of the elements of a ring in C++."""
    if not ring.members:
        raise NotNative(f"no number of the ring {ring.name} of '{ring.path}' is public and plain")
    return HeaderType("ring", ring=ring.name, members=ring.members, scaled=ring.scaled)


@dataclass(frozen=True, slots=True)
class CofactorType(RingType):
    """The cofactors of a set of variables, continuous and categorical ones."""

    slots: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()

    @property
    def cpp_type(self) -> str:
        """The C++ type."""
        return f"{'Mixed' if self.categories else 'Cofactor'}<{self.mask}>"

    @property
    def mask(self) -> str:
        """The set of the continuous variables."""
        return "|".join(map(bit, sorted(self.slots))) or "0"

    @property
    def size(self) -> int:
        """How many numbers an element has, but for those of categories."""
        n = len(self.slots)
        return 1 + n + n * (n + 1) // 2

    @property
    def width(self) -> int:
        """How many columns an element is read as: those of `entry`, too."""
        return self.size + (2 + len(self.categories) if self.categories else 0)

    def with_(self, other: CofactorType) -> CofactorType:
        """The type of products with elements of another one."""
        twice = self.categories & other.categories
        if twice:
            raise NotNative(f"'{min(twice)}' is lifted twice, which the reference engine keeps")
        return cofactor_type(self.slots | other.slots, self.categories | other.categories)


def cofactor_type(slots: Iterable[str], categories: Iterable[str] = ()) -> CofactorType:
    """The type of cofactors of some variables."""
    return CofactorType(
        "ring", ring="Cofactor", slots=frozenset(slots), categories=frozenset(categories)
    )


def bit(slot: str) -> str:
    """The constant of a variable in a kernel."""
    plain = "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in slot)
    return f"X_{plain}"


def _number(_: str) -> Type:
    return INT


def number(category: str) -> str:
    """The constant of a categorical variable in a kernel."""
    return f"C{bit(category)[1:]}"


def cofactors(
    e: Expr, view: Callable[[str], Type] = _number, var: Callable[[str], Type] = _number
) -> CofactorType:
    """The type of a term's payload; the types of views and bound variables others know."""
    match e:
        case Apply(_, _, "Cofactor"):
            return lifted(e)
        case View(name):
            t = view(name)
        case Var(name):
            t = var(name)
        case Lift() | Exists() | Cmp() | Apply() | Const():
            return cofactor_type(())
        case _:
            parts = [cofactors(c, view, var) for c in children(e)]
            slots = frozenset[str]().union(*(p.slots for p in parts))
            return cofactor_type(slots, frozenset[str]().union(*(p.categories for p in parts)))
    return t if isinstance(t, CofactorType) else cofactor_type(())


def lifted(e: Apply) -> CofactorType:
    """The type of a lifted variable."""
    if e.fn not in ("cofactor", "onehot") or not isinstance(e.args[0], Const):
        raise NotNative(f"[{e.fn}: {e.ring}] is computed by the reference engine only")
    name = [str(e.args[0].value)]
    return cofactor_type((), name) if e.fn == "onehot" else cofactor_type(name)


def categories(program: Program, schema: Schema) -> dict[str, Type]:
    """The categorical variables of a program, in order, and the types of their values."""
    types_by_name: dict[str, Type] = {}
    for e in (*(m.definition for m in program.maps), *(q.term for q in program.queries)):
        lifts = [x for x in subterms(e) if isinstance(x, Apply) and x.fn == "onehot"]
        types = all_types(e, schema) if lifts else {}
        for x in lifts:
            [name] = lifted(x).categories
            types_by_name[name] = value_type(x.args[1], schema, types).not_null()
    if len(types_by_name) > MOST_CATEGORIES:
        raise NotNative(
            f"{len(types_by_name)} categorical variables are kept by the reference engine only"
        )
    return dict(sorted(types_by_name.items()))


def numbered(sets: Iterable[frozenset[str]]) -> list[str]:
    """The variables of a program, those of a small view next to each other.

    >>> numbered([frozenset("abc"), frozenset("c"), frozenset("ca")])
    ['c', 'a', 'b']
    """
    out: dict[str, None] = {}
    for names in sorted(sets, key=lambda s: (len(s), sorted(s))):
        out.update(dict.fromkeys(sorted(names)))
    if len(out) > 64:
        raise NotNative(f"a cofactor of {len(out)} variables is kept by the reference engine only")
    return list(out)


def flat(
    column: Column, t: Type, order: Sequence[str], categories: Mapping[str, Type] = NONE
) -> list[Column]:
    """A column as a kernel puts it out: the numbers of a payload one by one.

    >>> [c.name for c in flat(Column("p", DOUBLE), cofactor_type("yx"), "xyz")]
    ['p[]', 'p[x]', 'p[y]', 'p[x, x]', 'p[x, y]', 'p[y, y]']
    """
    if isinstance(t, HeaderType):
        return [Column(f"{column.name}.{member}", kind) for member, kind in t.members]
    if not isinstance(t, CofactorType):
        return [column]
    names = [s for s in order if s in t.slots]
    pairs = [f"{a}, {b}" for i, a in enumerate(names) for b in names[i:]]
    numbers = [Column(f"{column.name}[{inside}]", DOUBLE) for inside in ("", *names, *pairs)]
    if not t.categories:
        return numbers
    return [*numbers, *(Column(f"{column.name}{c.name}", c.type) for c in entry(t, categories))]


def entry(t: CofactorType, categories: Mapping[str, Type]) -> list[Column]:
    """What tells an entry: the other variable, how much, and the values of categorical ones.

    The other variable is a continuous one, by its place from 1 on, or none, 0.
    """
    values = [Column(f"{{{c}}}", categories[c].or_null()) for c in sorted(t.categories)]
    return [Column("{}", INT), Column("{sum}", DOUBLE), *values]


def read_cofactor(names: Sequence[str], values: Sequence[float]) -> Cofactor:
    """A payload from its numbers and the names of their columns.

    >>> read_cofactor(["p[]", "p[x]", "p[x, x]"], [2.0, 4.0, 10.0])
    Cofactor(2, {'x': 4.0}, {('x', 'x'): 10.0})
    """
    n = (isqrt(8 * len(values) + 1) - 3) // 2
    slots = [name[name.rindex("[") + 1 : -1] for name in names[1 : n + 1]]
    products: dict[Block, Amount] = dict(
        zip(combinations_with_replacement(slots, 2), values[n + 1 :], strict=True)
    )
    return Cofactor(round(values[0]), dict(zip(slots, values[1 : n + 1], strict=True)), products)
