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

from collections.abc import Sequence
from dataclasses import dataclass, replace

from freshview.calculus.build import is_zero
from freshview.calculus.check import Schema, infer
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Column, Query
from freshview.calculus.terms import View
from freshview.calculus.types import INT
from freshview.calculus.walk import Names
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
) -> Distributed:
    """The program with its maps placed, and blocks of steps for every change and every query.

    Without a placement, one is chosen by cost.
    """
    compiler = DistributedCompiler(program, placement, options or DistributionOptions(), functions)
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

    def streams(self) -> tuple[str, ...]:
        """The relations with batch triggers, in the order of the triggers."""
        return tuple(t.relation for t in self.program.triggers if t.event == "batch")

    def statements(self, relations: Sequence[str]) -> tuple[Statement, ...]:
        """The statements for batches of these relations, one relation after the other."""
        batches = {t.relation: t for t in self.program.triggers if t.event == "batch"}
        return tuple(s for name in relations for s in batches[name].statements)

    def routine(self, relations: tuple[str, ...]) -> Routine:
        """The blocks for batches of relations."""
        passes = self.passes(self.statements(relations))
        return Routine(relations, passes.blocks, passes.maps)

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
        maps = {m.name: (tuple(c.type for c in m.keys), m.payload) for m in self.program.maps}
        relations = {r.name: r.types for r in self.program.relations}
        if not is_zero(query.term):
            types |= infer(query.term, Schema(relations, maps, self.functions))[1]
        return tuple(Column(c, types[c]) for c in columns)

    def passes(
        self,
        statements: tuple[Statement, ...],
        places: AtomLocations | None = None,
        names: Names | None = None,
        *,
        trace: bool = False,
    ) -> PassResults:
        """Run every pass that the options enable over the statements."""
        places = places or self.places
        names = names or Names(set(self.used))
        used = set(names.used)
        cost_model = CommunicationCostModel(self.program, self.options)
        located: tuple[PlacedStatement, ...] = ()
        if trace or not self.options.push:
            first = Names(set(names.used)) if self.options.push else names
            located = tuple(locate(s, places, cost_model, first) for s in statements)
        pushed = located
        if self.options.push:
            pushed = tuple(push_transformers(s, places, cost_model, names) for s in statements)
        maker = SingleTransformer(self.program, self.functions, names)
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
