"""Well-formed statements: every way to place transformers in a term, the cheapest per location.

Fig. 5.2 of Nikolic 2016 pushes a transformer through joins, unions, sums and assignments, both
ways, and keeps what turns out cheaper. All that such pushing can reach is this: each closed part of
a term may be moved, or not. So instead of walking from one form to the next and back, the search
goes up the term once and keeps for each location the cheapest way to have the part there
(`location_rules.py` has the location of a term from those of its parts). Beyond that:

- What is moved is closed: it reads no variable of its context. Of other parts, the atoms in them
  are moved, or the factors to their left.
- The columns that name the worker must be among those of the part, else it is replicated.
- Of a product's part only the columns are moved that the rest asks for, added up over the others:
  batches are aggregated before they travel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import assert_never

from freshview.calculus.build import ONE, add, exists, mul, sum_, top
from freshview.calculus.scope import free, has_data, ins, is_value, outs
from freshview.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.walk import subterms
from freshview.distributed.communication_cost import (
    FREE,
    CommunicationCost,
    CommunicationCostModel,
    Total,
)
from freshview.distributed.location_rules import (
    PartitionLocal,
    Tag,
    assigned,
    chosen,
    existing,
    grouped,
    join,
    suits,
    union,
)
from freshview.distributed.locations import AtomLocations
from freshview.distributed.terms import (
    Dist,
    Everywhere,
    Kind,
    Local,
    Location,
    Move,
    Placed,
    Random,
    Replicated,
    Slice,
)

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class PlacedTerm:
    """A term with transformers, the location of its value, and its cost."""

    term: Expr
    tag: Tag
    moves: tuple[Move, ...] = ()
    transfers: CommunicationCost = FREE
    cost: Total = ()


Plans = dict[Tag, PlacedTerm]


class Search:
    """The search for one statement.

    With `lookahead` every location of a part is kept until the root decides; without, as in the
    bottom-up algorithm of Nikolic 2016, 5.2, each part is decided on its own, with the fewest
    transformers.
    """

    def __init__(
        self, places: AtomLocations, cost_model: CommunicationCostModel, *, lookahead: bool
    ) -> None:
        self.places = places
        self.cost_model = cost_model
        self.lookahead = lookahead
        self.destinations: tuple[Dist | Slice, ...] = ()
        self._memo: dict[tuple[Expr, Names], Plans] = {}
        self._count = 0

    def best(self, term: Expr, target: View, at: Location) -> PlacedTerm | None:
        """The cheapest plan whose value may be written to a target at a location."""
        self.destinations = _destinations(term, at, self.places)
        ways = self.ways(term, frozenset(target.vars))
        return _cheapest(p for p in ways.values() if suits(p.tag, at))

    def _cost(self, transfers: CommunicationCost, moves: tuple[Move, ...]) -> Total:
        """The measure by which plans are compared."""
        return self.cost_model.cost(transfers) if self.lookahead else (float(_count_moves(moves)),)

    def ways(self, e: Expr, need: Names) -> Plans:
        """The plans of a term, moved ones included; the context reads only the variables `need`."""
        key = (e, need)
        if key not in self._memo:
            self._memo[key] = self._moved(e, self._settled(self._plans(e, need)), need)
        return self._memo[key]

    def _settled(self, plans: Plans) -> Plans:
        if self.lookahead or not plans:
            return plans
        best = min(plans.values(), key=_by_cost)
        return {best.tag: best}

    def _plans(self, e: Expr, need: Names) -> Plans:
        match e:
            case Const() | Var() | Apply() | Cmp():
                return self._leaf(e, Everywhere())
            case Rel() | Delta() | View():
                return self._leaf(e, self.places.atom(e))
            case Mul(factors):
                return self._product(factors, need)
            case Add(terms):
                return self._union(e, terms, need)
            case Sum(keys, body):
                inside = outs(body) & (frozenset(keys) | ins(body))
                return self._over(
                    body, inside, lambda t: grouped(t, keys, body), lambda b: sum_(keys, b)
                )
            case Lift(var, body):
                if is_value(body):
                    return self._leaf(e, Everywhere())
                return self._over(body, outs(body), assigned, lambda b: Lift(var, b))
            case Exists(body):
                return self._over(body, outs(body), existing, exists)
            case Top(keys, order, limit, body):
                return self._over(
                    body,
                    outs(body),
                    lambda t: chosen(t, keys, body),
                    lambda b: top(keys, order, limit, b),
                )
            case _:
                assert_never(e)

    def _leaf(self, e: Expr, at: Location) -> Plans:
        return {at: PlacedTerm(e, at, cost=self._cost(FREE, ()))}

    def _over(
        self,
        body: Expr,
        need: Names,
        tag_of: Callable[[Tag], Tag | None],
        build: Callable[[Expr], Expr],
    ) -> Plans:
        """The plans of a node with one part."""
        plans: Plans = {}
        for plan in self.ways(body, need).values():
            tag = tag_of(plan.tag)
            if tag is not None and _better(plan.cost, plans.get(tag)):
                plans[tag] = replace(plan, term=build(plan.term), tag=tag)
        return plans

    def _product(self, factors: tuple[Expr, ...], need: Names) -> Plans:
        """The plans of a product, left to right: a prefix may be moved before the next join."""
        plans = self._leaf(ONE, Everywhere())
        for i, factor in enumerate(factors):
            done = mul(*factors[:i])
            left = plans
            if i > 1 or (i and not self.lookahead):
                rest = need | free(mul(*factors[i:]))
                left = self._moved(done, plans, outs(done) & rest)
            others = frozenset().union(*(free(f) for j, f in enumerate(factors) if j != i))
            right = self.ways(factor, outs(factor) & (need | others))
            plans = {}
            for r in right.values():
                for p in left.values():
                    tag = join(p.tag, r.tag)
                    if tag is not None:
                        self._joined(plans, p, r, tag)
            plans = self._settled(plans)
        return plans

    def _joined(self, plans: Plans, left: PlacedTerm, right: PlacedTerm, tag: Tag) -> None:
        """Keep the product of two plans if it is the cheapest for its location."""
        transfers, moves = left.transfers.and_(right.transfers), left.moves + right.moves
        cost = self._cost(transfers, moves)
        if _better(cost, plans.get(tag)):
            plans[tag] = PlacedTerm(mul(left.term, right.term), tag, moves, transfers, cost)

    def _union(self, e: Expr, terms: tuple[Expr, ...], need: Names) -> Plans:
        ways = [self.ways(t, outs(t) & (need | ins(e))) for t in terms]
        plans: Plans = {}
        for admitted in _uniform(tag for w in ways for tag in w):
            best = [_cheapest(p for p in w.values() if admitted(p.tag)) for w in ways]
            picked = [p for p in best if p is not None]
            tag = union([p.tag for p in picked]) if len(picked) == len(terms) else None
            if tag is None:
                continue
            moves = tuple(m for p in picked for m in p.moves)
            transfers = reduce(CommunicationCost.and_, (p.transfers for p in picked))
            cost = self._cost(transfers, moves)
            if _better(cost, plans.get(tag)):
                term = _added(terms, [p.term for p in picked], need | ins(e))
                plans[tag] = PlacedTerm(term, tag, moves, transfers, cost)
        return plans

    def _moved(self, plain: Expr, plans: Plans, need: Names) -> Plans:
        """The plans of a part, and those that move its value."""
        if ins(plain) or not (has_data(plain) or outs(plain)):
            return plans
        keys = tuple(sorted(need & outs(plain)))
        sent = sum_(keys, plain)
        at = {p.tag: grouped(p.tag, keys, plain) for p in plans.values()}
        best = dict(plans)
        targets: list[Location] = [s for s in self.destinations if set(s.keys) <= set(keys)]
        for sources in (_PARTS, _COPIES, (Local,)):
            # The cost of the transfer is the same for all these sources.
            plan = _cheapest(p for p in plans.values() if isinstance(at[p.tag], sources))
            if plan is not None:
                for to in (*targets, Replicated(), Local()):
                    self._move(best, plan, at[plan.tag], sent, keys, to)
        return best

    def _move(
        self,
        plans: Plans,
        plan: PlacedTerm,
        at: Tag | None,
        sent: Expr,
        keys: tuple[str, ...],
        to: Location,
    ) -> None:
        """Keep the plan that moves another one's value, if it is the cheapest at its target."""
        assert at is not None
        assert not isinstance(at, PartitionLocal)
        kind = transformer(at, to)
        if kind is None:
            return
        transfers = self.cost_model.move(plan.transfers, kind, sent, to)
        if self.lookahead and not _better(self.cost_model.cost(transfers), plans.get(to)):
            return
        term = sum_(keys, plan.term)
        columns = term.vars if isinstance(term, View) and _distinct(term.vars) else keys
        self._count += 1
        view = View(f"move_{self._count}", columns)
        moves = (Move(kind, view, to, Placed(term, at, plan.moves), sent),)
        new = PlacedTerm(view, to, moves, transfers, self._cost(transfers, moves))
        if _better(new.cost, plans.get(to)):
            plans[to] = new


