"""Distributed programs: locations, transformers, and blocks of steps (Nikolic 2016, chapter 5).

A driver and P workers have maps. A location defines which of them have which rows of a map, or of
the value of a term; only transformers move rows from one location to another.

A transformer is a view in a term: `got[a, b]` with a `Move` beside the term that defines `got`. So
terms stay terms of the calculus, and all of its passes apply to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.terms import Expr, View
from freshview.calculus.types import Type
from freshview.errors import FreshviewError
from freshview.program.terms import Program, Statement


class PlacementProblem(FreshviewError):
    """A program that cannot be spread over workers, or a placement that does not fit it."""


@dataclass(frozen=True, slots=True)
class Local:
    """On the driver."""


@dataclass(frozen=True, slots=True)
class Dist:
    """Each row on one worker: the one that the hash of its `keys` names.

    The keys are columns of a map, or variables of a term.
    """

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """One side of a join of all pairs, on a grid of workers; `shape` says its rows and columns.

    The hash of the `keys` names the line of the grid, a row or a column by the `axis`, and all the
    workers of the line have the row. Workers are in the grid row by row; those beyond have nothing.
    Without keys, the lines have arbitrary parts, whose sum is the whole.
    """

    keys: tuple[str, ...]
    axis: Literal["rows", "columns"]
    shape: tuple[int, int]

    @property
    def lines(self) -> int:
        """How many parts there are."""
        return self.shape[0] if self.axis == "rows" else self.shape[1]

    @property
    def copies(self) -> int:
        """How many workers have each part."""
        return self.shape[1] if self.axis == "rows" else self.shape[0]

    def line(self, worker: int) -> int | None:
        """The part of a worker.

        >>> [Slice(("a",), "rows", (2, 3)).line(w) for w in range(7)]
        [0, 0, 0, 1, 1, 1, None]
        >>> [Slice(("a",), "columns", (2, 3)).line(w) for w in range(7)]
        [0, 1, 2, 0, 1, 2, None]
        """
        rows, columns = self.shape
        if worker >= rows * columns:
            return None
        return worker // columns if self.axis == "rows" else worker % columns

    def sends(self, worker: int) -> bool:
        """Whether a worker is the first one of its line: what is sent is sent once."""
        rows, columns = self.shape
        if worker >= rows * columns:
            return False
        return worker % columns == 0 if self.axis == "rows" else worker < columns


@dataclass(frozen=True, slots=True)
class Random:
    """In arbitrary parts on the workers: their sum is the whole.

    With `whole` rows the multiplicity of a row is not split among workers: each worker knows
    whether its rows exist.
    """

    whole: bool = False


@dataclass(frozen=True, slots=True)
class Replicated:
    """A full copy on every worker, none on the driver."""


@dataclass(frozen=True, slots=True)
class Everywhere:
    """The same on the driver and on every worker: constants, and maps over static tables alone."""


Location: TypeAlias = Local | Dist | Slice | Random | Replicated | Everywhere


def keys_of(at: Location) -> tuple[str, ...]:
    """The columns that name the worker of a row, if there are such."""
    return at.keys if isinstance(at, Dist | Slice) else ()


def rekeyed(at: Location, names: Mapping[str, str]) -> Location:
    """A location whose columns have other names."""
    if isinstance(at, Dist | Slice):
        return replace(at, keys=tuple(names[k] for k in at.keys))
    return at


Kind = Literal["scatter", "repart", "gather", "keep"]
"""Scatter: driver to workers. Repart: workers to workers. Gather: workers to driver.

Keep moves nothing: of a full copy each worker keeps the rows that its location gives to it.
"""

Mode = Literal["local", "distributed"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A term that is evaluated at a location; its `moves` are views in it."""

    term: Expr
    at: Location
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """A transformer: it moves the value of `body` `to` a location, as `view`.

    `plain` is the body as a term without transformers.
    """

    kind: Kind
    view: View
    to: Location
    body: Placed
    plain: Expr


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    """M[keys] += term or M[keys] := term, where M and the term are at one location."""

    target: View
    op: Literal["+=", ":="]
    source: Placed


@dataclass(frozen=True, slots=True)
class Compute:
    """A statement without transformers: run by the driver (Local), or by each worker for itself."""

    statement: Statement
    at: Location

    @property
    def mode(self) -> Mode:
        """Where it runs."""
        return "local" if isinstance(self.at, Local) else "distributed"

    @property
    def target(self) -> str:
        """The map that it writes."""
        return self.statement.target.name


