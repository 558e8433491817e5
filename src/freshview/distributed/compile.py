"""The compiler of distributed programs: all the passes of this room, in order.

    push     transformers at the cheapest places    push_transformers.py, search.py
    single   every transformer its own step         single_transformer.py
    share    each map once, and only if it is read  common_subexpressions.py
    rename   short names for temporary maps         rename_temporaries.py
    fuse     few blocks                             fusion.py

Where `push` is switched off, `locate.py` puts the transformers where terms need them, bottom-up;
`explain` shows that as well.
`PassResults` has the result of each, and `explain.py` prints it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from freshview.calculus.build import is_zero
from freshview.calculus.check import Schema, infer
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Column, Query
from freshview.calculus.terms import Expr, View
from freshview.calculus.types import INT, Type
from freshview.calculus.walk import Names, variables
from freshview.distributed.changes.collect import Collecting, Collector, Part, part_of
from freshview.distributed.changes.split import Split, split
from freshview.distributed.common_subexpressions import share_common
from freshview.distributed.communication_cost import CommunicationCostModel
from freshview.distributed.fusion import blocks, fuse_blocks
from freshview.distributed.locate import locate
from freshview.distributed.locations import AtomLocations
from freshview.distributed.options import DistributionOptions
from freshview.distributed.placement import choose_placement
from freshview.distributed.push_transformers import push_transformers
from freshview.distributed.rename_temporaries import rename_temporaries
from freshview.distributed.single_transformer import SingleTransformer
from freshview.distributed.terms import (
    Block,
    Distributed,
    Local,
    MapPlacement,
    PlacedStatement,
    Placement,
    PlacementProblem,
    Readout,
    Routine,
    Step,
)
from freshview.program.query_keys import NotCollected
from freshview.program.terms import Program, Statement

RESULT = "result"


@dataclass(frozen=True)
class PassResults:
    """The results of all the passes over one list of statements."""

    statements: tuple[Statement, ...]
    located: tuple[PlacedStatement, ...]
    pushed: tuple[PlacedStatement, ...]
    single: tuple[Step, ...]
    shared: tuple[Step, ...]
    blocks: tuple[Block, ...]
    maps: tuple[MapPlacement, ...]


def distribute(
    program: Program,
    placement: Placement | None = None,
    options: DistributionOptions | None = None,
    functions: Functions = BUILTINS,
    collected: Collection[str] = (),
) -> Distributed:
    """The program with its maps placed, and blocks of steps for every change and every query.

    Without a placement, one is chosen by cost. The changes of the queries in `collected` are rows
    of the driver when a batch ends, where they can be.
    """
    compiler = DistributedCompiler(program, placement, options or DistributionOptions(), functions)
    compiler.collect(collected)
    names = compiler.streams()
    each = [(n,) for n in names]
    groups = [*each, names] if len(names) > 1 else each
    at = compiler.placement.maps
    return Distributed(
        program,
        compiler.placement,
        tuple(MapPlacement(m.name, m.keys, m.payload, at[m.name]) for m in program.maps),
        compiler.ready(),
        tuple(compiler.routine(g) for g in groups),
        tuple(compiler.readout(q) for q in program.queries),
        tuple(p.change for p in compiler.parts),
        compiler.compared,
        compiler.change_words(),
    )


class DistributedCompiler:
    """The passes over one program with one placement."""

    def __init__(
        self,
        program: Program,
        placement: Placement | None,
        options: DistributionOptions,
        functions: Functions = BUILTINS,
    ) -> None:
        _check(program)
        self.program = program
        self.options = options
        self.functions = functions
        self.placement = placement or choose_placement(program, options)
        self.places = AtomLocations.of(program, self.placement)
        self.used = {m.name for m in program.maps} | {r.name for r in program.relations}
        self.parts: list[Part] = []
        """The parts of queries whose changes are collected."""
        self.compared: dict[str, str] = {}
        """Why others are not, by query."""

    def collect(self, queries: Collection[str]) -> None:
        """Collect the changes of these queries, if they can be."""
        names = Names(self.used)
        for q in (q for q in self.program.queries if q.name in queries):
            try:
                parts = [self._part(q, s, names) for s in split(q)]
            except NotCollected as why:
                self.compared[q.name] = why.what
            else:
                self.parts += parts
        self.used = names.used

    def change_words(self) -> tuple[str, ...]:
        """How changes are collected, and why others are not: a sentence for each query."""
        words: dict[str, list[str]] = {}
        for part in self.parts:
            words.setdefault(part.change.query, []).append(part.words())
        collected = [f"{name}: {'; '.join(dict.fromkeys(w))}" for name, w in words.items()]
        compared = [f"{name}: two reads are compared: {why}" for name, why in self.compared.items()]
        return (*collected, *compared)

    def _part(self, q: Query, s: Split, names: Names) -> Part:
        name = names.fresh(f"changes of {q.name}")
        return part_of(q, s, name, self._types(s.rows), self.places.maps)

    def streams(self) -> tuple[str, ...]:
        """The relations with batch triggers, in the order of the triggers."""
        return tuple(t.relation for t in self.program.triggers if t.event == "batch")

    def statements(self, relations: Sequence[str]) -> tuple[Statement, ...]:
        """The statements for batches of these relations, one relation after the other."""
        return tuple(s for some in self._triggers(relations) for s in some)

    def _triggers(self, relations: Sequence[str]) -> list[tuple[Statement, ...]]:
        batches = {t.relation: t for t in self.program.triggers if t.event == "batch"}
        return [batches[name].statements for name in relations]

    def routine(self, relations: tuple[str, ...]) -> Routine:
        """The blocks for batches of relations."""
        triggers, names = self._triggers(relations), Names(self.used)
        local = Names(self._variables())
        collectors = [Collector(self.program, part, names, local) for part in self.parts]
        collecting = Collecting(self.program, collectors, self.places.maps, names)
        statements = collecting.run(triggers)
        own = (t for c in collectors for t in c.temporaries)
        kept = (*collecting.temporaries, *own)
        passes = self.passes(statements, self._with(kept), names, kept=kept)
        changes = tuple(p.change.map for p in self.parts if p.change.map in {t.name for t in kept})
        return Routine(relations, passes.blocks, (*passes.maps, *kept), changes)

    def _variables(self) -> set[str]:
        """The names of variables and columns in statements and in parts."""
        statements = [s for t in self.program.triggers for s in t.statements]
        terms = [e for s in statements for e in (s.target, s.term)]
        used = {c.name for m in self.program.maps for c in m.keys}
        return used.union(*map(variables, (*terms, *(p.rows for p in self.parts))))

    def _with(self, temporaries: Iterable[MapPlacement]) -> AtomLocations:
        """The places, with those of temporary maps that statements name."""
        named = {t.name: (tuple(c.name for c in t.keys), t.at) for t in temporaries}
        return replace(self.places, maps={**self.places.maps, **named})

    def ready(self) -> Routine:
        """The blocks that run when the static tables are loaded."""
        ready = [s for t in self.program.triggers if t.event == "ready" for s in t.statements]
        passes = self.passes(tuple(ready))
        return Routine((), passes.blocks, passes.maps)

    def readout(self, query: Query) -> Readout:
        """The blocks that gather a query's rows on the driver."""
        columns = tuple(dict.fromkeys(query.vars))
        names = Names(set(self.used))
        result = names.fresh(RESULT)
        placement = MapPlacement(
            result, self._columns(query, columns), INT, Local(), temporary=True
        )
        if is_zero(query.term):
            return Readout(query, result, (), (placement,))
        places = replace(self.places, maps={**self.places.maps, result: (columns, Local())})
        statement = Statement(View(result, columns), ":=", query.term)
        passes = self.passes((statement,), places, names)
        return Readout(query, result, passes.blocks, (*passes.maps, placement))

    def _columns(self, query: Query, columns: tuple[str, ...]) -> tuple[Column, ...]:
        types = {v: c.type for v, c in zip(query.vars, query.columns, strict=True)}
        if not is_zero(query.term):
            types |= self._types(query.term)
        return tuple(Column(c, types[c]) for c in columns)

    def _types(self, e: Expr) -> dict[str, Type]:
        """The types of the variables that a term over maps binds."""
        maps = {m.name: (tuple(c.type for c in m.keys), m.payload) for m in self.program.maps}
        relations = {r.name: r.types for r in self.program.relations}
        return infer(e, Schema(relations, maps, self.functions))[1]

    def passes(
        self,
        statements: tuple[Statement, ...],
        places: AtomLocations | None = None,
        names: Names | None = None,
        *,
        kept: Sequence[MapPlacement] = (),
        trace: bool = False,
    ) -> PassResults:
        """Run every pass that the options enable over statements; they name the `kept` maps."""
        places = places or self.places
        names = names or Names(set(self.used))
        used = set(names.used)
        cost_model = CommunicationCostModel(self.program, self.options, kept)
        located: tuple[PlacedStatement, ...] = ()
        if trace or not self.options.push:
            first = Names(set(names.used)) if self.options.push else names
            located = tuple(locate(s, places, cost_model, first) for s in statements)
        pushed = located
        if self.options.push:
            pushed = tuple(push_transformers(s, places, cost_model, names) for s in statements)
        maker = SingleTransformer(self.program, self.functions, names, kept)
        steps = maker.steps(pushed, [places.atom(s.target) for s in pushed])
        shared, temporaries = (
            share_common(steps, maker.temporaries)
            if self.options.share
            else (steps, maker.temporaries)
        )
        shared, temporaries = rename_temporaries(shared, temporaries, Names(used))
        fused = fuse_blocks(shared) if self.options.fuse else blocks(shared)
        return PassResults(
            statements, located, pushed, tuple(steps), tuple(shared), fused, tuple(temporaries)
        )


def _check(program: Program) -> None:
    for m in program.maps:
        if m.inputs:
            raise PlacementProblem(
                f"map '{m.name}' is a view cache, filled when it is asked: workers cannot ask",
                instead="compile the program without view caches",
            )
    for t in program.triggers:
        if t.event in ("insert", "delete"):
            raise PlacementProblem(
                f"the trigger on {t.event} of '{t.relation}' takes single rows",
                instead="compile the program in batch mode",
            )
