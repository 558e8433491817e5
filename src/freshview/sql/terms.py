"""Our own SQL tree: what a statement says, before anyone asks what it means.

Places are no part of equality: a SELECT item equals the GROUP BY expression that it repeats.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from freshview.calculus.terms import Op
from freshview.calculus.types import Type, Value
from freshview.errors import Place
from freshview.sql.frames import Frame, Unit

NOWHERE = Place()


@dataclass(frozen=True, slots=True)
class Name:
    """A column as written: `x` or `t.x`."""

    name: str
    table: str | None = None
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Ref:
    """A column that was found: the variable that holds it."""

    var: str
    type: Type
    name: str = field(default="", compare=False)
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; `type` tells 1 from 1.0 and from true."""

    value: Value
    type: Type
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Interval:
    """A span of time, in the largest unit that tells its length."""

    count: int
    unit: Unit
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Arith:
    """left op right, op one of + - * / %."""

    op: str
    left: Scalar
    right: Scalar
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A scalar function, its name in lower case; LIKE is the function `like`."""

    fn: str
    args: tuple[Scalar, ...]
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Lifted:
    """[fn: ring](args): a lifting function, its names as they are written."""

    fn: str
    ring: str
    args: tuple[Scalar, ...]
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Case:
    """CASE WHEN ... THEN ... ELSE ... END; the form with an operand is written out."""

    branches: tuple[tuple[Scalar, Scalar], ...]
    otherwise: Scalar | None = None
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """CAST(arg AS type), or TRY_CAST; `digits` is how many a DECIMAL has."""

    arg: Scalar
    type: Type
    digits: int = 0
    tried: bool = False
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """SUM, COUNT, AVG, MIN, MAX in lower case; no argument is COUNT(*)."""

    fn: str
    args: tuple[Scalar, ...]
    distinct: bool = False
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Over:
    """fn(args) OVER (PARTITION BY ... ORDER BY ... frame), fn an aggregate or a window function."""

    fn: str
    args: tuple[Scalar, ...]
    partition: tuple[Scalar, ...] = ()
    order: tuple[OrderKey, ...] = ()
    frame: Frame | None = None
    distinct: bool = False
    ignore_nulls: bool = False
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ScalarQuery:
    """(SELECT ...) where a value is asked for."""

    query: Select
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """left op right; unknown if a side is NULL."""

    op: Op
    left: Scalar
    right: Scalar
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Same:
    """left IS NOT DISTINCT FROM right; never unknown."""

    left: Scalar
    right: Scalar
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold; never an And directly inside an And."""

    parts: tuple[Scalar, ...]
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """Some part holds; never an Or directly inside an Or."""

    parts: tuple[Scalar, ...]
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite; unknown stays unknown."""

    arg: Scalar
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class InList:
    """arg IN (item, item, ...)."""

    arg: Scalar
    items: tuple[Scalar, ...]
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class IsNull:
    """arg IS NULL."""

    arg: Scalar
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class IsTruth:
    """arg IS TRUE, arg IS FALSE."""

    arg: Scalar
    truth: bool
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ExistsQuery:
    """EXISTS (SELECT ...)."""

    query: Select
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Quantified:
    """(left, ...) op ANY (SELECT ...), or ALL if `every`; IN is = ANY."""

    op: Op
    every: bool
    left: tuple[Scalar, ...]
    query: Select
    at: Place = field(default=NOWHERE, compare=False)


Condition: TypeAlias = (
    Compare | Same | And | Or | Not | InList | IsNull | IsTruth | ExistsQuery | Quantified
)
Scalar: TypeAlias = (
    Name
    | Ref
    | Literal
    | Interval
    | Arith
    | Call
    | Lifted
    | Case
    | Cast
    | Aggregate
    | Over
    | ScalarQuery
    | Condition
)


@dataclass(frozen=True, slots=True)
class Item:
    """One column of a SELECT list."""

    expr: Scalar
    name: str | None = None
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Star:
    """`*` or `t.*`, without the columns that EXCEPT names."""

    table: str | None = None
    without: tuple[Name, ...] = ()
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Table:
    """A relation, view or common table expression in FROM; `name` has its schema before it."""

    name: str
    alias: str
    columns: tuple[str, ...] = ()
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Derived:
    """(SELECT ...) alias (column, ...) in FROM; one that is LATERAL sees what stands before it.

    Columns that are `hidden` are seen behind the alias only; with a `window`, they are sessions'.
    """

    query: Select
    alias: str
    columns: tuple[str, ...] = ()
    at: Place = field(default=NOWHERE, compare=False)
    lateral: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Combined:
    """SELECT ... UNION SELECT ...; more than two arms only where their order does not matter."""

    op: OneOf["union", "intersect", "except"]
    every: bool
    arms: tuple[Select, ...]
    alias: str
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Values:
    """VALUES (1, 'a'), (2, 'b') AS alias (column, ...)."""

    rows: tuple[tuple[Scalar, ...], ...]
    alias: str
    columns: tuple[str, ...] = ()
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Pivot:
    """source PIVOT (aggregates FOR (columns) IN (values AS label, ...))."""

    source: From
    aggregates: tuple[tuple[Scalar, str], ...]
    columns: tuple[Name, ...]
    values: tuple[tuple[tuple[Scalar, ...], str], ...]
    alias: str
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Unpivot:
    """source UNPIVOT ((values) FOR name IN ((columns) AS label, ...))."""

    source: From
    values: tuple[str, ...]
    name: str
    sets: tuple[tuple[tuple[Name, ...], str], ...]
    include_nulls: bool
    alias: str
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Join:
    """left JOIN right; `using` is None for NATURAL, which takes the common columns.

    With `asof` only the nearest row on the right is a partner.
    """

    kind: OneOf["inner", "left", "right", "full", "semi", "anti"]
    left: From
    right: From
    on: Scalar | None = None
    using: tuple[str, ...] | None = ()
    asof: bool = False
    at: Place = field(default=NOWHERE, compare=False)


From: TypeAlias = Table | Derived | Combined | Values | Pivot | Unpivot | Join


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One ORDER BY expression."""

    expr: Scalar
    descending: bool = False
    nulls_first: bool = False
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Cte:
    """WITH name (column, ...) AS (SELECT ...)."""

    name: str
    columns: tuple[str, ...]
    query: Select
    at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Select:
    """A whole SELECT, clause by clause.

    `sets` are the groupings of GROUPING SETS, ROLLUP and CUBE, `keys` all their expressions.
    A SELECT with `keys` and without `sets` is one of these groupings.
    """

    items: tuple[Item | Star, ...]
    sources: tuple[From, ...] = ()
    where: Scalar | None = None
    group: tuple[Scalar, ...] = ()
    having: Scalar | None = None
    qualify: Scalar | None = None
    distinct: bool = False
    order: tuple[OrderKey, ...] = ()
    by_all: OrderKey | None = None  # ORDER BY ALL
    limit: int | None = None
    offset: int = 0
    sets: tuple[tuple[Scalar, ...], ...] = ()
    keys: tuple[Scalar, ...] = ()
    ctes: tuple[Cte, ...] = ()
    window: Interval | Literal | None = None
    final: bool = False
    ignored: tuple[str, ...] = field(default=(), compare=False)  # hints, SORT BY: change no row
    at: Place = field(default=NOWHERE, compare=False)
