"""Terms as nested C++ loops: what `reference.closures` does with closures, done with text.

Every node gets a continuation that writes the code inside: it is called where the variables of
the node are bound, with the multiplicity so far. All the consumers of rows add up, so a Sum needs
no code of its own; only Lift, Exists and Top need all the rows of their body first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from freshet.calculus.build import addends, is_zero
from freshet.calculus.check import Schema, infer
from freshet.calculus.scope import ins, is_value, outs
from freshet.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshet.calculus.types import INT, Type
from freshet.calculus.walk import subterms
from freshet.codegen.code import Scope, Spot, detached
from freshet.codegen.context import ONE, Bound, Next
from freshet.codegen.firsts import first_rows
from freshet.codegen.hold import Cpp, Held, convert, gain, held, zero_if_null
from freshet.codegen.indexed import range_sum
from freshet.codegen.nested import exists, lift, top
from freshet.codegen.options import Passes
from freshet.codegen.rings import cofactor_type, slots_of
from freshet.codegen.scalar import compare, scalar, times, whole
from freshet.codegen.storage import Place, Storage
from freshet.errors import NotNative
from freshet.program.terms import Map

_COLUMN = re.compile(r"c\d+")
_FIELD = re.compile(r"\w+\.k\d+")

AHEAD = 8
"""How many rows ahead memory is fetched: about what a core has under way at once."""


@dataclass
class Walk:
    """A loop over the rows of a batch's table, and what it fetches for rows to come."""

    scope: Scope
    rows: Storage

    def fetch(self, line: str) -> None:
        """One more look-up that each row will make."""
        self.scope.ahead[line] = None
        soon = f"[&](const {self.rows.record}& soon) {{ {' '.join(self.scope.ahead)} }}"
        self.scope.opener = (
            f"{self.rows.path}.each(e.scratch, {AHEAD}, {soon}, "
            f"[&](const {self.rows.record}& {self.scope.name}) {{"
        )


