"""Loops as C++ text: one statement after the other, every node by a function of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from freshview.codegen.cpp.code import comment
from freshview.codegen.cpp.ring_elements import SEEN, multiplied_out
from freshview.codegen.cpp.ring_types import CofactorType, RingType
from freshview.codegen.cpp.types import (
    Cpp,
    convert,
    cpp_payload_type,
    cpp_type,
    digits_lost,
    gain,
    integer,
    is_mixed,
    nearest_double,
    summand,
)
from freshview.codegen.kernel.access import open_access, open_at, open_first_of_groups
from freshview.codegen.kernel.batch import open_batch, open_times
from freshview.codegen.kernel.ordered import (
    open_each_group,
    open_first_rows,
    open_walk,
    range_sum,
)
from freshview.codegen.kernel.output import Outputs
from freshview.codegen.kernel.records import emptying
from freshview.codegen.kernel.tables import CppTable
from freshview.codegen.kernel.text import Lines, Opened, indented
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.loops.effects import (
    Answer,
    Assign,
    Call,
    Clear,
    Gain,
    Output,
    Release,
    Stale,
    Tally,
    Touch,
    Yield,
)
from freshview.codegen.loops.parts import Weight
from freshview.codegen.loops.terms import (
    At,
    Batch,
    Block,
    Collect,
    EachGroup,
    Find,
    FirstOfGroups,
    FirstRows,
    Get,
    Group,
    If,
    Intern,
    Let,
    Look,
    Probe,
    Product,
    RangeSum,
    Scan,
    Slice,
    Stmt,
    Times,
    Total,
    Turn,
    Unless,
    Walk,
)


@dataclass(frozen=True)
class BlockPrinter:
    """What writes blocks; it knows how the rows of queries are put out."""

    outputs: Outputs

    def block(self, block: Block, scope: CppScope) -> Lines:
        """The lines of a block."""
        lines: Lines = []
        for s in block:
            written, scope = self.statement(s, scope)
            lines += written
        return lines

    def statement(self, s: Stmt, scope: CppScope) -> tuple[Lines, CppScope]:
        """The lines of a statement, and what is visible after it."""
        match s:
            case Let() | Product() | Look() | Intern() | Probe() | Turn():
                return _define(s, scope)
            case Total() | Collect() | RangeSum():
                return self._computed(s, scope)
            case Tally() | Gain() | Assign() | Answer() | Clear() | Stale() | Release() | Call():
                return _effect(s, scope), scope
            case Output(query, values, _, weight):
                return self.outputs.row(query, values, weight, scope), scope
            case Touch(query, keys):
                return self.outputs.touch(query, keys, scope), scope
            case Yield():
                raise AssertionError("every row has a place by now")
            case Group(texts, body):
                said = [comment(line) for text in texts for line in text.split("\n")]
                return [*said, "{", *indented(self.block(body, scope)), "}"], scope
            case Find():
                return self._find(s, scope), scope
            case _:
                return self._scope(_open(s, scope, self), s.body), scope

    def _scope(self, opened: Opened, body: Block) -> Lines:
        inside = [*opened.first, *self.block(body, opened.scope), *opened.last]
        if not opened.before:
            return inside
        return [*opened.before, *indented(inside, opened.depth), *opened.after]

    def _find(self, s: Find, scope: CppScope) -> Lines:
        """Where a record can have a value: a text that is known, a number with few digits."""
        x = scope.value(s.value)
        if s.type.kind == "string":
            if x.cpp_type != "Str":
                return self.block(s.body, scope.with_local(s.name, x))
            test = f"Sym {s.name}; find_text(e, {x.text}, {s.name})"
        else:
            test = f"{cpp_type(s.type)} {s.name}; {_shorten(x, s)}"
        key = Cpp(s.name, s.type.or_null(x.nullable), cpp_type(s.type))
        inside = self.block(s.body, scope.with_local(s.name, key))
        return [f"if ({test}) {{", *indented(inside), "}"]

    def _computed(self, s: Total | Collect | RangeSum, scope: CppScope) -> tuple[Lines, CppScope]:
        """A local, and the block that computes it."""
        match s:
            case Total(name, t, body):
                if isinstance(t, CofactorType) and t.categories:
                    start, x = f"Materialized<{t.mask}> {name}(e.scratch);", Cpp(name, t, SEEN)
                else:
                    kind = cpp_payload_type(t)
                    zero = t.zero if isinstance(t, RingType) else "{}"
                    start, x = f"{kind} {name}{zero};", Cpp(name, t, kind)
                inside = self.block(body, replace(scope, total=x))
                return _block_after(start, inside), scope.with_local(name, x)
            case Collect(name, _, body):
                table = scope.tables[name]
                inside = self.block(body, scope)
                return _block_after(f"{table.type} {name}{{}};", inside), scope
            case RangeSum():
                return range_sum(s, scope, self.block)


def _block_after(start: str, inside: Lines) -> Lines:
    return [start, "{", *indented(inside), "}"] if inside else [start]


# -- definitions -----------------------------------------------------------------------------------


def _define(
    s: Let | Product | Look | Intern | Probe | Turn, scope: CppScope
) -> tuple[Lines, CppScope]:
    match s:
        case Let(name, value, exact):
            x = nearest_double(scope.value(value))
            if isinstance(x.type, RingType) and x.stays:  # it need not be copied
                return [], scope.with_local(name, x)
            text = x.text
            if exact and x.cpp_type == "i64" and not x.nullable:
                text = f"known(o, {text})"
            line = f"const {x.cpp_type} {name} = {text};"
            return [line], scope.with_local(name, Cpp(name, x.type, x.cpp_type))
        case Product(name, weight):
            m = scope.product(weight)
            element = multiplied_out(m) if is_mixed(m.type) else m.text
            line = f"const {m.cpp_type} {name} = {element};"
            return [line], scope.with_local(name, Cpp(name, m.type, m.cpp_type))
        case Look(_, value):
            return _look(s, scope.value(value), scope)
        case Intern(name, value):
            x = scope.value(value)
            if x.cpp_type != "Str":
                return [], scope.with_local(name, x)
            line = f"const Sym {name} = put_text(e, {x.text});"
            return [line], scope.with_local(name, Cpp(name, x.type, "Sym"))
        case Probe(name, table, keys):
            of = scope.tables[table]
            record = f"{of.path}.find({of.where}, {scope.lookup(of, keys)})"
            return [f"const auto* {name} = {record};"], scope
        case Turn(name, kind):
            return [f"Turn<{cpp_type(kind)}> {name};"], scope
        case _:
            assert_never(s)


def _look(s: Look, x: Cpp, scope: CppScope) -> tuple[Lines, CppScope]:
    """A value as a key, whether or not a record can have it."""
    key = Cpp(s.name, s.type.or_null(x.nullable), cpp_type(s.type))
    if s.type.kind != "string":
        line = f"{cpp_type(s.type)} {s.name}; const bool is_{s.name} = {_shorten(x, s)};"
    elif x.cpp_type == "Str":
        line = f"const Sym {s.name} = look_text(e, {x.text});"
    else:
        return [], scope.with_local(s.name, x)
    return [line], scope.with_local(s.name, key)


def _shorten(x: Cpp, s: Find | Look) -> str:
    """The test that a number has no more digits than a type, which puts it into a local."""
    factor = integer(10 ** digits_lost(x.type, s.type), x.cpp_type)
    return f"shortened({x.text}, {factor}, {s.name})"


# -- effects ---------------------------------------------------------------------------------------


def _effect(
    s: Tally | Gain | Assign | Answer | Clear | Stale | Release | Call, scope: CppScope
) -> Lines:
    match s:
        case Tally(weight):
            assert scope.total is not None
            total = scope.total
            return [gain(total.text, total.type, scope.product(weight))]
        case Gain(row, table, payload, weight):
            t = scope.tables[table]
            to = f"{row}->{t.payload(payload)}"
            return [gain(to, t.payloads[payload], scope.product(weight), t.where)]
        case Assign(row, table, payload, weight):
            return [_assign(row, scope.tables[table], payload, weight, scope)]
        case Answer():
            return [f"return {scope.answer};"]
        case Clear(table):
            return emptying(scope.tables[table])
        case Stale(maps, late):
            flag, when = ("late", "after the rows") if late else ("stale", "when read")
            why = comment(f"{', '.join(maps)}: recomputed {when}")
            return [f"s.{flag} = true;  {why}"]
        case Release():
            return ["e.scratch.reset();"]
        case Call(function):
            return [f"{function}(e);"]
        case _:
            assert_never(s)


def _assign(row: str, table: CppTable, payload: int, weight: Weight, scope: CppScope) -> str:
    t, m = table.payloads[payload], scope.product(weight)
    to = f"{row}->{table.payload(payload)}"
    if is_mixed(t):
        return f"assign({table.where}, {to}, {convert(m, t).text});"
    value = summand(m) if t.kind == "double" else convert(m, t)
    text = f"known(o, {value.text})" if value.cpp_type == "i64" else value.text
    return f"{to} = {text};"


# -- scopes ----------------------------------------------------------------------------------------


def _open(s: Stmt, scope: CppScope, printer: BlockPrinter) -> Opened:
    match s:
        case If(tests):
            test = scope.conditions(tests)
            return Opened(() if test == "true" else (f"if ({test}) {{",), scope)
        case Unless(tests):
            opener = f"if (!({scope.conditions(tests)})) [&]() __attribute__((noinline, cold)) {{"
            return Opened((opener,), scope, ("}();",))
        case Batch():
            return open_batch(s, scope, printer.block)
        case Times():
            return open_times(s, scope)
        case Get() | Slice() | Scan():
            return open_access(s, scope)
        case Walk():
            return open_walk(s, scope, printer.block)
        case EachGroup():
            return open_each_group(s, scope)
        case FirstRows():
            return open_first_rows(s, scope)
        case FirstOfGroups():
            return open_first_of_groups(s, scope)
        case At():
            return open_at(s, scope)
        case _:
            raise AssertionError(f"{type(s).__name__} has no scope")
