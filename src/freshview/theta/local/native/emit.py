"""The C++ of a predicate: what its index reads, which values it reaches, and what else must hold.

Columns are named by their places, constants are parameters: joins of the same form share a library.
Conditions without C++ stay in Python, which asks them of the pairs that come out: functions,
comparisons of decimals with other numbers, and windows over times that are doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from freshview.calculus.types import Kind
from freshview.temporal import Between, Hopping, Landmark, Sliding, Tumbling, TupleCount, Window
from freshview.theta.local.native.window_text import Reached, reach_of, window_text
from freshview.theta.local.predicate import Band, Bound, Comparison
from freshview.theta.local.store import Shape
from freshview.theta.terms import Side

LETTERS: dict[Kind, str] = {
    "int": "i",
    "date": "D",
    "timestamp": "T",
    "double": "d",
    "bool": "b",
    "string": "t",
    "decimal": "o",
}
"""How C++ names the kinds of columns: `Form` of rows.hpp."""

OBJECTS = ("string", "decimal")
MOST_COLUMNS = 60
MOST_CONSTANTS = 32
_OPERATORS = {
    "=": ("==", "Equal"),
    "!=": ("!=", "Unequal"),
    "<": ("<", "Less"),
    "<=": ("<=", "AtMost"),
    ">": (">", "Greater"),
    ">=": (">=", "AtLeast"),
}


@dataclass(frozen=True, slots=True)
class Inputs:
    """The columns of both sides, as kinds with whether they may be NULL, and where times are.

    A time column of -1 is none: its times are zeros, or those of a clock. `exact_times` says that
    all times are integers, `reads_clock` that they are of a clock.
    """

    r: tuple[tuple[Kind, bool], ...]
    s: tuple[tuple[Kind, bool], ...]
    time_r: int = -1
    time_s: int = -1
    exact_times: bool = True
    reads_clock: bool = False

    def of(self, side: Side) -> tuple[tuple[Kind, bool], ...]:
        """The columns of a side."""
        return self.r if side == "R" else self.s


@dataclass
class Constants:
    """Numbers that the text names by their places."""

    ints: list[int] = field(default_factory=list)
    doubles: list[float] = field(default_factory=list)

    def int(self, value: int) -> str:
        """The name of an integer."""
        self.ints.append(value)
        return f"env.ints[{len(self.ints) - 1}]"

    def double(self, value: float) -> str:
        """The name of a double."""
        self.doubles.append(float(value))
        return f"env.doubles[{len(self.doubles) - 1}]"


@dataclass(frozen=True, slots=True)
class NativePredicate:
    """A predicate in C++: its text, the constants, and which conditions it answers."""

    text: str
    ints: tuple[int, ...]
    doubles: tuple[float, ...]
    settled: tuple[Bound, ...]
    settles_window: bool
    index_bound: Bound | None
    """The condition of the ordered index, if it has the values of columns."""
    hashes_rows: bool
    """Whether the hash of the equality can be computed there, too, for single rows."""


def native_predicate(shape: Shape, inputs: Inputs) -> NativePredicate | None:
    """The C++ of a join; None where its index would be over values that C++ does not have."""
    if max(len(inputs.r), len(inputs.s)) > MOST_COLUMNS:
        return None
    theta = shape.theta
    native = tuple(b for b in theta.comparisons if _is_native(b, inputs))
    exact = inputs.exact_times or isinstance(shape.limit, TupleCount)
    window = shape.limit if exact and _is_exact(shape.limit) else None
    ranges = [b for b in native if b.is_range and b.kind not in OBJECTS]
    constants = Constants()
    if theta.equalities:
        way, reach, omitted = "Hashed", Reached("i64", "0", "0"), None
        if not all(b in native for b in theta.equalities):
            return None
    elif ranges:
        omitted = ranges[0] if ranges[0].is_exact else None
        way, reach = "Sorted", _range_of(ranges[0], inputs, constants)
    elif theta.first_range is not None:
        return None
    else:
        timed = reach_of(window, constants) if window is not None else None
        if timed is None and isinstance(shape.limit, Sliding | Between | Tumbling | Hopping):
            return None
        way, omitted = ("Scanned", None) if timed is None else ("Sorted", None)
        reach = Reached("i64", "0", "0") if timed is None else timed
    conditions = [_condition(b, inputs, constants) for b in native if b is not omitted]
    if window is not None:
        conditions.append(window_text(window, constants))
    if len(constants.ints) > MOST_CONSTANTS or len(constants.doubles) > MOST_CONSTANTS:
        return None
    hashes = all(b.kind not in OBJECTS for b in theta.equalities)
    hash_of = _hash_text(theta.equalities, inputs) if hashes else "0"
    return NativePredicate(
        _text(way, reach, conditions, theta.comparisons, hash_of),
        tuple(constants.ints),
        tuple(constants.doubles),
        native,
        shape.limit is None or window is not None,
        ranges[0] if way == "Sorted" and ranges else None,
        hashes,
    )


def _is_native(bound: Bound, inputs: Inputs) -> bool:
    kinds = inputs.r[bound.r][0], inputs.s[bound.s][0]
    if not any(kind in OBJECTS for kind in kinds):
        return True
    return kinds[0] == kinds[1] and isinstance(bound.condition, Comparison)


def _is_exact(window: Window | None) -> bool:
    """Whether the ends of a window are integers."""
    match window:
        case Sliding(length):
            return isinstance(length, int)
        case Between(low, high):
            return isinstance(low, int) and isinstance(high, int)
        case Tumbling(length, origin):
            return isinstance(length, int) and isinstance(origin, int)
        case Hopping(length, slide, origin):
            return all(isinstance(x, int) for x in (length, slide, origin))
        case Landmark(start):
            return isinstance(start, int)
        case TupleCount():
            return True
        case _:
            return False


def _value(kind: Kind, place: int, wanted: Kind, rows: str, row: str) -> str:
    """The value of a column in the kind in which it is compared."""
    match kind:
        case "double":
            return f"{rows}.as<f64>({2 * place})[{row}]"
        case "bool":
            return f"i64({rows}.at[{2 * place}][{row}])"
        case "string" | "decimal":
            return f"{rows}.as<py::PyObject*>({2 * place})[{row}]"
    number = f"{rows}.as<i64>({2 * place})[{row}]"
    if wanted == "double":
        return f"f64({number})"
    return f"{number} * DAY" if kind == "date" and wanted == "timestamp" else number


def _sides(bound: Bound, inputs: Inputs) -> tuple[str, str]:
    left = _value(inputs.r[bound.r][0], bound.r, bound.kind, "r", "i")
    right = _value(inputs.s[bound.s][0], bound.s, bound.kind, "s", "j")
    return left, right


def _condition(bound: Bound, inputs: Inputs, constants: Constants) -> str:
    left, right = _sides(bound, inputs)
    match bound.condition:
        case Comparison(_, op, _):
            sign, name = _OPERATORS[op]
            if bound.kind in OBJECTS:
                return f"py::PyObject_RichCompareBool({left}, {right}, py::{name}) == 1"
            return f"{left} {sign} {right}"
        case Band(_, _, low, high):
            if bound.is_exact:
                ends = (constants.int(int(low)), constants.int(int(high)))
                return f"lies({right}, shift({left}, {ends[0]}), shift({left}, {ends[1]}))"
            ends = (constants.double(low), constants.double(high))
            return f"lies({right} - {left}, {ends[0]}, {ends[1]})"


def _range_of(bound: Bound, inputs: Inputs, constants: Constants) -> Reached:
    """What an ordered index over a condition reads, and the values that a row reaches."""
    left = _value(inputs.r[bound.r][0], bound.r, bound.kind, "x", "i")
    right = _value(inputs.s[bound.s][0], bound.s, bound.kind, "x", "i")
    key = "f64" if bound.kind == "double" else "i64"
    match bound.condition:
        case Comparison(_, op, _):
            behind = "<=" if op in ("<", ">") else "<"
            upto = "<" if op in ("<", ">") else "<="
            above = "side == R" if op in ("<", "<=") else "side == S"
            return Reached(
                key,
                left,
                right,
                ("low = at, high = at, is_above = " + above + ";",),
                f"is_above && key {behind} low",
                f"is_above || key {upto} high",
            )
        case Band(_, _, low, high):
            if bound.is_exact:
                a, b = constants.int(int(low)), constants.int(int(high))
                return Reached(
                    key,
                    left,
                    right,
                    (
                        f"low = shift(at, side == R ? {a} : -{b});",
                        f"high = shift(at, side == R ? {b} : -{a});",
                    ),
                )
            a, b = constants.double(low), constants.double(high)
            return Reached(
                key,
                left,
                right,
                (
                    f"const f64 from = side == R ? {a} : -{b}, to = side == R ? {b} : -{a};",
                    "low = at + from - rounding(at, from), high = at + to + rounding(at, to);",
                ),
            )


def _hash_text(equalities: Sequence[Bound], inputs: Inputs) -> str:
    """The hash of the columns that must be equal, as `join_hashes` computes it."""
    texts = []
    for side, columns in (("R", inputs.r), ("S", inputs.s)):
        text = "u64(0)"
        for b in equalities:
            place = b.r if side == "R" else b.s
            value = _value(columns[place][0], place, b.kind, "x", "i")
            bits = f"bits_of({value} + 0.0)" if b.kind == "double" else f"u64({value})"
            text = f"combine({text}, scatter({bits}))"
        texts.append(text)
    return f"side == R ? {texts[0]} : {texts[1]}"


def _text(
    way: str, reach: Reached, conditions: list[str], comparisons: Sequence[Bound], hash_of: str
) -> str:
    valid = [
        " && ".join(sorted({f"x.is_valid({p}, i)" for p in places})) or "true"
        for places in ([b.r for b in comparisons], [b.s for b in comparisons])
    ]
    holds = " &&\n           ".join(f"({c})" for c in conditions) or "true"
    body = "\n      ".join(reach.body)
    return f"""#include "theta/join.hpp"

