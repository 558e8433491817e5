"""Physical plans: components, each a chain of operators that share a place, and what flows between.

    source   the rows of a stream, and what is done to each before it is sent
    join     joiners, and what is done to each result
    groups   the view of the groups, or of the rows where there are none, kept by deltas

An operator that looks at one row at a time stays with the component that its rows come from. Rows
are partitioned between components only: at random from outside, by a key, by a grid or by ranges to
joiners, and to one place for groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from freshview.dataflow.plan.estimate import rows
from freshview.dataflow.plan.terms import Aggregate, BadPlan, Join, Plan, Scan
from freshview.dataflow.plan.text import show_condition, show_node, show_scalar
from freshview.dataflow.plan.theta_condition import Distance, is_equality, local_conditions
from freshview.dataflow.plan.walk import inputs

Kind = Literal["source", "join", "groups"]


@dataclass(frozen=True, slots=True)
class AtRandom:
    """Rows go to any of the parts."""

    def __str__(self) -> str:
        return "random"


@dataclass(frozen=True, slots=True)
class ByHash:
    """Rows go where the hash of their key says; those of a frequent key over a grid of its own."""

    keys: tuple[str, ...]

    def __str__(self) -> str:
        return f"hash({', '.join(self.keys)})"


@dataclass(frozen=True, slots=True)
class ByGrid:
    """Rows go to all joiners of a row, or a column, of the grid that follows the sizes."""

    side: Literal["rows", "columns"]

    def __str__(self) -> str:
        return f"grid {self.side}"


@dataclass(frozen=True, slots=True)
class ByRange:
    """Rows go to the range of their value, those of the left side to all ranges that they reach."""

    column: str
    bounds: tuple[float, ...]

    def __str__(self) -> str:
        return f"range({self.column}; {', '.join(f'{b:g}' for b in self.bounds)})"


@dataclass(frozen=True, slots=True)
class ToOne:
    """All rows go to one place."""

    def __str__(self) -> str:
        return "one place"


Partitioning: TypeAlias = AtRandom | ByHash | ByGrid | ByRange | ToOne
Ranges: TypeAlias = Mapping[str, Sequence[float]]
"""By the name of a join: where the ranges of its band end, for those that go by ranges."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Rows of a component on their way to another one."""

    source: str
    by: Partitioning


@dataclass(frozen=True, slots=True)
class Component:
    """Operators at one place, in the order in which a row meets them, on so many parts."""

    name: str
    kind: Kind
    operators: tuple[Plan, ...]
    inputs: tuple[Edge, ...]
    parallelism: int
    words: tuple[str, ...]
    bounds: tuple[float, ...] | None = None
    """Where ranges end, for a join whose rows go by ranges."""

    @property
    def top(self) -> Plan:
        """Its last operator."""
        return self.operators[-1]


@dataclass(frozen=True, slots=True)
class Topology:
    """The components of a plan, inputs first; the last one has the result."""

    components: tuple[Component, ...]


def components(
    p: Plan, sizes: Mapping[str, float], joiners: int, ranges: Ranges | None = None
) -> Topology:
    """The physical plan of a logical one, with `joiners` for all its joins together.

    A join of `ranges` has one joiner a range instead.
    """
    if not isinstance(joiners, int) or isinstance(joiners, bool) or joiners < 1:
        raise BadPlan(f"a plan cannot run on {joiners!r} joiners", instead="give one or more")
    builder = _Builder(p, sizes, joiners, ranges or {})
    last = builder.component(p)
    unknown = sorted(set(ranges or {}) - {c.name for c in builder.done if c.kind == "join"})
    if unknown:
        raise BadPlan(f"no join is called '{unknown[0]}'", instead="see the names in explain()")
    if last.kind != "groups" or len(last.operators) > 1:
        edges = (Edge(last.name, ToOne()),)
        builder.add(Component("result", "groups", (), edges, 1, ("the rows, kept by deltas",)))
    return Topology(tuple(builder.done))