@dataclass
class Terms:
    """What the emission of terms needs to know, and what it finds out."""

    schema: Schema
    places: dict[str, Place]
    """Maps and static relations by name."""
    maps: Mapping[str, Map]
    """What the maps are."""
    deltas: dict[str, Place]
    """Batches that are asked for by key, as transient tables; filled by `delta`."""
    delta: Callable[[str], Place]
    transients: list[Storage]
    """Tables that live while a statement runs."""
    symbols: dict[str, str]
    """Long constant texts, and the names of their symbols in the state."""
    columns: Mapping[str, tuple[Type, ...]]
    """Column types of the relations."""
    passes: Passes
    brought: frozenset[str] = frozenset()
    """Tables whose rows came with the change: walking through them is no walk through the data."""
    scans: list[str] = field(default_factory=list)
    """Tables that the code so far walks through as a whole, whatever the size of the change."""
    ahead: dict[str, None] = field(default_factory=dict)
    """Look-ups by columns of the row alone: what can be fetched some rows ahead."""
    walks: dict[str, Walk] = field(default_factory=dict)
    """The loops over tables of the batch around what is written now, by the name of their row."""
    given: frozenset[str] = frozenset()
    """Conditions that hold for every row that comes here."""
    trigger: str = ""
    """What is being written."""
    asked: dict[tuple[str, tuple[str, ...]], set[tuple[str, tuple[int, ...]]]] = field(
        default_factory=dict
    )
    """By trigger and columns of its row: the storages that are asked by them, and by which keys."""
    turns: int = 0
    """How many conditions remember where they turn."""
    rare: bool = False
    """Whether what is emitted now runs only when an index cannot serve."""

    # -- rows ------------------------------------------------------------------------------------

    def emit(self, e: Expr, spot: Spot, env: Bound, m: Cpp, k: Next, last: bool = False) -> None:
        """Code that runs `k` for every row of `e`; `last` when `k` does nothing but write."""
        if is_zero(e):
            return
        if is_value(e) and not isinstance(e, Cmp | Mul):
            if self.given and self.condition(e, env) in self.given:
                k(spot, env, m)
                return
            value = self.value(e, env)
            # Of several addends, one that is NULL is 0, and not the whole.
            if not (isinstance(e, Add) and value.nullable):
                k(spot, env, times(m, zero_if_null(value)))
                return
        match e:
            case Const() | Var() | Apply():
                raise AssertionError("values are handled above")
            case Cmp():
                test = self.condition(e, env)
                if test != "true" and test not in self.given:
                    _, spot = spot.open(("if", test), "", f"if ({test}) {{")
                k(spot, env, m)
            case Rel(name, names) | View(name, names, ()):
                self.access(self.places[name], names, spot, env, m, k)
            case Delta(name, names):
                if any(v in env for v in names):
                    self.access(self.delta(name), names, spot, env, m, k)
                else:
                    self._batch(name, names, spot, env, m, k)
            case View():
                raise NotNative(f"view cache '{e.name}' is kept by the reference engine only")
            case Mul(factors):
                self.product(list(factors), spot, env, m, k, last)
            case Add(parts):
                if outs(e) <= env.keys() and (not last or _is_difference(e)):
                    value, spot = self.total(e, spot, env)
                    _, spot = spot.open(("there", value.text), "", f"if ({value.text} != 0) {{")
                    ahead = dict(self.ahead)
                    k(spot, env, times(m, value))
                    self.ahead = ahead  # what seldom happens is not worth fetching for
                else:
                    for part in parts:
                        self.emit(part, spot, env, m, k, last)
            case Sum():
                self._sum(e, spot, env, m, k, last)
            case Lift(var, body):
                lift(self, var, body, spot, env, m, k)
            case Exists(body):
                exists(self, body, spot, env, m, k)
            case Top():
                if not (self.passes.firsts and first_rows(self, e, spot, env, m, k)):
                    top(self, e, spot, env, m, k)
            case _:
                assert_never(e)

    def value(self, e: Expr, env: Bound) -> Cpp:
        """A scalar term."""
        return scalar(e, env.__getitem__, self.schema)

    def condition(self, e: Expr, env: Bound) -> str:
        """A scalar term as a C++ condition."""
        if isinstance(e, Cmp):
            return compare(e.op, self.value(e.left, env), self.value(e.right, env))
        return f"truth({self.value(e, env).text})"

    def product(
        self, factors: list[Expr], spot: Spot, env: Bound, m: Cpp, k: Next, last: bool
    ) -> None:
        """Factor by factor; tests go first as soon as what they read is bound.

        After them what does not depend on the factors before it: it would be computed again for
        every row of theirs.
        """
        if not factors:
            k(spot, env, m)
            return
        tests = (i for i, f in enumerate(factors) if isinstance(f, Cmp) and ins(f) <= env.keys())
        alone = (i for i, f in enumerate(factors) if _stands_alone(f, env))
        lifts = (i for i, f in enumerate(factors) if _is_lifting(f) and ins(f) <= env.keys())
        at = next(tests, next(lifts, next(alone, 0))) if self.passes.hoist else 0
        factor, rest = factors[at], factors[:at] + factors[at + 1 :]
        self.emit(
            factor,
            spot,
            env,
            m,
            lambda s, b, n: self.product(rest, s, b, n, k, last),
            last and not rest,
        )

    def _sum(self, e: Sum, spot: Spot, env: Bound, m: Cpp, k: Next, last: bool) -> None:
        if not (self.passes.ranges and range_sum(self, e, spot, env, m, k, last)):
            self.plain_sum(e, spot, env, m, k, last)

    def plain_sum(self, e: Sum, spot: Spot, env: Bound, m: Cpp, k: Next, last: bool) -> None:
        """A sum by loops: as a local if its keys are bound, else row by row."""
        inner = self.inside(e.keys, e.body, env)
        if not last and outs(e) <= env.keys() and not outs(e.body) <= inner.keys():
            value, spot = self.total(e, spot, env)
            k(spot, env, times(m, value))
            return

        def leave(s: Spot, b: Bound, n: Cpp) -> None:
            k(s, {**env, **{v: b[v] for v in outs(e)}}, n)

        self.emit(e.body, spot, inner, m, leave, last)

    def inside(self, keys: tuple[str, ...], body: Expr, env: Bound) -> Bound:
        """What is bound inside a grouping: its other variables are its own."""
        shared = {*keys, *ins(body)}
        return {v: x for v, x in env.items() if v in shared}

    def total(self, e: Expr, spot: Spot, env: Bound) -> tuple[Cpp, Spot]:
        """The sum of all multiplicities of a term, in a local."""
        t = self.payload(e, env)
        kind = held(t)
        inside = detached(spot)

        def collect(s: Spot, _: Bound, m: Cpp) -> None:
            s.line(gain("@", t, m))

        for part in addends(e):
            self.emit(part, Spot(inside), env, ONE, collect, last=True)
        start = f"{kind} @{{}};" if t.kind == "ring" else f"{kind} @ = 0;"
        name, spot = spot.computed("t", start, inside)
        return Cpp(name, t, kind), spot

    def payload(self, e: Expr, env: Bound) -> Type:
        """The type of a term's multiplicities."""
        t = infer(e, self.schema, {v: x.type for v, x in env.items()})[0]
        if t.kind != "ring":
            return t
        places, bound = self.places, env
        return cofactor_type(
            slots_of(e, lambda name: places[name].payload_type, lambda name: bound[name].type)
        )

    # -- atoms -----------------------------------------------------------------------------------

    def _batch(
        self, name: str, names: tuple[str, ...], spot: Spot, env: Bound, m: Cpp, k: Next
    ) -> None:
        """All the rows of the batch, as they came."""
        types = self.columns[name]
        loads = tuple(
            (f"c{j}_@", f"const {held_in(t)} c{j}_@ = col{j}[@];") for j, t in enumerate(types)
        )
        i, spot = spot.open(("batch", name), "j", "for (i64 @ = 0; @ < b.size; @++) {", "}", loads)
        self.bind(
            names,
            [Cpp(f"c{j}_{i}", t, held_in(t)) for j, t in enumerate(types)],
            spot,
            env,
            times(m, Cpp(f"b.count[{i}]", INT, "i64")),
            k,
        )

    def access(
        self, place: Place, names: tuple[str, ...], spot: Spot, env: Bound, m: Cpp, k: Next
    ) -> None:
        """get, slice or scan: by how many of the keys are bound."""
        known = [i for i, v in enumerate(names) if v in env]
        keys: dict[int, str] = {}
        for i in known:
            found, spot = self.seek(env[names[i]], place.key_type(i), spot)
            keys[place.columns[i]] = found
        s = place.storage
        where = "e.scratch" if s.transient else "e.arena"
        table = s.path
        positions = tuple(sorted(keys))
        key = "{" + ", ".join(keys[i] for i in positions) + "}"
        at_hand = _record_at_hand(place, [env[v] for v in names if v in env])
        if len(positions) == len(s.keys) and at_hand:
            arrow = at_hand
        elif set(s.found_by) <= keys.keys():
            self._fetch_ahead(place, keys)
            wanted = _wanted(s, keys)
            opener = f"if (const auto* @ = {table}.find({where}, {wanted})) {{"
            r, spot = spot.open(("get", s.name, wanted), "r", opener)
            arrow = f"{r}->"
            spot = self._count(spot, "1")
            for i in positions:
                if i not in s.found_by:
                    test = f"same({arrow}k{i}, {keys[i]})"
                    _, spot = spot.open(("if", test), "", f"if ({test}) {{")
        elif positions:
            m, spot = _settled(m, spot)
            j = s.index(positions)
            self._fetch_ahead(place, keys, j)
            opener = (
                f"{table}.template slice<{j}>({where}, Head{j}_{s.name}::Key{key}, "
                f"[&](const {s.record}& @) {{"
            )
            r, spot = spot.open(("slice", s.name, positions, key), "r", opener, "});")
            arrow = f"{r}."
            spot = self._count(spot, "1")
        else:
            if not s.transient and s.keys and not self.rare and s.name not in self.brought:
                self.scans.append(s.name)
            m, spot = _settled(m, spot)
            opener = f"{table}.each({where}, [&](const {s.record}& @) {{"
            outside = spot.block
            r, spot = spot.open(("scan", s.name), "r", opener, "});")
            if s.transient:
                self.walks[r] = Walk(outside.named(r), s)
            arrow = f"{r}."
            spot = self._count(spot, "1")
        n = Cpp(f"{arrow}p{place.payload}", place.payload_type, held(place.payload_type))
        columns = [
            Cpp(
                f"{arrow}k{place.columns[i]}",
                place.key_type(i),
                held(place.key_type(i)),
                (s.name, arrow, place.columns[i]),
            )
            for i in range(len(names))
        ]
        free = [i for i in range(len(names)) if i not in known]
        self.bind(
            tuple(names[i] for i in free), [columns[i] for i in free], spot, env, times(m, n), k
        )
        self.walks.pop(arrow.removesuffix("."), None)

    def _fetch_ahead(
        self, place: Place, keys: Mapping[int, str], index: int | None = None, write: bool = False
    ) -> None:
        """Note a look-up by columns of the row alone: they are known some rows before."""
        s = place.storage
        columns = s.found_by if index is None else s.indexes[index]
        texts = tuple(keys[i] for i in columns)
        if s.transient or self.rare or not texts:
            return
        walked = {text.partition(".")[0] for text in texts if _FIELD.fullmatch(text)}
        walk = self.walks.get(next(iter(walked), ""))
        if walk is not None and all(text.startswith(f"{walk.scope.name}.") for text in texts):
            if self.passes.ahead:
                soon = [f"soon.{text.partition('.')[2]}" for text in texts]
                walk.fetch(self._fetching(s, columns, soon, index, write))
            return
        if not all(map(_COLUMN.fullmatch, texts)):
            return
        self.asked.setdefault((self.trigger, texts), set()).add((s.name, columns))
        later = [f"col{text[1:]}[later]" for text in texts]
        if self.passes.ahead:
            self.ahead[self._fetching(s, columns, later, index, write)] = None

    def _fetching(
        self, s: Storage, columns: tuple[int, ...], later: list[str], index: int | None, write: bool
    ) -> str:
        """The statement that fetches what is looked up by these values later."""
        if s.home is not None:
            host, positions = s.home
            return _fetch_slice(host, host.index(positions), later)
        if write and len(columns) == len(s.keys):
            return f"{s.path}.prefetch_write(e.arena, {{{', '.join(later)}}});"
        if index is None:
            wanted = _wanted(s, dict(zip(columns, later, strict=True)))
            return f"{s.path}.prefetch(e.arena, {s.record}::hash({wanted}));"
        return _fetch_slice(s, index, later)

    def _count(self, spot: Spot, rows: str) -> Spot:
        """Count what is looked at, in kernels that are built to tell."""
        _, spot = spot.let(("visit",), "", f"FR_VISIT({rows});")
        return spot

    def bind(
        self,
        names: tuple[str, ...],
        columns: list[Cpp],
        spot: Spot,
        env: Bound,
        m: Cpp,
        k: Next,
    ) -> None:
        """Bind free variables to columns; a variable that stands twice must agree."""
        bound = dict(env)
        for name, column in zip(names, columns, strict=True):
            if name in bound:
                test = compare("=", bound[name], column)
                _, spot = spot.open(("if", test), "", f"if ({test}) {{")
            else:
                bound[name] = column
        k(spot, bound, m)

    def seek(self, x: Cpp, t: Type, spot: Spot) -> tuple[str, Spot]:
        """A bound value as a key to look up; text that the state does not know has no row."""
        if x.type.kind == "string" and x.held == "Str":
            known = self.symbol(x)
            if known is not None:
                return known, spot
            opener = f"if (Sym @; find_text(e, {x.text}, @)) {{"
            return spot.open(("seek", x.text), "y", opener)
        return self._key(x, t), spot

    def _put(self, x: Cpp, t: Type, spot: Spot) -> tuple[str, Spot]:
        """A bound value as a key to write."""
        if x.type.kind == "string" and x.held == "Str":
            known = self.symbol(x)
            if known is not None:
                return known, spot
            return spot.let(("put", x.text), "y", f"const Sym @ = put_text(e, {x.text});")
        return self._key(x, t), spot

    def stored(self, x: Cpp, spot: Spot) -> tuple[Cpp, Spot]:
        """A text as a symbol of the state."""
        name, spot = self._put(x, x.type, spot)
        return Cpp(name, x.type, "Sym"), spot

    def _key(self, x: Cpp, t: Type) -> str:
        if held(t) == "f64":
            return f"as_key({convert(x, t).text})"
        if (x.type.kind, x.type.scale) != (t.kind, t.scale):
            x = convert(x, t)
        return x.text

    def symbol(self, x: Cpp) -> str | None:
        """The symbol of a constant text: short ones are their own."""
        if not isinstance(x.constant, str):
            return None
        raw = x.constant.encode()
        if len(raw) <= 7:
            return f"Sym{{{int.from_bytes(raw, 'little') | len(raw) << 56}ull}}"
        name = self.symbols.setdefault(x.text, f"text{len(self.symbols)}")
        return f"s.{name}"

    # -- writing -----------------------------------------------------------------------------------

    def write(self, place: Place, keys: list[Cpp], spot: Spot, m: Cpp, op: str = "+=") -> None:
        """M[keys] += m, or M[keys] := m."""
        texts: dict[int, str] = {}
        for i, x in enumerate(keys):
            texts[place.columns[i]], spot = self._put(x, place.key_type(i), spot)
        s = place.storage
        where = "e.scratch" if s.transient else "e.arena"
        table = s.path
        key = "{" + ", ".join(texts[i] for i in sorted(texts)) + "}"
        self._fetch_ahead(place, texts, write=True)
        before = "" if s.transient else f" OLD_{s.name}(@)"
        after = "" if s.transient else f"NEW_{s.name}(@) "
        r, spot = spot.open(
            ("at", s.name, key),
            "w",
            f"{{ auto* @ = {table}.at({where}, {key}); FR_WRITE;{before}",
            f"{after}if (@->empty()) {table}.drop({where}, @); }}",
        )
        p, t = f"{r}->p{place.payload}", place.payload_type
        if op == "+=":
            spot.line(gain(p, t, m))
        else:
            spot.line(f"{p} = {convert(m, t).text};")


