"""The compiler's switches that a user may set, by the names that the papers' compilers know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from freshview.calculus.schema import Relation
from freshview.errors import FreshviewError

if TYPE_CHECKING:
    from freshview.ivm.options import DeltaOptions

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Switches:
    """What a user may tell the compiler beside a strategy; `DeltaOptions` tells what each means.

    - `depth`: deltas are taken of deltas this often at most; 0 re-evaluates.
    - `decompose`: whether parts of a product that share no variable become maps of their own.
    - `always_update`: maps are maintained by deltas, whatever the rule of thumb says.
    - `low_cardinality`: relations so small that domains of nested queries are joined with them.
    - `ordered`: what a LIMIT chooses from is kept in order, where its numbers are exact.
    - `caches`: results of a nested query are kept for each value that it was asked with.
    - `increment`, `recompute`: pairs of a map, as `explain` names it, and a relation for which it
      is maintained by deltas, or recomputed.
    - `moves`: whether `auto` tries single changes of a plan (Nikolic 2016, 3.6).
    """

    depth: int | None = None
    decompose: bool = True
    always_update: bool = False
    low_cardinality: tuple[str, ...] = ()
    caches: bool = False
    increment: Pairs = ()
    recompute: Pairs = ()
    moves: bool = True
    ordered: bool = False

    def __post_init__(self) -> None:
        both = sorted({*self.increment} & {*self.recompute})
        if both:
            raise FreshviewError(
                f"{both[0][0]} cannot be both incremented and recomputed when {both[0][1]} changes",
                instead="name it under one of the two switches",
            )
        if self.always_update and (self.depth == 0 or self.recompute):
            other = "recompute" if self.recompute else "depth=0"
            raise FreshviewError(
                f"always_update recomputes nothing, and {other} asks for it",
                instead="drop one of the two switches",
            )

    def over(self, relations: Iterable[Relation]) -> Switches:
        """What they say of these relations, under the names that are declared."""
        named = {r.name.lower(): r.name for r in relations}

        def declared(pairs: Pairs) -> Pairs:
            return tuple((m, named[r.lower()]) for m, r in pairs if r.lower() in named)

        return replace(
            self,
            low_cardinality=tuple(
                named[n.lower()] for n in self.low_cardinality if n.lower() in named
            ),
            increment=declared(self.increment),
            recompute=declared(self.recompute),
        )

    def set(self, options: DeltaOptions) -> DeltaOptions:
        """The options of the compiler under these switches."""
        return replace(
            options,
            depth=at_most(self.depth, options.depth),
            decompose=self.decompose,
            always_update=self.always_update,
            low_cardinality=frozenset(self.low_cardinality),
            caches=self.caches or options.caches,
            increment=frozenset(self.increment),
            recompute=frozenset(self.recompute),
            ordered=self.ordered or options.ordered,
        )

    @property
    def ask_for_deltas(self) -> bool:
        """Whether they ask for what view trees do not have: deltas of a kind, maps by name."""
        limited = self.depth is not None or not self.decompose
        return limited or bool(self.increment or self.recompute)

    def words(self) -> tuple[str, ...]:
        """A line that names the switches which are not as usual, as a command line sets them.

        >>> Switches(depth=1, decompose=False, recompute=(("total", "items"),)).words()
        ('switches: depth=1 decompose=no recompute=total:items',)
        """
        usual = Switches()
        set_ = [(f.name, getattr(self, f.name)) for f in fields(self)]
        texts = [f"{name}={_show(v)}" for name, v in set_ if v != getattr(usual, name)]
        return (f"switches: {' '.join(texts)}",) if texts else ()


def at_most(limit: int | None, depth: int | None) -> int | None:
    """A depth under a limit; None stands for no end.

    >>> at_most(1, None), at_most(2, 0), at_most(None, 1)
    (1, 0, 1)
    """
    if limit is None or depth is None:
        return limit if depth is None else depth
    return min(limit, depth)


def read_switches(values: Switches | Mapping[str, object] | None) -> Switches:
    """Switches by their names.

    >>> read_switches({"depth": 1, "recompute": [("total", "items")]}).words()
    ('switches: depth=1 recompute=total:items',)
    """
    if isinstance(values, Switches):
        return values
    if values is None:
        return Switches()
    names = [f.name for f in fields(Switches)]
    if not isinstance(values, Mapping):
        raise FreshviewError(
            f"switches cannot be {values!r}", instead="give them by name, as {'depth': 1}"
        )
    for name in values:
        if name not in names:
            raise FreshviewError(
                f"the compiler has no switch '{name}'",
                instead=f"the switches are: {', '.join(names)}",
            )
    return Switches(**{name: _value(name, value) for name, value in values.items()})


def _value(name: str, value: object) -> Any:
    """A value of a switch, checked."""
    if name == "depth":
        if value is None or (isinstance(value, int) and value >= 0 and value is not True):
            return value
        raise _wrong(name, value, "give a number from 0 on, or None for no end")
    if name in ("decompose", "always_update", "caches", "moves", "ordered"):
        if isinstance(value, bool):
            return value
        raise _wrong(name, value, "give True or False")
    listed = tuple(value) if isinstance(value, Sequence | set | frozenset) else ()
    if name == "low_cardinality":
        if not isinstance(value, str) and all(isinstance(v, str) for v in listed):
            return tuple(sorted(listed))
        raise _wrong(name, value, "give the names of relations, as ['nation']")
    pairs = [tuple(v) for v in listed if isinstance(v, Sequence) and not isinstance(v, str)]
    whole = all(len(p) == 2 and all(isinstance(n, str) for n in p) for p in pairs)
    if not isinstance(value, str) and whole and len(pairs) == len(listed):
        return tuple(sorted(pairs))
    raise _wrong(name, value, "give pairs of a map and a relation, as [('total', 'items')]")


def _wrong(name: str, value: object, instead: str) -> FreshviewError:
    return FreshviewError(f"the switch '{name}' cannot be {value!r}", instead=instead)


def _show(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case tuple():
            return ",".join(v if isinstance(v, str) else ":".join(v) for v in value)
        case _:
            return str(value)
