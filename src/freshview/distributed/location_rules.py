"""Location rules: the location of a term's value from those of its parts.

Every node evaluates the same term over its own rows. A tag describes the result, for a valuation of
the variables that the context binds:

    Everywhere, Replicated   each node has the whole value
    Dist(k)                  the worker named by k has the value, all the others have nothing
    PartitionLocal(k)        the worker named by k has it, what the others have means nothing
    Slice(k, axis, shape)    the workers of the line of a grid that k names have the value
    Random                   the values of all the workers add up to it
    Local                    the driver has it

A rule returns the tag of the whole, or None if the parts must be moved first. Nikolic 2016 requires
equal tags in unions and joins; these rules permit some more, and refuse what it overlooks: a
partial sum is not a value yet, so no nonlinear term may read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Expr
from freshview.distributed.terms import (
    Dist,
    Everywhere,
    Local,
    Location,
    Random,
    Replicated,
    Slice,
)


@dataclass(frozen=True, slots=True)
class PartitionLocal:
    """Right on the worker that the keys name, meaningless elsewhere.

    Such is the value of an assignment (x := M[k]), which is 0 where M has no row, or of M[k] + 1:
    fine beside a factor that leaves only the k of the worker.
    """

    keys: tuple[str, ...]


Tag: TypeAlias = Location | PartitionLocal


def join(left: Tag, right: Tag) -> Tag | None:
    """The tag of a product.

    >>> join(Random(), Replicated()), join(Dist(("a",)), PartitionLocal(("a",)))
    (Random(whole=False), Dist(keys=('a',)))
    >>> join(Dist(("a",)), Dist(("b",))) is None, join(Random(), Random()) is None
    (True, True)
    >>> join(Slice(("a",), "rows", (2, 3)), Slice(("b",), "columns", (2, 3)))
    Random(whole=False)
    """
    match left, right:
        case (Everywhere(), other) | (other, Everywhere()):
            return other
        case Local(), Local():
            return left
        case (Local(), _) | (_, Local()):
            return None
        case (Replicated(), other) | (other, Replicated()):
            return other
        case Slice(a, axis, shape), Slice(b, other_axis, other_shape) if shape == other_shape:
            if axis != other_axis:
                return Random()  # each pair of rows meets on one worker, where the lines cross
            return left if a and a == b else None
        case Dist(a) | PartitionLocal(a), Dist(b) | PartitionLocal(b) if a == b:
            return right if isinstance(left, PartitionLocal) else left
        case _:
            return None


def union(tags: Sequence[Tag]) -> Tag | None:
    """The tag of a sum of terms; a full copy beside parts would be counted once a worker.

    >>> union([Dist(("a",)), Random()]), union([Dist(("a",)), Everywhere()])
    (Random(whole=False), PartitionLocal(keys=('a',)))
    >>> union([Random(), Everywhere()]) is None
    True
    """
    distinct = [t for t in dict.fromkeys(tags) if t != Everywhere()]
    constant = Everywhere() in tags
    if len(distinct) == 1 and not constant:
        [only] = distinct
        # Each term's rows may be whole, but one row may come from several terms.
        return Random() if isinstance(only, Random) else only
    if not distinct:
        return Everywhere()
    if any(isinstance(t, Slice) for t in distinct):
        return _union_of_slices(distinct, constant=constant)
    if all(isinstance(t, Local) for t in distinct):
        return Local()
    if all(isinstance(t, Replicated) for t in distinct):
        return Replicated()
    if not constant and all(isinstance(t, Dist | Random) for t in distinct):
        return Random()
    keys = {t.keys for t in distinct if isinstance(t, Dist | PartitionLocal)}
    if len(keys) == 1 and all(isinstance(t, Dist | PartitionLocal | Replicated) for t in distinct):
        return PartitionLocal(*keys)
    return None


def _union_of_slices(tags: Sequence[Tag], *, constant: bool) -> Tag | None:
    """Parts of the same lines add up line by line; other parts would be counted once a copy."""
    slices = [t for t in tags if isinstance(t, Slice)]
    first = slices[0]
    same = all((t.axis, t.shape) == (first.axis, first.shape) for t in slices)
    return Slice((), first.axis, first.shape) if same and slices == tags and not constant else None


def grouped(tag: Tag, keys: Iterable[str], body: Expr) -> Tag | None:
    """The tag of Sum[keys](body): partial sums where the keys do not name the worker.

    Meaningless values of other workers must not be added to the rest.

    >>> from freshview.calculus.text import read
    >>> grouped(Dist(("a",)), (), read("M[a]"))
    Random(whole=False)
    >>> grouped(PartitionLocal(("a",)), (), read("(x := M[a])"))
    PartitionLocal(keys=('a',))
    >>> grouped(PartitionLocal(("a",)), (), read("N[a] * (x := M[a])")) is None
    True
    """
    match tag:
        case Dist(by):
            return tag if set(by) <= set(keys) else Random()
        case PartitionLocal(by):
            return tag if set(by) <= set(keys) | ins(body) else None
        case Slice(by, axis, shape):
            return tag if set(by) <= set(keys) else Slice((), axis, shape)
        case Random():
            return Random()
        case Local() | Replicated() | Everywhere():
            return tag
        case _:
            assert_never(tag)


def assigned(tag: Tag) -> Tag | None:
    """The tag of (x := body): nonlinear, so partial sums are refused."""
    match tag:
        case Dist(by) | PartitionLocal(by):
            return PartitionLocal(by)
        case Random() | Slice():
            return None
        case Local() | Replicated() | Everywhere():
            return tag
        case _:
            assert_never(tag)


def existing(tag: Tag) -> Tag | None:
    """The tag of Exists(body): nonlinear, so partial sums are refused, unless rows are whole."""
    match tag:
        case Random(whole):
            return tag if whole else None
        case Slice(by):
            return tag if by else None
        case Dist() | PartitionLocal() | Local() | Replicated() | Everywhere():
            return tag
        case _:
            assert_never(tag)


def chosen(tag: Tag, keys: Iterable[str], body: Expr) -> Tag | None:
    """The tag of Top[keys](body): all the rows of a group must be together."""
    match tag:
        case Dist(by):
            return tag if set(by) <= set(keys) else None
        case PartitionLocal(by):
            return tag if set(by) <= set(keys) | (ins(body) - outs(body)) else None
        case Slice(by):
            return tag if by and set(by) <= set(keys) else None
        case Random():
            return None
        case Local() | Replicated() | Everywhere():
            return tag
        case _:
            assert_never(tag)


def suits(tag: Tag, target: Location) -> bool:
    """Whether a statement may write what it computes at `tag` into a map at `target`."""
    match target:
        case Dist() | Slice():
            return tag == target
        case Random():
            return isinstance(tag, Dist | Random)
        case Local() | Replicated() | Everywhere():
            return tag in (target, Everywhere())
        case _:
            assert_never(target)