class _Builder:
    """The walk over a plan, with the components so far."""

    def __init__(self, p: Plan, sizes: Mapping[str, float], joiners: int, ranges: Ranges) -> None:
        self.sizes = sizes
        self.ranges = ranges
        self.done: list[Component] = []
        work = {id(j): _work(j, sizes) for j in _joins(p)}
        self.parts = share(joiners, work)
        self.share = {j: w / (sum(work.values()) or 1.0) for j, w in work.items()}
        self.counts: dict[str, int] = {}

    def add(self, c: Component) -> Component:
        self.done.append(c)
        return c

    def component(self, p: Plan) -> Component:
        """The component whose last operator is `p`, behind those that it needs."""
        match p:
            case Scan(relation, table):
                place = "every worker's share" if relation.static else "as its rows come"
                return self.add(Component(table, "source", (p,), (), 1, (place,)))
            case Join(left, right):
                below = [self.component(side) for side in (left, right)]
                return self.add(self._join(p, below[0].name, below[1].name))
            case Aggregate(child):
                edge = Edge(self.component(child).name, ToOne())
                words = ("groups kept by deltas, in one view",)
                name = self._name("groups")
                return self.add(Component(name, "groups", (p,), (edge,), 1, words))
            case _:
                below_it = self.component(inputs(p)[0])
                at = self.done.index(below_it)
                operators = (*below_it.operators, p)
                new = Component(
                    below_it.name,
                    below_it.kind,
                    operators,
                    below_it.inputs,
                    below_it.parallelism,
                    below_it.words,
                )
                self.done[at] = new
                return new

    def _join(self, p: Join, left: str, right: str) -> Component:
        name, parts = self._name("join"), self.parts[id(p)]
        if name in self.ranges:
            return _by_ranges(p, name, left, right, tuple(self.ranges[name]))
        keys = [c for c in p.on if is_equality(c, p)]
        edges: tuple[Edge, ...]
        if parts == 1:
            edges = (Edge(left, ToOne()), Edge(right, ToOne()))
            why = "one joiner"
        elif keys:
            shown = tuple(show_condition(c) for c in keys)
            edges = (Edge(left, ByHash(shown)), Edge(right, ByHash(shown)))
            why = "scheme hybrid: an equality says where rows meet, frequent keys get grids"
        else:
            edges = (Edge(left, ByGrid("rows")), Edge(right, ByGrid("columns")))
            why = "scheme dynamic: no key can partition both sides, so a grid that follows them"
        share = f"{parts} joiners for {self.share[id(p)]:.0%} of the work"
        return Component(name, "join", (p,), edges, parts, (why, share))

    def _name(self, word: str) -> str:
        self.counts[word] = number = self.counts.get(word, 0) + 1
        return word if number == 1 else f"{word}_{number}"


def _by_ranges(p: Join, name: str, left: str, right: str, bounds: tuple[float, ...]) -> Component:
    bands = [c for c in local_conditions(p) if isinstance(c, Distance)]
    if not bands or any(is_equality(c, p) for c in p.on):
        raise BadPlan(
            f"the rows of '{name}' cannot go by ranges",
            instead="give ranges to a join on the distance of two columns, without an equality",
        )
    ends = ((left, bands[0].left), (right, bands[0].right))
    edges = tuple(Edge(source, ByRange(show_scalar(c), bounds)) for source, c in ends)
    words = ("scheme range: each row of the right side at one joiner, as the ranges say",)
    return Component(name, "join", (p,), edges, len(bounds) + 1, words, bounds)


def _joins(p: Plan) -> Iterator[Join]:
    for child in inputs(p):
        yield from _joins(child)
    if isinstance(p, Join):
        yield p


def _work(p: Join, sizes: Mapping[str, float]) -> float:
    """What a join receives and gives: its queue fills as fast as its inputs produce."""
    return rows(p.left, sizes) + rows(p.right, sizes) + rows(p, sizes)


def share(joiners: int, work: Mapping[int, float]) -> dict[int, int]:
    """Joiners for each join in proportion to its work, as powers of two: grids fill them.

    >>> share(8, {1: 3.0, 2: 1.0}), share(1, {1: 1.0, 2: 1.0}), share(6, {1: 1.0})
    ({1: 4, 2: 2}, {1: 1, 2: 1}, {1: 6})
    """
    if len(work) == 1:
        return dict.fromkeys(work, joiners)
    total = sum(work.values()) or 1.0
    parts = {}
    for join, amount in work.items():
        fair = max(1, int(joiners * amount / total))
        parts[join] = 1 << (fair.bit_length() - 1)
    return parts


def show_topology(t: Topology) -> str:
    """A component a paragraph: its operators, where its rows come from, and why."""
    return "\n".join(line for c in t.components for line in _lines(c))


def _lines(c: Component) -> Iterator[str]:
    yield f"{c.name}: {c.kind}, {c.parallelism} {'part' if c.parallelism == 1 else 'parts'}"
    for edge in c.inputs:
        yield f"  <- {edge.source} by {edge.by}"
    for operator in c.operators:
        yield f"  {show_node(operator)}"
    for word in c.words:
        yield f"  ({word})"
