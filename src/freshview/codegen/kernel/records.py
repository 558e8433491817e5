"""The C++ of tables: records, heads of hash indexes, entries of ordered indexes, state members."""

from __future__ import annotations

from collections.abc import Sequence

from freshview.codegen.cpp.types import BYTES, SUM, Cpp, cpp_payload_type, cpp_type, is_gone
from freshview.codegen.kernel.tables import CppTable
from freshview.codegen.layout.terms import Sort, Sorts


def declare_all(storages: Sequence[CppTable]) -> list[str]:
    """The C++ of all records; those that look alike are one type, which is compiled once."""
    known: dict[tuple[object, ...], CppTable] = {}
    out = []
    for s in storages:
        if s.home is not None:
            continue  # declared with its host
        look = (
            *map(cpp_type, s.keys),
            *s.fields,
            *s.lookup_columns,
            "|",
            *map(cpp_payload_type, s.payloads),
            "|",
            *s.indexes,
        )
        look = (*look, s.pooled, s.journal)
        guests = (
            (at, *t.fields, *map(cpp_payload_type, t.payloads)) for at, t in s.tenants.items()
        )
        first = known.setdefault((*look, *guests), s)
        if first is s:
            out.append(declare(s))
        else:
            heads = [
                f"using Head{j}_{s.name} = Head{j}_{first.name};" for j in range(len(s.indexes))
            ]
            out.append("\n".join([f"using {s.record} = {first.record};", *heads]))
        out += [f"using {t.record} = Head{s.index(at)}_{s.name};" for at, t in s.tenants.items()]
    return out


def declare(s: CppTable) -> str:
    """The C++ of a record and of the heads of its indexes."""
    fields = [f"{cpp_type(t)} {s.key(i)};" for i, t in enumerate(s.keys)]
    payloads = _payload_fields(s)
    links = [f"u32 link[{max(1, 2 * len(s.indexes))}];"] if s.pooled else []
    links += ["bool noted;"] * s.journal
    body = f"  {' '.join(_widest_first([*fields, *payloads]) + links)}\n"
    empty = " && ".join(_is_gone(s, j) for j in range(len(s.payloads)))
    out = _record(s.record, tuple(range(len(s.keys))), s, body, f"return {empty};")
    for j, positions in enumerate(s.indexes):
        guest = s.tenants.get(positions)
        owner, at = (s, positions) if guest is None else (guest, tuple(range(len(positions))))
        numbers = (
            []
            if guest is None
            else [
                f"{cpp_payload_type(t)} {guest.payload(n)};" for n, t in enumerate(guest.payloads)
            ]
        )
        fields = [*(f"{cpp_type(owner.keys[i])} {owner.key(i)};" for i in at), *numbers]
        body = f"  {' '.join(_widest_first(fields))} u32 first; u32 count;\n"
        of = ", ".join(f"r.{s.key(i)}" for i in positions)
        body += f"  template <class R> static Key of(const R& r) {{ return Key{{{of}}}; }}\n"
        guests = [] if guest is None else [_is_gone(guest, n) for n in range(len(guest.payloads))]
        empty = " && ".join(["first == 0", *guests])
        out += _record(f"Head{j}_{s.name}", at, owner, body, f"return {empty};")
    return out


def declare_orders(s: CppTable) -> str:
    """The C++ of the entries of a storage's ordered indexes: keys, and sums of payloads."""
    if not s.orders:
        return ""
    return _sums(s) + "".join(_entry(s, j, sorts) for j, sorts in enumerate(s.orders))


def _sums(s: CppTable) -> str:
    """What an entry of an index has besides its key.

    Sums of whole numbers have 128 bits, so that no partial sum can overflow.
    """
    wide = {j: SUM if t.kind == "double" else "i128" for j, t in enumerate(s.payloads)}
    exact = SUM not in wide.values()
    fields = " ".join(f"{t} {s.payload(j)};" for j, t in wide.items())
    named = [(s.payload(j), t) for j, t in wide.items()]
    adds = " ".join(f"gain({p}, x.{p});" if t == SUM else f"{p} += x.{p};" for p, t in named)
    new = ", ".join(f"{t}(b.{p})" + (f" - a.{p}" if exact else "") for p, t in named)
    empty = " && ".join(_is_gone(s, j) for j in wide)
    inexact = ""
    if not exact:
        less = ", ".join(f"-{p}" for p, _ in named)
        near = " && ".join(f"fr::is_near({p})" for p, t in named if t == SUM)
        inexact = (
            f"  Sum_{s.name} operator-() const {{ return Sum_{s.name}{{{less}}}; }}\n"
            f"  bool is_near() const {{ return {near}; }}\n"
        )
    return (
        f"struct Sum_{s.name} {{\n"
        f"  {fields}\n"
        f"  static constexpr bool exact = {str(exact).lower()};\n"
        f"  void add(const Sum_{s.name}& x) {{ {adds} }}\n"
        f"  bool empty() const {{ return {empty}; }}\n"
        f"{inexact}"
        f"  // What the index is told when a record changes: the difference, or, where that would\n"
        f"  // be rounded, the new value.\n"
        f"  static Sum_{s.name} change(const {s.record}& a, const {s.record}& b) {{\n"
        f"    (void)a; return Sum_{s.name}{{{new}}};\n"
        f"  }}\n"
        f"}};\n"
    )