@dataclass(frozen=True, slots=True)
class Transfer:
    """target := transformer(source): both have the same columns; equal rows that meet add up.

    `by` are the columns that name the worker of a row, by position, when it goes to a `Dist` or a
    `Slice`. Of a source that has full `copies` on the workers only one is sent; of one in `slices`
    that of the first worker of each line.
    """

    kind: Kind
    source: str
    target: str
    to: Location
    by: tuple[int, ...] = ()
    copies: bool = False
    slices: Slice | None = None

    def sends(self, worker: int) -> bool:
        """Whether a worker sends its part of the source."""
        if self.slices is not None:
            return self.slices.sends(worker)
        return not self.copies or worker == 0

    @property
    def mode(self) -> Mode:
        """The driver starts all network transfers."""
        return "distributed" if self.kind == "keep" else "local"


Step: TypeAlias = Compute | Transfer


@dataclass(frozen=True, slots=True)
class Block:
    """Steps that run one after the other without a break: on the driver, or on every worker."""

    mode: Mode
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class MapPlacement:
    """A map with its location; a temporary one exists during one batch.

    Every temporary map is written by `:=` or by a transfer before it is read.
    """

    name: str
    keys: tuple[Column, ...]
    payload: Type
    at: Location
    temporary: bool = False

    @property
    def by(self) -> tuple[int, ...]:
        """The positions of the columns that name the worker of a row."""
        names = [c.name for c in self.keys]
        return tuple(names.index(k) for k in keys_of(self.at))


@dataclass(frozen=True, slots=True)
class Routine:
    """The blocks for changes of relations (without relations: after the static tables are loaded).

    `relations` are applied in this order, as if their batches came one after the other.
    """

    relations: tuple[str, ...]
    blocks: tuple[Block, ...]
    maps: tuple[MapPlacement, ...]
    changes: tuple[str, ...] = ()
    """The driver's maps that have what changed in queries when it ends (`ChangePart.map`)."""


@dataclass(frozen=True, slots=True)
class ChangePart:
    """A part of a query whose changes are collected, in a map of the driver.

    The map is temporary, and written by every routine that can change the part. The sum of `term`
    over the parts of a query, each over what its map has, is what changed in the query's `vars`.
    """

    query: str
    map: str
    keys: tuple[Column, ...]
    vars: tuple[str, ...]
    term: Expr


@dataclass(frozen=True, slots=True)
class Readout:
    """How a query is read: blocks that leave its rows in the driver's map `result`."""

    query: Query
    result: str
    blocks: tuple[Block, ...]
    maps: tuple[MapPlacement, ...]


@dataclass(frozen=True)
class Placement:
    """The locations of maps and of arriving batches, by name; a batch is `Random` by default."""

    maps: Mapping[str, Location]
    batches: Mapping[str, Location] = field(default_factory=dict)
    words: tuple[str, ...] = field(default=(), compare=False)
    """The reasons, one sentence per map."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A relation whose batches are checked (`guard.py`), and the names of its maps.

    Batches are also sent whole, as the relation `source`. The map `missing` has the missing rows
    that a batch deletes, `doubled` the keys that would have two rows; the maps `kept` are
    permanent.
    """

    relation: Relation
    source: str
    kept: tuple[str, ...]
    missing: str
    doubled: str


@dataclass(frozen=True)
class Distributed:
    """A program over a driver and workers.

    `ready` runs once the static tables are loaded on every node. `routines` has one for each
    relation alone, and one for all of them together where there are several.
    """

    program: Program
    placement: Placement
    maps: tuple[MapPlacement, ...]
    ready: Routine
    routines: tuple[Routine, ...]
    readouts: tuple[Readout, ...]
    changes: tuple[ChangePart, ...] = ()
    """The parts of the queries whose changes are collected."""
    compared: Mapping[str, str] = field(default_factory=dict)
    """Why the changes of queries are not collected that should be, by their names."""
    change_words: tuple[str, ...] = field(default=(), compare=False)
    """How changes are collected, or why they are not: a sentence for each query."""
    guarded: tuple[Relation, ...] = ()
    """The streams whose batches are to be checked."""
    guards: tuple[Guard, ...] = ()
    """The guards of a prepared program."""

    def routine(self, *relations: str) -> Routine:
        """The smallest routine for batches of these relations; other batches are empty."""
        wanted = set(relations)
        fitting = [r for r in self.routines if wanted <= set(r.relations)]
        if not fitting:
            known = ", ".join(sorted({n for r in self.routines for n in r.relations}))
            names = ", ".join(sorted(wanted))
            raise PlacementProblem(f"no view reads batches of {names}", instead=f"use {known}")
        return min(fitting, key=lambda r: len(r.relations))