def _settled(m: Cpp, spot: Spot) -> tuple[Cpp, Spot]:
    """A factor before a loop: an element of a ring is multiplied out once, not for every row."""
    if m.type.kind != "ring" or whole(m) == m.text:
        return m, spot
    name, spot = spot.let(("let", m.text), "v", f"const {m.held} @ = {m.text};")
    return Cpp(name, m.type, m.held), spot


def _is_difference(e: Add) -> bool:
    """Whether parts of a sum are likely to cancel, as a nested term does with its new value."""
    return any(isinstance(part, Exists | Lift | Top) for part in subterms(e))


def _is_lifting(e: Expr) -> bool:
    """Whether a factor lifts a value into a ring: those of one row are lifted together."""
    return isinstance(e, Apply) and bool(e.ring)


def _stands_alone(e: Expr, env: Bound) -> bool:
    """Whether a nested term needs nothing that is not bound yet, and no key to be quick."""
    if not ins(e) <= env.keys() or is_value(e):
        return False
    match e:
        case Top(keys, _, _, _):
            return not keys
        case Lift(_, body) | Exists(body):
            return not is_value(body) and outs(body) <= env.keys()
        case _:
            return False


def _fetch_slice(s: Storage, index: int, later: list[str]) -> str:
    head = f"Head{index}_{s.name}"
    key = f"{head}::Key{{{', '.join(later)}}}"
    return f"s.{s.name}.template prefetch_slice<{index}>(e.arena, {head}::hash({key}));"


def _wanted(s: Storage, keys: Mapping[int, str]) -> str:
    """What a record is looked up by."""
    kind = "Key" if s.determining is None else "Part"
    return f"{s.record}::{kind}{{{', '.join(keys[i] for i in s.found_by)}}}"


def _record_at_hand(place: Place, keys: list[Cpp]) -> str | None:
    """The record whose own key is asked for, if a loop or a look-up holds it already."""
    records = {x.origin[:2] for x in keys if x.origin is not None}
    columns = [x.origin[2] for x in keys if x.origin is not None]
    if len(records) != 1 or columns != list(place.columns):
        return None
    [(storage, record)] = records
    return record if storage == place.storage.name else None


def held_in(t: Type) -> Held:
    """How a column of a batch is held: text as it came."""
    return "Str" if t.kind == "string" else held(t)