_PARTS = (Dist, Slice, Random)
_COPIES = (Replicated, Everywhere)


def transformer(at: Location, to: Location) -> Kind | None:
    """The transformer from one location to another; none where nothing needs to move."""
    if at == to or isinstance(to, Random | Everywhere):
        return None
    match at:
        case Everywhere() | Replicated() if isinstance(to, Dist | Slice):
            return "keep"
        case Everywhere():
            return None
        case Replicated() | Dist() | Slice() | Random() if isinstance(to, Local):
            return "gather"
        case Dist() | Slice() | Random():
            return "repart"
        case Replicated():
            return None
        case Local():
            return "scatter"
        case _:
            assert_never(at)


def _added(old: tuple[Expr, ...], new: list[Expr], need: Names) -> Expr:
    """A union; if some term lost columns in a transfer, the others are projected, too."""
    if any(outs(a) != outs(b) for a, b in zip(old, new, strict=True)):
        new = [sum_(tuple(sorted(need & outs(t))), t) for t in new]
    return add(*new)


def _by_cost(plan: PlacedTerm) -> Total:
    return plan.cost


def _cheapest(plans: Iterable[PlacedTerm]) -> PlacedTerm | None:
    return min(plans, key=_by_cost, default=None)


def _better(cost: Total, than: PlacedTerm | None) -> bool:
    return than is None or cost < than.cost


