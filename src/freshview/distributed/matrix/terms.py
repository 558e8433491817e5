"""The steps of the driver and the workers that maintain spread matrices, on one screen.

A matrix is on the driver, or it is spread: every worker has its share of the rows, and of a
matrix that is copied its share of the columns too. Statements of the driver are terms of
`freshview.linear`; those of workers are products, sums and updates of blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from freshview.linear.language.sizes import Size
from freshview.linear.language.terms import Expr

Form = Literal["rows", "columns", "partial", "whole", "local", "slice"]
"""The piece of a matrix that a worker reads.

Its rows or its columns; a summand of all of it; all of it, after an exchange; a matrix of the
driver, or its own rows of that.
"""

How = Literal["whole", "reduce", "columns", "place"]
"""How workers exchange blocks.

All workers get all the rows; summands are added up where the rows are; rows become columns; rows
move to their positions in a stack.
"""

TEMPORARY = "#"
"""The prefix of the names of temporary matrices."""

ROWS, COLS, VALUES = "#rows", "#cols", "#values"
"""The cells to replace, and their values; or the cells to read."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A piece of a matrix, maybe transposed."""

    name: str
    form: Form = "rows"
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class Fill:
    """Rows of a constant matrix: zeros, ones or the identity."""

    kind: Literal["zeros", "ones", "eye"]
    rows: int
    cols: int


@dataclass(frozen=True, slots=True)
class Begin:
    """No operation: makes a node run a step of a version."""


@dataclass(frozen=True, slots=True)
class Evaluate:
    """The driver: name := term, over its matrices; `limit` is that of `linear.evaluate`."""

    name: str
    term: Expr
    limit: float


@dataclass(frozen=True, slots=True)
class Follow:
    """The driver: view += left * right', or += left if there is no right."""

    view: str
    left: Expr
    right: Expr | None = None


@dataclass(frozen=True, slots=True)
class Multiply:
    """Workers: name := left * right, their rows of it or a summand of it."""

    name: str
    left: Operand
    right: Operand
    into: Literal["rows", "partial"] = "rows"


@dataclass(frozen=True, slots=True)
class Total:
    """Workers: name := a sum of multiples, their rows of it."""

    name: str
    items: tuple[tuple[float, Operand | Fill], ...]


@dataclass(frozen=True, slots=True)
class Join:
    """Workers: name := [a, b, ...], their rows of it."""

    name: str
    parts: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Grow:
    """Workers: view += left * right', rows and columns; both sides are broadcast."""

    view: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Plus:
    """Workers: view += a spread matrix, given by rows and, if the view is copied, by columns."""

    view: str
    by: Operand
    columns: Operand | None = None


@dataclass(frozen=True, slots=True)
class Keep:
    """Workers: view := a spread matrix."""

    view: str
    by: Operand


@dataclass(frozen=True, slots=True)
class Replace:
    """Cells of a view get new values: `row_ranges.py` selects them."""

    view: str
    spread: bool


@dataclass(frozen=True, slots=True)
class Scatter:
    """The driver sends a matrix to all the workers."""

    name: str
    size: Size
    kind: str = "scatter"


@dataclass(frozen=True, slots=True)
class Gather:
    """Workers send their rows, or summands, to the driver."""

    name: str
    source: Operand
    size: Size
    kind: str = "gather"


@dataclass(frozen=True, slots=True)
class Exchange:
    """Workers send blocks to each other; `at` is the first row, of `rows`, in a stack."""

    name: str
    source: Operand
    how: How
    size: Size
    at: int = 0
    rows: int = 0
    kind: str = "exchange"


AtDriver: TypeAlias = Begin | Evaluate | Follow | Replace
AtWorkers: TypeAlias = Begin | Multiply | Total | Join | Grow | Plus | Keep | Replace
Move: TypeAlias = Scatter | Gather | Exchange
Step: TypeAlias = AtDriver | AtWorkers | Move


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the driver: receive, run, send."""

    receives: tuple[Gather, ...] = ()
    blocks: tuple[AtDriver | Scatter, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a worker: receive, run, send to other workers, and gather to the driver."""

    receives: tuple[Scatter | Exchange, ...] = ()
    blocks: tuple[AtWorkers | Exchange, ...] = ()
    gathers: tuple[Gather, ...] = ()


@dataclass(frozen=True, slots=True)
class MatrixSchedule:
    """Turns of the driver around jobs, as in `distributed/stages.Schedule`."""

    turns: tuple[Turn, ...]
    jobs: tuple[tuple[Stage, ...], ...]
    steps: tuple[Step, ...] = ()
    """The steps in the order of the program, for `explain`."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of all the jobs."""
        return tuple(s for job in self.jobs for s in job)

    def first(self, job: int) -> int:
        """The number of a job's first stage among all of them."""
        return sum(len(j) for j in self.jobs[:job])
