"""What a node runs, as a trigger program: so a kernel that codegen makes of it is the node.

A kernel knows relations, and what to do when rows of one arrive. Here these are:

    give 0.1 R        rows of a batch of R, for the statements of block 0 that read it
    run 0.2           one row without columns: the statements that read no batch
    to 0.got          rows for the temporary map `got`: its keys, and its number
    begin 0           one row without columns: the temporary maps are emptied

The first number is that of the routine, the second counts the runs of its blocks in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from freshview.calculus.build import ZERO
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Apply, Delta, Expr, Var, View
from freshview.calculus.walk import bottom_up, subterms
from freshview.codegen.cpp_types import parts_of
from freshview.codegen.functions import SUM_OF
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
    """Statements that a node runs at once: the relation that starts them, the batch they read.

    They are `led` by the batch if there is nothing to do when it is empty.
    """

    starts: str
    reads: str | None
    delta_bound: bool = False


@dataclass(frozen=True)
class NodeProgram:
    """The program of a node, and which of its relations does what."""

    program: Program
    runs: dict[tuple[str, int], tuple[Run, ...]]
    """By routine and number of the block."""
    begins: dict[str, str]
    receives: dict[tuple[str, str], str]
    """By routine and temporary map."""
    maps: dict[tuple[str, str], str]
    """The program's names of maps, by routine and name in it."""


def node_program(d: Distributed, role: Role) -> NodeProgram:
    """What the driver or a worker runs; the program is in settled blocks (`settle.py`)."""
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
            # Parts of one batch may share records. The others are defined by nothing but
            # themselves, so that no other map shares theirs.
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
        """Statements that read the same batch, or none, are started by the same relation."""
        for relation, some in groupby(statements, _read):
            title, group = f"{number}.{self.count}", list(some)
            self.count += 1
            if relation is None:
                yield Run(self._declare_relation(f"run {title}", (), "insert", group), None)
            else:
                columns = self.relations[relation].columns
                starts = self._declare_relation(f"give {title} {relation}", columns, "batch", group)
                yield Run(starts, relation, all(is_delta_bound(s.term) for s in group))

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
        """Relations for what is sent to this node."""
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
        """A relation, and what is done when rows of it arrive."""
        self.declared.append(Relation(title, columns))
        if event == "batch":
            statements = [replace(s, term=_as_delta(s.term, title)) for s in statements]
            self.triggers.append(Trigger("batch", title, (), tuple(statements)))
        else:
            names = tuple(c.name for c in columns)
            self.triggers.append(Trigger("insert", title, names, tuple(statements)))
        return title


def payload_columns(placement: MapPlacement | Map) -> tuple[Column, ...]:
    """How the numbers of a map travel: sums of doubles in their parts, so that none is rounded."""
    payload = Column(PAYLOAD, placement.payload)
    return parts_of(payload) if placement.payload.kind == "double" else (payload,)


def _batch_definitions(number: int, blocks: tuple[Block, ...]) -> dict[str, Expr]:
    """What temporary maps of a routine are that are made of batches alone, by their names.

    The batches are those of this routine: it shares records with no other one.
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
    """Statements in an order that means the same, those that read one batch side by side.

    A batch is taken in once for statements that stand together. One moves up to others that read
    the same batch past statements that neither write what it reads or writes, nor read what it
    writes.
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
    """A statement with the routine's temporary maps under their names in the program."""

    def rule(e: Expr) -> Expr | None:
        return replace(e, name=own[e.name]) if isinstance(e, View) and e.name in own else None

    if s.target.name not in own:
        return Statement(s.target, s.op, bottom_up(s.term, rule))
    # A temporary map is written once, and empty until then: there is nothing to replace.
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