def _entry(s: CppTable, number: int, sorts: Sorts) -> str:
    """The key of an entry: the columns by which an index sorts."""
    columns = [sort.column for sort in sorts]
    keys = " ".join(f"{cpp_type(s.keys[i])} {s.key(i)};" for i in columns)
    before = [(s.key(x.column), _before(x, s.key(x.column), f"x.{s.key(x.column)}")) for x in sorts]
    order = before[-1][1] if before else "false"
    plain = not any(sort.by_text for sort in sorts)
    for k, test in reversed(before[:-1]):
        order = (
            f"{test} | (same({k}, x.{k}) & ({order}))"
            if plain
            else f"same({k}, x.{k}) ? {order} : {test}"
        )
    equal = " && ".join(f"same({s.key(i)}, x.{s.key(i)})" for i in columns)
    of = ", ".join(f"r.{s.key(i)}" for i in columns)
    name = f"Ord{number}_{s.name}"
    return (
        f"struct {name} {{\n"
        f"  {keys}\n"
        f"  static {name} of(const {s.record}& r) {{ return {name}{{{of}}}; }}\n"
        f"  bool less(Arena& arena, const {name}& x) const {{\n"
        f"    (void)arena; return {order};\n"
        f"  }}\n"
        f"  bool is(const {name}& x) const {{ return {equal}; }}\n"
        f"  static constexpr bool plain = {str(plain).lower()};\n"
        f"}};\n"
    )


def follow(s: CppTable) -> str:
    """What keeps the ordered indexes of a table up to date, and counts negative entries."""
    if not s.orders or s.listing:
        return ""
    lines = [
        f"static inline void follow_{s.name}(Env& e, const {s.record}& a, const {s.record}& b) {{"
    ]
    lines.append("  State& s = *e.state;")
    for j in range(len(s.orders)):
        lines.append(
            f"  s.{s.name}_U_o{j}.add(e.arena, Ord{j}_{s.name}::of(b), Sum_{s.name}::change(a, b));"
        )
    for j in range(len(s.payloads)):
        p = s.payload(j)
        lines.append(f"  s.{s.name}_U_below{j} += (b.{p} < 0) - (a.{p} < 0);")
    return "\n".join([*lines, "}\n"])


def emptying(s: CppTable) -> list[str]:
    """What empties a table with its indexes."""
    lines = [f"s.{s.name}.clear(e.arena);"]
    lines += [f"s.{s.name}_U_o{j}.clear(e.arena);" for j in range(len(s.orders))]
    if s.orders:
        lines += [f"s.{s.name}_U_below{j} = 0;" for j in range(len(s.payloads))]
    if s.journal:
        lines.append(f"s.{s.name}_U_log.take_all(e.arena);")
    return lines


def _before(sort: Sort, a: str, b: str) -> str:
    """The test that one value of a column stands before another one."""
    a, b = (b, a) if sort.falling else (a, b)
    return f"text_sorts(arena, {a}, {b})" if sort.by_text else f"sorts({a}, {b})"


def members(s: CppTable) -> list[str]:
    """The members of the state that a storage needs."""
    if s.home is not None:
        return []
    out = [] if s.listing else [f"{s.type} {s.name};"]
    out += [f"Journal<{s.record}> {s.name}_U_log;"] * s.journal
    out += [
        f"Ordered<Ord{j}_{s.name}, Sum_{s.name}> {s.name}_U_o{j};" for j in range(len(s.orders))
    ]
    if s.orders and not s.listing:
        out += [f"i64 {s.name}_U_below{j};" for j in range(len(s.payloads))]
    return out


def _is_gone(s: CppTable, j: int) -> str:
    t = s.payloads[j]
    return is_gone(Cpp(s.payload(j), t, cpp_payload_type(t)))


def _payload_fields(s: CppTable) -> list[str]:
    return [f"{cpp_payload_type(t)} {s.payload(j)};" for j, t in enumerate(s.payloads)]


def _widest_first(fields: list[str]) -> list[str]:
    """Fields in an order that needs no padding between them."""
    return sorted(fields, key=lambda f: -BYTES.get(f.split()[0], 8))


def _record(name: str, positions: tuple[int, ...], s: CppTable, body: str, empty: str) -> str:
    keys = "".join(f" {cpp_type(s.keys[i])} {s.key(i)};" for i in positions)
    copies = "".join(f" {s.key(i)} = k.{s.key(i)};" for i in positions)
    own = ", ".join(s.key(i) for i in positions)
    unused = "const Key&" if not positions else "const Key& k"
    columns = (
        tuple(i for i in positions if i in s.lookup_columns) if name == s.record else positions
    )
    named = [s.key(i) for i in columns]
    out = f"struct {name} {{\n  struct Key {{{keys} }};\n{body}{_finders('Key', named)}"
    if columns != positions:
        # The other keys follow from these: a record is looked up by its part.
        parts = "".join(f" {cpp_type(s.keys[i])} {s.key(i)};" for i in columns)
        out += f"  struct Part {{{parts} }};\n{_finders('Part', named)}"
    if s.journal and name == s.record:
        copies += " noted = false;"
        out += f"  Key key() const {{ return Key{{{own}}}; }}\n"
    return out + (
        f"  u64 hash() const {{ return hash(Key{{{own}}}); }}\n"
        f"  void set({unused}) {{{copies} }}\n"
        f"  bool empty() const {{ {empty} }}\n"
        f"}};\n"
    )


def _finders(key: str, names: list[str]) -> str:
    equal = " && ".join(f"same({name}, k.{name})" for name in names) or "true"
    parameter = f"const {key}& k" if names else f"const {key}&"
    return (
        f"  static u64 hash({parameter}) {{ return {_hash([f'k.{name}' for name in names])}; }}\n"
        f"  bool is({parameter}) const {{ return {equal}; }}\n"
    )


def _hash(words: list[str]) -> str:
    if not words:
        return "0x9e3779b97f4a7c15ull"
    out = f"mix(word({words[0]}), 0)"
    for w in words[1:]:
        out = f"mix({out}, word({w}))"
    return out
