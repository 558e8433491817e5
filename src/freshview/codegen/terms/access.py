"""Tables read and written: get, slice or scan by what is bound, and `M[keys] += m`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from freshview.calculus.check import Schema
from freshview.calculus.types import INT, Type
from freshview.codegen.cpp.arithmetic import times
from freshview.codegen.cpp.code import Spot
from freshview.codegen.cpp.compare import compare
from freshview.codegen.cpp.ring_elements import SEEN, multiplied_out
from freshview.codegen.cpp.types import (
    Cpp,
    batch_type,
    convert,
    cpp_payload_type,
    cpp_type,
    digits_lost,
    gain,
    integer,
    is_mixed,
    summand,
)
from freshview.codegen.layout.storage import MapPlace, Storage
from freshview.codegen.options import KernelPasses
from freshview.codegen.terms.context import Bound, Next
from freshview.codegen.terms.prefetch import COLUMN, Walk, fetching, wanted
from freshview.program.terms import Map


@dataclass
class Access:
    """What reads and writes tables: what it needs to know of a kernel, and what it finds out."""

    schema: Schema
    places: dict[str, MapPlace]
    """Maps and static relations by name."""
    maps: Mapping[str, Map]
    """What the maps are."""
    deltas: dict[str, MapPlace]
    """Batches that are asked for by key, as transient tables; filled by `delta`."""
    delta: Callable[[str], MapPlace]
    transients: list[Storage]
    """Tables that live while a statement runs."""
    symbols: dict[str, str]
    """Long constant texts, and the names of their symbols in the state."""
    columns: Mapping[str, tuple[Type, ...]]
    """Column types of the relations."""
    passes: KernelPasses
    batch_tables: frozenset[str] = frozenset()
    """Tables whose rows came with the change: walking through them is no walk through the data."""
    scans: list[str] = field(default_factory=list)
    """Tables that the code so far walks through as a whole, whatever the size of the change."""
    prefetches: dict[str, None] = field(default_factory=dict)
    """Look-ups by columns of the row alone: their memory is fetched some rows before."""
    walks: dict[str, Walk] = field(default_factory=dict)
    """The loops over what came with the change around what is written now, by their row's name."""
    assumed: frozenset[str] = frozenset()
    """Conditions that hold for every row that comes here."""
    trigger: str = ""
    """What is being written."""
    lookups: dict[tuple[str, tuple[str, ...]], set[tuple[str, tuple[int, ...]]]] = field(
        default_factory=dict
    )
    """By trigger and columns of its row: the storages that are asked by them, and by which keys."""
    turns: int = 0
    """How many conditions remember where they turn."""
    fallback: bool = False
    """Whether what is emitted now runs only when an index cannot serve."""

    # -- atoms -----------------------------------------------------------------------------------

    def _batch(
        self, name: str, names: tuple[str, ...], spot: Spot, env: Bound, m: Cpp, k: Next
    ) -> None:
        """All the rows of the batch, as they came."""
        types = self.columns[name]
        loads = tuple(
            (f"c{j}_@", f"const {batch_type(t)} c{j}_@ = col{j}[@];") for j, t in enumerate(types)
        )
        outside = spot.block
        i, spot = spot.open(("batch", name), "j", "for (i64 @ = 0; @ < b.size; @++) {", "}", loads)
        self.walks[i] = Walk(outside.named(i))
        self.bind(
            names,
            [Cpp(f"c{j}_{i}", t, batch_type(t)) for j, t in enumerate(types)],
            spot,
            env,
            times(m, Cpp(f"b.count[{i}]", INT, "i64")),
            k,
        )
        del self.walks[i]

    def access(
        self, place: MapPlace, names: tuple[str, ...], spot: Spot, env: Bound, m: Cpp, k: Next
    ) -> None:
        """get, slice or scan: by how many of the keys are bound."""
        known = [i for i, v in enumerate(names) if v in env]
        keys: dict[int, str] = {}
        for i in known:
            keys[place.columns[i]], spot = self.seek(env[names[i]], place.key_type(i), spot)
        s = place.storage
        where = "e.scratch" if s.transient else "e.arena"
        at_hand = _record_at_hand(place, [env[v] for v in names if v in env])
        if len(keys) == len(s.keys) and at_hand:
            arrow = at_hand
        elif set(s.lookup_columns) <= keys.keys():
            arrow, spot = self._get(place, keys, where, spot)
        else:
            m, spot = _hoist_product(m, spot)
            way = self._slice if keys else self._scan
            arrow, spot = way(place, keys, where, spot)
        n = read_payload(f"{arrow}p{place.payload}", place.payload_type, where)
        columns = [
            Cpp(
                f"{arrow}k{place.columns[i]}",
                place.key_type(i),
                cpp_type(place.key_type(i)),
                (s.name, arrow, place.columns[i]),
            )
            for i in range(len(names))
        ]
        free = [i for i in range(len(names)) if i not in known]
        self.bind(
            tuple(names[i] for i in free), [columns[i] for i in free], spot, env, times(m, n), k
        )
        self.walks.pop(arrow.removesuffix("."), None)

    def _get(
        self, place: MapPlace, keys: Mapping[int, str], where: str, spot: Spot
    ) -> tuple[str, Spot]:
        """The one record of these keys, if there is one; what is not looked up by is compared."""
        s = place.storage
        self._prefetch(place, keys)
        key = wanted(s, keys)
        opener = f"if (const auto* @ = {s.path}.find({where}, {key})) {{"
        r, spot = spot.open(("get", s.name, key), "r", opener)
        spot = self._count(spot, "1")
        for i in sorted(keys):
            if i not in s.lookup_columns:
                test = f"same({r}->k{i}, {keys[i]})"
                _, spot = spot.open(("if", test), "", f"if ({test}) {{")
        return f"{r}->", spot

    def _slice(
        self, place: MapPlace, keys: Mapping[int, str], where: str, spot: Spot
    ) -> tuple[str, Spot]:
        """The records that agree with these keys, by an index."""
        s = place.storage
        positions = tuple(sorted(keys))
        key = "{" + ", ".join(keys[i] for i in positions) + "}"
        j = s.index(positions)
        self._prefetch(place, keys, j)
        opener = (
            f"{s.path}.template slice<{j}>({where}, Head{j}_{s.name}::Key{key}, "
            f"[&](const {s.record}& @) {{"
        )
        r, spot = spot.open(("slice", s.name, positions, key), "r", opener, "});")
        return f"{r}.", self._count(spot, "1")

    def _scan(
        self, place: MapPlace, _: Mapping[int, str], where: str, spot: Spot
    ) -> tuple[str, Spot]:
        """All the records; a walk through data is noted."""
        s = place.storage
        if not s.transient and s.keys and not self.fallback and s.name not in self.batch_tables:
            self.scans.append(s.name)
        outside = spot.block
        opener = f"{s.path}.each({where}, [&](const {s.record}& @) {{"
        r, spot = spot.open(("scan", s.name), "r", opener, "});")
        if s.keys:
            self.walks[r] = Walk(outside.named(r), s)
        return f"{r}.", self._count(spot, "1")

    def _prefetch(
        self,
        place: MapPlace,
        keys: Mapping[int, str],
        index: int | None = None,
        write: bool = False,
    ) -> None:
        """Note a look-up by columns of the row alone: they are known some rows before."""
        s = place.storage
        columns = s.lookup_columns if index is None else s.indexes[index]
        texts = tuple(keys[i] for i in columns)
        if s.transient or self.fallback or not texts:
            return
        for walk in self.walks.values():
            soon = [text for text in map(walk.later, texts) if text is not None]
            if len(soon) == len(texts):
                if self.passes.prefetch:
                    walk.fetch(fetching(s, columns, soon, index, write))
                return
        if not all(map(COLUMN.fullmatch, texts)):
            return
        self.lookups.setdefault((self.trigger, texts), set()).add((s.name, columns))
        later = [f"col{text[1:]}[later]" for text in texts]
        if self.passes.prefetch:
            self.prefetches[fetching(s, columns, later, index, write)] = None

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
        if t.kind == x.type.kind == "string" and x.cpp_type == "Str":
            known = self.symbol(x)
            if known is not None:
                return known, spot
            opener = f"if (Sym @; find_text(e, {x.text}, @)) {{"
            return spot.open(("seek", x.text), "y", opener)
        if digits_lost(x.type, t):
            x, spot = self.shortened(x, t, spot)
        return self._key(x, t), spot

    def shortened(self, x: Cpp, t: Type, spot: Spot) -> tuple[Cpp, Spot]:
        """A number with fewer digits after the point, where it has no others: else nothing is."""
        opener = f"if ({cpp_type(t)} @; {self._shorten(x, t)}) {{"
        name, spot = spot.open(("shortened", x.text, t.kind, t.scale), "y", opener)
        return Cpp(name, t.or_null(x.nullable), cpp_type(t)), spot

    def _shorten(self, x: Cpp, t: Type) -> str:
        """The test that a number has no more digits than a type, which puts it into `@`."""
        return f"shortened({x.text}, {integer(10 ** digits_lost(x.type, t), x.cpp_type)}, @)"

    def look(self, x: Cpp, t: Type, spot: Spot) -> tuple[str, Spot]:
        """A bound value as a key to look up, whether or not there can be a row.

        Of a number with more digits after the point than the key, `is_` and its name says that.
        """
        if t.kind == x.type.kind == "string" and x.cpp_type == "Str" and self.symbol(x) is None:
            return spot.let(("look", x.text), "y", f"const Sym @ = look_text(e, {x.text});")
        if digits_lost(x.type, t):
            line = f"{cpp_type(t)} @; const bool is_@ = {self._shorten(x, t)};"
            return spot.let(("look", x.text, t.kind, t.scale), "y", line)
        return self.seek(x, t, spot)

    def _put(self, x: Cpp, t: Type, spot: Spot) -> tuple[str, Spot]:
        """A bound value as a key to write."""
        if t.kind == x.type.kind == "string" and x.cpp_type == "Str":
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
        if cpp_type(t) == "f64":
            return f"as_key({convert(x, t).text})"
        if (x.type.kind, x.type.scale, x.cpp_type) != (t.kind, t.scale, cpp_type(t)):
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

    def write(self, place: MapPlace, keys: list[Cpp], spot: Spot, m: Cpp, op: str = "+=") -> None:
        """M[keys] += m, or M[keys] := m."""
        texts: dict[int, str] = {}
        for i, x in enumerate(keys):
            texts[place.columns[i]], spot = self._put(x, place.key_type(i), spot)
        s = place.storage
        where = "e.scratch" if s.transient else "e.arena"
        table = s.path
        key = "{" + ", ".join(texts[i] for i in sorted(texts)) + "}"
        self._prefetch(place, texts, write=True)
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
            spot.line(gain(p, t, m, where))
        elif is_mixed(t):
            spot.line(f"assign({where}, {p}, {convert(m, t).text});")
        else:
            value = summand(m) if t.kind == "double" else convert(m, t)
            text = f"known(o, {value.text})" if value.cpp_type == "i64" else value.text
            spot.line(f"{p} = {text};")


def read_payload(text: str, t: Type, where: str) -> Cpp:
    """The payload of a record in an arena."""
    return (
        Cpp(f"see({where}, {text})", t, SEEN) if is_mixed(t) else Cpp(text, t, cpp_payload_type(t))
    )


def _hoist_product(m: Cpp, spot: Spot) -> tuple[Cpp, Spot]:
    """A factor before a loop: an element of a ring is multiplied out once, not for every row."""
    if m.type.kind != "ring" or (multiplied_out(m) == m.text and m.row is None):
        return m, spot
    value = multiplied_out(m) if is_mixed(m.type) else m.text
    name, spot = spot.let(("let", m.text), "v", f"const {m.cpp_type} @ = {value};")
    return Cpp(name, m.type, m.cpp_type), spot


def _record_at_hand(place: MapPlace, keys: list[Cpp]) -> str | None:
    """The record whose own key is asked for, if a loop or a look-up holds it already."""
    records = {x.origin[:2] for x in keys if x.origin is not None}
    columns = [x.origin[2] for x in keys if x.origin is not None]
    if len(records) != 1 or columns != list(place.columns):
        return None
    [(storage, record)] = records
    return record if storage == place.storage.name else None
