"""The trigger program of a node, from which codegen builds its kernel.

A kernel has relations, and triggers for their rows. Here these are:

    give 0.1 R        rows of a batch of R, for the statements of a run that read it
    run 0.2           one row without columns: the statements of a run without a batch
    to 0.got          rows for the temporary map `got`: its keys, and its payload
    begin 0           one row without columns: the temporary maps are emptied

The first number is that of the routine, the second that of the run in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from freshview.calculus.build import ZERO
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Apply, Delta, Expr, Var, View
from freshview.calculus.walk import bottom_up, subterms
from freshview.codegen.cpp.functions import SUM_OF
from freshview.codegen.cpp.types import parts_of
from freshview.distributed.terms import (
    Block,
    Compute,
    Distributed,
    Everywhere,
    Local,
    MapPlacement,
    PlacementProblem,
    Transfer,
)
from freshview.durable.work import Role
from freshview.program.terms import Map, Program, Statement, Trigger
from freshview.simplify.arrange import is_delta_bound
from freshview.spark.nodes.node import PAYLOAD, READY, change_routine, read_routine


@dataclass(frozen=True)
class Run:
    """Statements that a node runs at once: the relation that triggers them, the batch they read.

    If they are `delta_bound`, an empty batch changes nothing.
    """

    starts: str
    reads: str | None
    delta_bound: bool = False


@dataclass(frozen=True)
class NodeProgram:
    """The program of a node, and the meaning of its relations."""

    program: Program
    runs: dict[tuple[str, int], tuple[Run, ...]]
    """By routine and number of the block."""
    begins: dict[str, str]
    receives: dict[tuple[str, str], str]
    """By routine and temporary map."""
    maps: dict[tuple[str, str], str]
    """The program's names of maps, by routine and name in it."""


def node_program(d: Distributed, role: Role) -> NodeProgram:
    """The program of the driver or of a worker; its blocks are in order (`schedule_blocks.py`)."""
    return _NodeCompiler(d, role).compile()


class _NodeCompiler:
    def __init__(self, d: Distributed, role: Role) -> None:
        self.d = d
        self.role = role
        self.relations = {r.name: r for r in d.program.relations}
        self.declared: list[Relation] = [r for r in d.program.relations if r.static]
        self.triggers: list[Trigger] = []
        self.temporary: list[Map] = []
        self.runs: dict[tuple[str, int], tuple[Run, ...]] = {}
        self.count = 0
        self.begins: dict[str, str] = {}
        self.receives: dict[tuple[str, str], str] = {}
        self.maps: dict[tuple[str, str], str] = {}

    def compile(self) -> NodeProgram:
        for number, (name, blocks, temporaries) in enumerate(self._routines()):
            self._routine(number, name, blocks, temporaries)
        maps = (*self.d.program.maps, *self.temporary)
        program = Program(tuple(self.declared), maps, tuple(self.triggers), ())
        return NodeProgram(program, self.runs, self.begins, self.receives, self.maps)

    def _routines(self) -> Iterator[tuple[str, tuple[Block, ...], tuple[MapPlacement, ...]]]:
        yield READY, self.d.ready.blocks, self.d.ready.maps
        for i, r in enumerate(self.d.routines):
            yield change_routine(i), r.blocks, r.maps
        for q in self.d.readouts:
            yield read_routine(q.query.name), q.blocks, q.maps

    def _routine(
        self,
        number: int,
        name: str,
        blocks: tuple[Block, ...],
        temporaries: tuple[MapPlacement, ...],
    ) -> None:
        own = {placement.name: f"{number}.{placement.name}" for placement in temporaries}
        definitions = _batch_definitions(number, blocks)
        for m in self.d.program.maps:
            self.maps[name, m.name] = m.name
        for placement in temporaries:
            self.maps[name, placement.name] = own[placement.name]
            keys = tuple(c.name for c in placement.keys)
            # Parts of one batch may share records. The others are defined by themselves, so that
            # they share records with no other map.
            definition = definitions.get(placement.name, View(own[placement.name], keys))
            self.temporary.append(
                Map(own[placement.name], placement.keys, placement.payload, definition)
            )
        empty = [
            Statement(View(own[placement.name], tuple(c.name for c in placement.keys)), ":=", ZERO)
            for placement in temporaries
        ]
        self.begins[name] = self._declare_relation(f"begin {number}", (), "insert", empty)
        self._transfers(number, name, blocks, temporaries, own)
        self.count = 0
        for at, block in enumerate(blocks):
            statements = [_renamed(c.statement, own) for c in self._computes(block)]
            self.runs[name, at] = tuple(self._runs(number, group_by_batch(statements)))

    def _runs(self, number: int, statements: list[Statement]) -> Iterator[Run]:
        """Consecutive statements that read the same batch, or none, are one run."""
        for relation, some in groupby(statements, _read):
            title, group = f"{number}.{self.count}", list(some)
            self.count += 1
            if relation is None:
                yield Run(self._declare_relation(f"run {title}", (), "insert", group), None)
            else:
                columns = self.relations[relation].columns
                starts = self._declare_relation(f"give {title} {relation}", columns, "batch", group)
                # What is replaced is replaced by nothing then.
                bound = all(s.op == "+=" and is_delta_bound(s.term) for s in group)
                yield Run(starts, relation, bound)

    def _computes(self, block: Block) -> list[Compute]:
        """The statements of a block that this node runs."""
        computes = [s for s in block.steps if isinstance(s, Compute)]
        if self.role == "driver":
            return [s for s in computes if isinstance(s.at, Local | Everywhere)]
        return [s for s in computes if not isinstance(s.at, Local)]

    def _transfers(
        self,
        number: int,
        name: str,
        blocks: tuple[Block, ...],
        temporaries: tuple[MapPlacement, ...],
        own: dict[str, str],
    ) -> None:
        """Declare relations for the transfers to this node."""
        known = {placement.name: placement for placement in temporaries}
        for step in (s for b in blocks for s in b.steps if isinstance(s, Transfer)):
            if isinstance(step.to, Local) != (self.role == "driver"):
                continue
            placement = known[step.target]
            payload = payload_columns(placement)
            columns = (*placement.keys, *payload)
            keys = tuple(c.name for c in placement.keys)
            sent = tuple(Var(c.name) for c in payload)
            value = sent[0] if len(sent) == 1 else Apply(SUM_OF.name, sent)
            add = Statement(View(own[placement.name], keys), "+=", value)
            title = f"to {number}.{placement.name}"
            self.receives[name, placement.name] = self._declare_relation(
                title, columns, "insert", [add]
            )

    def _declare_relation(
        self, title: str, columns: tuple[Column, ...], event: str, statements: list[Statement]
    ) -> str:
        """Declare a relation with its trigger; its name."""
        self.declared.append(Relation(title, columns))
        if event == "batch":
            statements = [replace(s, term=_as_delta(s.term, title)) for s in statements]
            self.triggers.append(Trigger("batch", title, (), tuple(statements)))
        else:
            names = tuple(c.name for c in columns)
            self.triggers.append(Trigger("insert", title, names, tuple(statements)))
        return title


