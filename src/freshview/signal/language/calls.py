"""Table functions of SQL as plans: `fir(readings, period => 5, taps => (0.5, 0.5))`.

Every function reads events of one relation. `key` names the columns of its groups, `time` that of
the times (`time` if left out), `until` that of the ends of events, `value` the payload (all the
columns with numbers, if left out). The plan is the one that is written in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal as OneOf
from typing import NoReturn, TypeAlias, TypeVar

from freshview.signal.language.events import EventOperators
from freshview.signal.language.signals import Signal, UniformSignal
from freshview.signal.language.source import stream
from freshview.signal.language.windows import Windows
from freshview.signal.policies import Policy, constant, last, linear, quadratic, step
from freshview.signal.terms import BadSignal

Argument: TypeAlias = int | float | str | tuple[int | float | str, ...]
Kinds: TypeAlias = Mapping[str, str]
"""The columns of a relation, with the kinds of their types in SQL."""

Missing: TypeAlias = OneOf["zero", "invalid"]
Value = TypeVar("Value")

_POLICIES: dict[str, Callable[[int], Policy]] = {
    "linear": linear,
    "step": step,
    "last": last,
    "quadratic": quadratic,
    "zero": lambda window: constant(0.0, window),
}
_FIELDS = {"int": "int", "double": "double", "decimal": "double", "bool": "bool"}
_NUMBERS = ("int", "double", "decimal")
_TIMES = ("int", "timestamp", "date")


def call_plan(
    function: str, relation: str, arguments: Mapping[str, Argument], columns: Kinds
) -> EventOperators:
    """The plan of a call, whose source has the name of the relation."""
    read = Arguments(function, arguments)
    plan = _FUNCTIONS[function](_events(relation, read, columns), read)
    read.end()
    return plan


class Arguments:
    """The arguments of a call, each read once, as what it must be."""

    def __init__(self, function: str, values: Mapping[str, Argument]) -> None:
        self.function = function
        self._values = values
        self._read: set[str] = set()

    def has(self, name: str) -> bool:
        """Whether an argument is written."""
        return name in self._values

    def word(self, name: str, default: str | None = None) -> str:
        """A name or a text."""
        value = self._value(name, default)
        return value if isinstance(value, str) else self._refuse(name, value, "a name")

    def words(self, name: str) -> tuple[str, ...]:
        """Names; none, if the argument is left out."""
        value = self._value(name, ())
        values = value if isinstance(value, tuple) else (value,)
        return tuple(v if isinstance(v, str) else self._refuse(name, v, "names") for v in values)

    def integer(self, name: str, default: int | None = None) -> int:
        """A whole number."""
        value = self._value(name, default)
        return value if isinstance(value, int) else self._refuse(name, value, "an integer")

    def number(self, name: str, default: float | None = None) -> float:
        """A number."""
        value = self._value(name, default)
        if isinstance(value, int | float):
            return float(value)
        return self._refuse(name, value, "a number")

    def numbers(self, name: str) -> list[float]:
        """Numbers, in parentheses if there are several."""
        value = self._value(name, None)
        values = value if isinstance(value, tuple) else (value,)
        return [
            float(v) if isinstance(v, int | float) else self._refuse(name, v, "numbers")
            for v in values
        ]

    def one_of(self, name: str, values: Mapping[str, Value], default: str) -> Value:
        """What a word stands for."""
        word = self.word(name, default).lower()
        if word not in values:
            self._refuse(name, word, f"one of {', '.join(values)}")
        return values[word]

    def end(self) -> None:
        """Refuse what was not read."""
        if rest := sorted(self._values.keys() - self._read):
            raise BadSignal(
                f"{self.function}() has no argument '{rest[0]}'",
                instead=f"its arguments are {', '.join(sorted(self._read))}",
            )

    def _value(self, name: str, default: Argument | None) -> Argument:
        self._read.add(name)
        value = self._values.get(name, default)
        if value is None:
            raise BadSignal(f"{self.function}() needs '{name}'", instead=f"write {name} => ...")
        return value

    def _refuse(self, name: str, value: object, wanted: str) -> NoReturn:
        raise BadSignal(
            f"the argument '{name}' of {self.function}() is {value}", instead=f"give {wanted}"
        )


def _events(relation: str, read: Arguments, columns: Kinds) -> Signal:
    """The events of the relation, as a signal of each group."""
    kinds = {name.lower(): (name, kind) for name, kind in columns.items()}

    def column(name: str, kinds_wanted: tuple[str, ...], role: str) -> str:
        if name.lower() not in kinds:
            raise BadSignal(
                f"'{relation}' has no column '{name}' for the {role} of {read.function}()",
                instead=f"it has {', '.join(columns)}",
            )
        own, kind = kinds[name.lower()]
        if kind not in kinds_wanted:
            raise BadSignal(
                f"the {role} of {read.function}(), '{own}', is of type {kind}",
                instead=f"name a column of type {' or '.join(kinds_wanted)}",
            )
        return own

    keys = tuple(column(name, ("int", "string"), "key") for name in read.words("key"))
    time = column(read.word("time", "time"), _TIMES, "time")
    end = column(read.word("until"), _TIMES, "end") if read.has("until") else None
    values = [column(name, tuple(_FIELDS), "value") for name in read.words("value")]
    if not values:
        used = {*keys, time, end}
        values = [n for n, kind in columns.items() if n not in used and kind in _NUMBERS]
    types = {n: "string" if columns[n] == "string" else "int" for n in keys}
    types |= {n: _FIELDS[columns[n]] for n in values}
    return stream(relation, types, key=keys, time=time, end=end).to_signal()


def _policy(read: Arguments) -> Policy:
    return read.one_of("by", _POLICIES, "linear")(read.integer("within"))


def _sampled(events: Signal, read: Arguments) -> UniformSignal:
    """Samples at beats: where events are, or by a policy, if one is written."""
    policy = _policy(read) if read.has("within") or read.has("by") else None
    return events.sample(read.integer("period"), read.integer("offset", 0), policy)


def _interpolated(events: Signal, read: Arguments) -> UniformSignal:
    return events.sample(read.integer("period"), read.integer("offset", 0), _policy(read))


def _resampled(events: Signal, read: Arguments) -> UniformSignal:
    samples = events.sample(read.integer("every"), read.integer("first", 0))
    return samples.resample(read.integer("period"), read.integer("offset", 0), _policy(read))


def _missing(read: Arguments) -> Missing:
    words: dict[str, Missing] = {"zero": "zero", "invalid": "invalid"}
    return read.one_of("missing", words, "zero")


def _moving(events: Signal, read: Arguments) -> UniformSignal:
    samples = _sampled(events, read)
    size, hop = read.integer("size"), read.integer("hop", 1)
    aggregates: dict[str, Callable[[int, int], UniformSignal]] = {
        "mean": samples.mean,
        "sum": samples.sum,
        "std": samples.std,
        "min": samples.min,
        "max": samples.max,
    }
    if read.has("quantile"):
        return samples.quantile(read.number("quantile"), size, hop)
    return read.one_of("aggregate", aggregates, "mean")(size, hop)


def _arrays(
    transform: Callable[[Windows[UniformSignal], Arguments], Windows[UniformSignal]],
) -> Function:
    def plan(events: Signal, read: Arguments) -> UniformSignal:
        size = read.integer("size")
        windows = _sampled(events, read).windows(size, read.integer("hop", size), _missing(read))
        return transform(windows, read).arrays()

    return plan


Function: TypeAlias = Callable[[Signal, Arguments], EventOperators]

_FUNCTIONS: dict[str, Function] = {
    "sample": _sampled,
    "interpolate": _interpolated,
    "resample": _resampled,
    "fir": lambda s, a: _sampled(s, a).fir(a.numbers("taps"), _missing(a)),
    "iir": lambda s, a: _sampled(s, a).iir(a.numbers("b"), a.numbers("a"), _missing(a)),
    "correlate": lambda s, a: _sampled(s, a).correlate(a.numbers("pattern"), _missing(a)),
    "ema": lambda s, a: s.ema(a.number("alpha")),
    "moving": _moving,
    "zscore": lambda s, a: _sampled(s, a).zscore(a.integer("size")),
    "fft": _arrays(lambda w, a: w.fft()),
    "real_fft": _arrays(lambda w, a: w.real_fft()),
    "psd": _arrays(lambda w, a: w.psd(a.number("rate", 1.0))),
    "autocorrelation": _arrays(lambda w, a: w.autocorrelation()),
    "gaps": lambda s, a: s.gaps(a.integer("longer_than")),
    "sessions": lambda s, a: s.sessions(a.integer("timeout")),
}