namespace fr {{
namespace theta {{

struct Theta {{
  struct Env {{
    Form form[2];
    i64 ints[{MOST_CONSTANTS}];
    f64 doubles[{MOST_CONSTANTS}];
    int time[2];
  }};
  static constexpr Way INDEX = {way};
  using IndexKey = {reach.key};

  static bool is_joinable(int side, const Rows& x, i64 i) {{
    return side == R ? {valid[0]} : {valid[1]};
  }}

  static IndexKey index_key(const Env& env, int side, const Rows& x, i64 i) {{
    return side == R ? {reach.of_r} : {reach.of_s};
  }}

  struct Reach {{
    IndexKey low = 0, high = 0;
    bool is_above = true;

    Reach(const Env& env, int side, const Rows& x, i64 i) {{
      const IndexKey at = index_key(env, side, x, i);
      {body}
    }}
    bool before(IndexKey key) const {{ return {reach.before}; }}
    bool upto(IndexKey key) const {{ return {reach.upto}; }}
  }};

  static bool holds(const Env& env, const Rows& r, i64 i, const Rows& s, i64 j) {{
    return {holds};
  }}

  static u64 hash_of(int side, const Rows& x, i64 i) {{
    return {hash_of};
  }}
}};

}}  // namespace theta
}}  // namespace fr

#include "theta/entries.hpp"
"""