def payload_columns(placement: MapPlacement | Map) -> tuple[Column, ...]:
    """The columns in which a map's payload is sent: sums of doubles in parts, without rounding."""
    payload = Column(PAYLOAD, placement.payload)
    return parts_of(payload) if placement.payload.kind == "double" else (payload,)


def _batch_definitions(number: int, blocks: tuple[Block, ...]) -> dict[str, Expr]:
    """The definitions of temporary maps over batches alone, by name.

    The batches are numbered by routine, so that routines share no records.
    """

    def rule(e: Expr) -> Expr | None:
        return replace(e, name=f"{number} {e.name}") if isinstance(e, Delta) else None

    steps = [s for b in blocks for s in b.steps]
    definitions = {}
    for s in (s.statement for s in steps if isinstance(s, Compute)):
        if s.op == ":=" and not _views(s) and _read(s) is not None:
            definitions[s.target.name] = bottom_up(s.term, rule)
    return definitions


def group_by_batch(statements: Iterable[Statement]) -> list[Statement]:
    """An equivalent order of statements, with those that read one batch side by side.

    A batch is loaded once for neighbours. A statement moves up to others of the same batch, past
    statements that neither write what it reads or writes, nor read what it writes.
    """
    grouped: list[Statement] = []
    for s in statements:
        batch, reads = _read(s), _views(s)
        at = len(grouped)
        while batch is not None and at and _read(grouped[at - 1]) != batch:
            passed = grouped[at - 1]
            if passed.target.name in reads | {s.target.name} or s.target.name in _views(passed):
                break
            at -= 1
        beside = at > 0 and _read(grouped[at - 1]) == batch
        grouped.insert(at if beside else len(grouped), s)
    return grouped


def _views(s: Statement) -> set[str]:
    """The maps that a statement reads."""
    return {e.name for e in subterms(s.term) if isinstance(e, View)}


def _renamed(s: Statement, own: dict[str, str]) -> Statement:
    """A statement with the program's names of the routine's temporary maps."""

    def rule(e: Expr) -> Expr | None:
        return replace(e, name=own[e.name]) if isinstance(e, View) and e.name in own else None

    if s.target.name not in own:
        return Statement(s.target, s.op, bottom_up(s.term, rule))
    # A temporary map is written once, and empty before: `+=` is enough.
    target = replace(s.target, name=own[s.target.name])
    return Statement(target, "+=", bottom_up(s.term, rule))


def _read(s: Statement) -> str | None:
    """The relation whose batch a statement reads."""
    names = {e.name for e in subterms(s.term) if isinstance(e, Delta)}
    if len(names) > 1:
        both = " and ".join(sorted(names))
        raise PlacementProblem(f"a statement for {s.target.name} reads batches of {both} at once")
    return names.pop() if names else None


def _as_delta(e: Expr, title: str) -> Expr:
    return bottom_up(e, lambda t: replace(t, name=title) if isinstance(t, Delta) else None)
