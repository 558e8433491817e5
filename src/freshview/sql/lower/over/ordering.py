"""The order of two rows of a partition, as terms that hold or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from freshview.calculus.build import ONE, add, mul
from freshview.calculus.terms import Cmp, Expr, Op, Order, Var
from freshview.calculus.types import Type
from freshview.sql.lower.val import is_null, not_null


@dataclass(frozen=True)
class Key:
    """One key of an order: the variables that hold it in the row at hand and in another row."""

    own: str
    other: str
    type: Type
    descending: bool = False
    nulls_first: bool = True

    @property
    def reversed(self) -> Key:
        """The same key from its last value to its first one."""
        return replace(self, descending=not self.descending, nulls_first=not self.nulls_first)

    @property
    def order(self) -> Order:
        """The order of other rows by this key."""
        return Order(self.other, self.descending, self.nulls_first)


Keys = Sequence[Key]


def backwards(keys: Keys) -> tuple[Key, ...]:
    """The order turned around."""
    return tuple(k.reversed for k in keys)


def same(keys: Keys) -> Expr:
    """The other row is equal by all keys; NULL equals NULL."""
    return mul(*(Cmp("=", Var(k.other), Var(k.own)) for k in keys))


def before(keys: Keys) -> Expr:
    """The other row comes before the row at hand."""
    return _lexicographic(keys, last=_before)


def up_to(keys: Keys) -> Expr:
    """The other row comes before the row at hand, or is equal to it."""
    return _lexicographic(keys, last=_up_to) if keys else ONE


def apart(keys: Keys) -> Expr:
    """The other row is not equal by all keys."""
    return add(before(keys), before(backwards(keys)))


def _lexicographic(keys: Keys, last: Callable[[Key], Expr]) -> Expr:
    """Disjoint cases: equal by some keys, and decided by the next one."""
    end = len(keys) - 1
    cases = ((last if i == end else _before)(key) for i, key in enumerate(keys))
    return add(*(mul(same(keys[:i]), case) for i, case in enumerate(cases)))


def _before(key: Key) -> Expr:
    op: Op = ">" if key.descending else "<"
    test = Cmp(op, Var(key.other), Var(key.own))
    if not key.type.nullable:
        return test
    first, second = (key.other, key.own) if key.nulls_first else (key.own, key.other)
    return add(test, mul(is_null(first), not_null(second)))


def _up_to(key: Key) -> Expr:
    op: Op = ">=" if key.descending else "<="
    test = Cmp(op, Var(key.other), Var(key.own))
    if not key.type.nullable:
        return test
    return add(test, is_null(key.other if key.nulls_first else key.own))
