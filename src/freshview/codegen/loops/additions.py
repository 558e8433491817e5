"""What the rows of a batch only add: the shape of loops whose blocks of rows may be added up first.

Additions commute, so a block of rows may be added up by key, and every key of it written once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from freshview.calculus.terms import Add, Const, Expr, Mul, Var
from freshview.calculus.types import Type
from freshview.codegen.cpp.types import batch_type, cpp_type
from freshview.codegen.layout.terms import Table
from freshview.codegen.loops.effects import (
    Gain,
    Touch,
)
from freshview.codegen.loops.terms import (
    At,
    Batch,
    Block,
    Group,
    Intern,
    Let,
)
from freshview.codegen.loops.walk import all_names_read

EXACT = ("int", "decimal")

CODED = ("Str", "i64", "i32", "i8")
"""How columns lie in a batch by which its rows can be grouped."""

SMALL = 1 << 62
"""What constants stay below: the bounds of a block are computed in 64 bits."""

MOST_ADDENDS = 8
"""What a row adds to one sum of doubles at most: so much fits beside a block's rows in 63 bits."""


@dataclass(frozen=True)
class Additions:
    """What a row adds to one record, and the locals that this needs."""

    signs: tuple[Let, ...]
    """Locals that hold how often the row comes."""
    texts: tuple[Intern, ...]
    touches: tuple[Touch, ...]
    record: At
    gains: tuple[Gain, ...]

    @property
    def keys(self) -> Block:
        """What finds the record."""
        return (*self.texts, replace(self.record, body=()))

    @property
    def touching(self) -> Block:
        """What says which rows of views the record is in."""
        return (*self.texts, *self.touches)


def additions(s: Batch) -> Additions | None:
    """What the rows of a batch add, if that is all they do, and all of it to one table."""
    flat = _flat(s.body)
    # Which rows of a view a write may change is the same for all the rows of a key.
    touches = tuple(x for x in flat if isinstance(x, Touch))
    parts = [x for x in flat if not isinstance(x, Touch)]
    signs = tuple(x for x in parts if isinstance(x, Let))
    texts = tuple(x for x in parts if isinstance(x, Intern))
    records = [x for x in parts if isinstance(x, At)]
    if len(records) != 1 or len(parts) != len(signs) + len(texts) + 1 or parts[-1] != records[0]:
        return None
    gains = tuple(x for x in records[0].body if isinstance(x, Gain))
    counts = all(x.value == Var(f"{s.row}.count") for x in signs)
    if not counts or not gains or len(gains) != len(records[0].body):
        return None
    return Additions(signs, texts, touches, records[0], gains)


def can_be_added_up(
    additions: Additions, s: Batch, types: Mapping[str, Type], table: Table
) -> bool:
    """Whether a row adds numbers of its columns, by keys of its own, that a block can add up.

    Those are whole numbers and decimals of 64 bits, whose sums are the same in any order, and
    products of doubles. Rows are grouped by the columns that keys read.
    """
    coded = {f"{s.row}.{c}" for c, t in types.items() if batch_type(t) in CODED}
    if not all_names_read(additions.keys) <= coded | {x.name for x in additions.texts}:
        return False
    counts = {f"{s.row}.count"} | {x.name for x in additions.signs}
    columns = {f"{s.row}.{c}": t for c, t in types.items()}
    exact = {x for x, t in columns.items() if t.kind in EXACT and cpp_type(t) == "i64"}
    factors = {x for x, t in columns.items() if t.kind in ("int", "double") and not t.nullable}
    addends = Counter(gain.payload for gain in additions.gains)
    return all(t.kind in (*EXACT, "double") for t in table.payloads) and all(
        addends[gain.payload] <= MOST_ADDENDS and all(_is_factor(e, counts | factors) for e in w)
        if table.payloads[gain.payload].kind == "double"
        else all(_is_exact(e, counts | exact) for e in w)
        for gain in additions.gains
        for w in (gain.weight,)
    )


def _is_factor(e: Expr, known: set[str]) -> bool:
    """Whether a factor of a double is a number that is known, or a product of such."""
    match e:
        case Const(int() | float() as x, t) if t.kind in ("int", "double"):
            return abs(x) < SMALL
        case Var(name):
            return name in known
        case Mul(parts):
            return all(_is_factor(part, known) for part in parts)
        case _:
            return False


def _is_exact(e: Expr, known: set[str]) -> bool:
    match e:
        case Const(int() | Decimal() as x, t) if not isinstance(x, bool) and t.kind in EXACT:
            return abs(Decimal(x).scaleb(t.scale)) < SMALL
        case Var(name):
            return name in known
        case Add(parts) | Mul(parts):
            return all(_is_exact(part, known) for part in parts)
        case _:
            return False


def _flat(block: Block) -> list[object]:
    """The statements of a block, those of groups in their place."""
    return [x for s in block for x in (_flat(s.body) if isinstance(s, Group) else [s])]