def _uniform(tags: Iterable[Tag]) -> Iterator[Callable[[Tag], bool]]:
    """The sets of tags that a union may combine, one after the other."""
    distinct = tuple(dict.fromkeys(tags))
    yield _one_of(Everywhere())
    for keys in dict.fromkeys(t.keys for t in distinct if isinstance(t, Dist | PartitionLocal)):
        yield _one_of(Dist(keys))
        yield _one_of(Dist(keys), PartitionLocal(keys), Replicated(), Everywhere())
    yield lambda t: isinstance(t, Dist | Random)
    for line in dict.fromkeys(replace(t, keys=()) for t in distinct if isinstance(t, Slice)):
        yield _along(line)
    yield _one_of(Replicated(), Everywhere())
    yield _one_of(Local(), Everywhere())


def _along(line: Slice) -> Callable[[Tag], bool]:
    return lambda t: isinstance(t, Slice) and replace(t, keys=()) == line


def _one_of(*tags: Tag) -> Callable[[Tag], bool]:
    return lambda t: t in tags


def _count_moves(moves: tuple[Move, ...]) -> int:
    return sum(1 + _count_moves(m.body.moves) for m in moves)


def _distinct(names: tuple[str, ...]) -> bool:
    return len(set(names)) == len(names)


def _destinations(term: Expr, at: Location, places: AtomLocations) -> tuple[Dist | Slice, ...]:
    """The candidate targets of transfers: locations of atoms, and shared columns of joins."""
    locations: dict[Dist | Slice, None] = {}
    if isinstance(at, Dist | Slice):
        locations[at] = None
    anywhere: list[Names] = []
    for t in subterms(term):
        if isinstance(t, View | Delta):
            spot = places.atom(t)
            if isinstance(spot, Dist | Slice):
                locations[spot] = None
        if isinstance(t, Mul):
            data = [outs(f) for f in t.factors if has_data(f)]
            anywhere += [a & b for i, a in enumerate(data) for b in data[:i] if a & b]
        if isinstance(t, Exists) and outs(t):
            anywhere.append(outs(t))
        if isinstance(t, Top) and t.keys:
            anywhere.append(frozenset(t.keys))
    for shared in anywhere:
        # Without a located atom to join with, partition by the shared columns.
        if not any(isinstance(s, Dist) and set(s.keys) <= shared for s in locations):
            locations[Dist(tuple(sorted(shared)))] = None
    return tuple(locations)
