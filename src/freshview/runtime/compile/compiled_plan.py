"""What a kernel is compiled from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from freshview.program.terms import Program
from freshview.program.updates import Mode

if TYPE_CHECKING:
    from freshview.codegen.kernel.source import Source


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """The C++ source of a kernel, the text of its program, and notes for `explain`.

    `scans` are the statements that walk through all the rows of a map; `deferred` are the queries
    that are computed when they are read, `listed` the maps that a read brings up to date from the
    groups that changed. `compared` says of which queries changes are differences
    of two reads, and why. `mode` is that of all the triggers. `host_batches` and
    `host_alone` are the functions that the kernel calls in Python, for the rows of a batch at once
    or one by one.
    """

    source: str
    text: str
    notes: tuple[str, ...] = ()
    scans: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    compared: Mapping[str, str] = field(default_factory=dict)
    mode: Mode = "batch"
    view_notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    host_batches: tuple[str, ...] = ()
    host_alone: tuple[str, ...] = ()

    @property
    def program(self) -> Program:
        """The trigger program."""
        from freshview.program.text import read_program

        return replace(read_program(self.text), notes=self.notes, view_notes=self.view_notes)

    @property
    def lines(self) -> int:
        """The lines of its C++ source."""
        return self.source.count("\n")

    @staticmethod
    def of(program: Program, source: Source) -> CompiledPlan:
        """The plan of a program and its C++ source."""
        from freshview.program.text import show_program, show_statement

        by_row = any(t.event in ("insert", "delete") for t in program.triggers)
        return CompiledPlan(
            source.text,
            show_program(program),
            program.notes,
            tuple(show_statement(s) for s in source.scans),
            source.deferred,
            dict(source.compared),
            "tuple" if by_row else "batch",
            program.view_notes,
            source.listed,
            source.host.batches,
            source.host.alone,
        )
