"""The explanation of a distributed program, pass by pass."""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.functions import BUILTINS, Functions
from freshview.distributed.compile import DistributedCompiler, PassResults
from freshview.distributed.jobs import count_jobs
from freshview.distributed.locations import AtomLocations
from freshview.distributed.options import DistributionOptions
from freshview.distributed.terms import Block, PlacedStatement, Placement, Step
from freshview.distributed.text import show_block, show_placed, show_short
from freshview.program.terms import Program


def explain(
    program: Program,
    placement: Placement | None = None,
    options: DistributionOptions | None = None,
    functions: Functions = BUILTINS,
) -> str:
    """The placement of maps with the reasons; then a batch of all the relations, after every pass.

    Last, the reads of queries, and how their changes are collected where a sink asks for them.

    Columns that nothing reads are shown as `..`.
    """
    compiler = DistributedCompiler(program, placement, options or DistributionOptions(), functions)
    streams = compiler.streams()
    passes = compiler.passes(compiler.statements(streams), trace=True)
    parts = ["\n".join(["== placement", *_words(compiler.placement)])]
    if streams:
        parts += _batch(streams, passes, compiler.places)
    for query in program.queries:
        readout = compiler.readout(query)
        parts.append("\n".join([f"== reading {query.name}", *_blocks(readout.blocks)]))
    compiler.collect({query.name for query in program.queries})
    parts.append("\n".join(["== changes for sinks", *compiler.change_words()]))
    return "\n\n".join(parts)


def _words(placement: Placement) -> Iterable[str]:
    return placement.words or [f"{name}: {at}" for name, at in placement.maps.items()]


def _batch(streams: tuple[str, ...], passes: PassResults, places: AtomLocations) -> list[str]:
    counts = count_jobs(passes.blocks)
    title = f"== a batch of {', '.join(streams)}: {_count(counts.jobs, 'job')}"
    return [
        "\n".join(["== well-formed", *_statements(passes.located, places)]),
        "\n".join(["== pushed", *_statements(passes.pushed, places)]),
        "\n".join(["== single transformer form", *_steps(passes.single)]),
        "\n".join(["== shared", *_steps(passes.shared)]),
        "\n".join([f"{title}, {_count(counts.stages, 'stage')}", *_blocks(passes.blocks)]),
    ]


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _statements(statements: Iterable[PlacedStatement], places: AtomLocations) -> list[str]:
    return [show_placed(s, places) for s in statements]


def _steps(steps: Iterable[Step]) -> list[str]:
    return [show_short(s) for s in steps]


def _blocks(blocks: Iterable[Block]) -> list[str]:
    return [show_block(b, short=True) for b in blocks]
