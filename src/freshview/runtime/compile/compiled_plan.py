"""What a kernel is compiled from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from freshview.program.terms import Program

if TYPE_CHECKING:
    from freshview.codegen.kernel.source import Source


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """The C++ source of a kernel, the text of its program, and notes for `explain`.

    `scans` are the statements that walk through all the rows of a map; `deferred` are the queries
    that are computed when they are read. `compared` says why changes are differences of two reads.
    """

    source: str
    text: str
    notes: tuple[str, ...] = ()
    scans: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()

    @property
    def program(self) -> Program:
        """The trigger program."""
        from freshview.program.text import read_program

        return replace(read_program(self.text), notes=self.notes)

    @staticmethod
    def of(program: Program, source: Source) -> CompiledPlan:
        """The plan of a program and its C++ source."""
        from freshview.program.text import show_program, show_statement

        return CompiledPlan(
            source.text,
            show_program(program),
            program.notes,
            tuple(show_statement(s) for s in source.scans),
            source.deferred,
            tuple(why for _, why in source.compared),
        )
