"""The text of loops: one statement a line, scopes between braces; read.read(show(x)) == x.

    relation on_lineitem of lineitem {
      batch i1 of lineitem where {i1.c4 > date '1995-03-15'} {
        fetch slice m_orders by k0 = i1.c0
        let sign2 = i1.count
        group {
          does 'Q03[ok] += ...;'
          slice r3 in m_orders by k0 = i1.c0 {
            at w5 in m_q03[i1.c0, r3.k1] {
              gain w5.p0 += sign2 * r3.p0

Values are written as terms are, and a weight as its factors: `(a + b) * c` has two, `()` none.
A range says `from` where it begins and `to` where it ends; without either it has no such end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from freshview.calculus.terms import Const, Expr
from freshview.calculus.text import show as show_value
from freshview.calculus.text import show_factor, show_name, show_names
from freshview.calculus.text import show_value as show_constant
from freshview.calculus.walk import subterms
from freshview.codegen.layout.text import show_columns, show_sorts
from freshview.codegen.layout.type_text import show_type, show_types
from freshview.codegen.loops.effects import (
    Answer,
    Assign,
    Call,
    Clear,
    Effect,
    Gain,
    Output,
    Release,
    Stale,
    Tally,
    Touch,
    Yield,
)
from freshview.codegen.loops.parts import (
    Fetch,
    Fits,
    Holds,
    Missing,
    NoNegative,
    NotZero,
    Running,
    Same,
    Search,
    SortKey,
    Test,
    There,
    Weight,
)
from freshview.codegen.loops.terms import (
    At,
    Batch,
    Block,
    Collect,
    Definition,
    EachGroup,
    Find,
    FirstOfGroups,
    FirstRows,
    Function,
    Get,
    Group,
    If,
    Intern,
    Let,
    Look,
    Loops,
    Probe,
    Product,
    Range,
    RangeSum,
    Scan,
    Scope,
    Slice,
    Stmt,
    Times,
    Total,
    Turn,
    Unless,
    Walk,
)
from freshview.codegen.loops.walk import blocks, is_definition, is_scope, statements, values
from freshview.depth import deep

WIDE = "wide constants"
"""The first line where decimals among the constants have 128 bits: all of them, or none."""


@deep
def show(loops: Loops) -> str:
    """Loops as text."""
    lines = [WIDE] if any(map(_has_wide_constants, loops.functions)) else []
    for f in loops.functions:
        lines += _braced(_function_head(f), _block(f.body))
    return "".join(f"{line}\n" for line in lines)


def head(s: Stmt) -> str:
    """The first line of a statement: what it does, without what stands inside.

    >>> from freshview.calculus.text import read
    >>> head(Slice("r1", "m_q", (1,), (read("i.c0"),), ()))
    'slice r1 in m_q by k1 = i.c0'
    """
    if is_definition(s):
        return _definition(s)
    return _scope(s) if is_scope(s) else _effect(s)


def _has_wide_constants(f: Function) -> bool:
    terms = (e for s in statements(f.body) for e in values(s))
    parts = (part for e in terms for part in subterms(e))  # type: ignore[arg-type]
    return any(isinstance(part, Const) and part.type.wide for part in parts)


def _function_head(f: Function) -> str:
    of = f" of {show_name(f.of)}" if f.of else ""
    key = f" by {show_columns(f.key, 'c')}" if f.key else ""
    return f"{f.kind} {show_name(f.name)}{of}{key}"


# -- blocks ----------------------------------------------------------------------------------------


def _block(block: Block) -> list[str]:
    return [line for s in block for line in _statement(s)]


def _statement(s: Stmt) -> list[str]:
    return _braced(head(s), _inside(s)) if blocks(s) else [head(s)]


def _braced(opener: str, inside: Iterable[str]) -> list[str]:
    return [f"{opener} {{", *(f"  {line}" for line in inside), "}"]


def _inside(s: Stmt) -> list[str]:
    """The lines between the braces of a statement."""
    match s:
        case RangeSum(range=r):
            return _ends(r)
        case Walk(_, r, body):
            return [*_ends(r), *_braced("do", _block(body))]
        case Batch(body=body, fetches=fetches) | Scan(body=body, fetches=fetches):
            return [*map(_fetch, fetches), *_block(body)]
        case Group(texts, body):
            return [*(line for text in texts for line in _statement_text(text)), *_block(body)]
        case _:
            [body] = blocks(s)
            return _block(body)


def _ends(r: Range) -> list[str]:
    ends = (("from", r.up, r.running[0]), ("to", r.down, r.running[1]))
    return [
        line
        for word, block, running in ends
        if block
        for line in _braced(f"{word}{_running(running)}", _block(block))
    ]


def _running(r: Running | None) -> str:
    return f" running {show_name(r.name)} {r.side}" if r else ""


def _fetch(f: Fetch) -> str:
    kind = "slice " * f.index + "write " * f.write
    return f"fetch {kind}{show_name(f.table)} by {_by(f.columns, f.keys)}"


def _statement_text(text: str) -> list[str]:
    """A statement of the program, line by line."""
    first, *others = map(show_constant, text.split("\n"))
    return [f"does {first}", *(f"   | {line}" for line in others)]


# -- parts of lines --------------------------------------------------------------------------------


def _list(values: Iterable[Expr]) -> str:
    return ", ".join(map(show_value, values))


def _by(columns: Iterable[int], keys: Iterable[Expr]) -> str:
    pairs = zip(columns, keys, strict=True)
    return ", ".join(f"k{i} = {show_value(e)}" for i, e in pairs)


def _weight(weight: Weight) -> str:
    return " * ".join(map(show_factor, weight)) or "()"


def _record(table: str, keys: Iterable[Expr]) -> str:
    return f"{show_name(table)}[{_list(keys)}]"


def _search(s: Search) -> str:
    known = f" known {_by(*zip(*s.known, strict=True))}" if s.known else ""
    return f"{show_name(s.table)} sorted {show_sorts(s.sorts)}{known}"


def _range(r: Range) -> str:
    turns = f" turns {show_names(r.turns)}" if r.turns else ""
    return f"{show_name(r.at)} in {_search(r.search)}{turns}"


def _tests(tests: Iterable[Test]) -> str:
    return " and ".join(map(_test, tests)) or "always"


def _test(t: Test) -> str:
    match t:
        case Holds(value):
            text = show_value(value)
            return text if text.startswith("{") else f"holds {text}"
        case There(value):
            return f"there {show_value(value)}"
        case NotZero(value):
            return f"nonzero {show_value(value)}"
        case Same(table, column, own, value):
            return f"same k{column} of {show_name(table)} : {show_value(own)} = {show_value(value)}"
        case NoNegative(table, payload):
            return f"nonnegative p{payload} of {show_name(table)}"
        case Fits(name):
            return f"fits {show_name(name)}"
        case Missing(table, keys, tests):
            where = f" where ({_tests(tests)})" if tests else ""
            return f"missing {_record(table, keys)}{where}"
        case _:
            assert_never(t)


def _order(o: SortKey) -> str:
    return f"k{o.column}" + " falling" * o.descending + " nulls first" * o.nulls_first


# -- statements ------------------------------------------------------------------------------------


def _definition(s: Definition) -> str:
    match s:
        case Let(name, value, exact):
            return f"let {show_name(name)}{' exactly' * exact} = {show_value(value)}"
        case Product(name, weight):
            return f"product {show_name(name)} = {_weight(weight)}"
        case Total(name, t, _):
            return f"total {show_name(name)} : {show_type(t)}"
        case Collect(name, table, _):
            types = f"{show_types(table.keys)} : {show_types(table.payloads)}"
            return f"collect {show_name(name)} {types}"
        case Look(name, value, t):
            return f"look {show_name(name)} : {show_type(t)} = {show_value(value)}"
        case Intern(name, value):
            return f"intern {show_name(name)} = {show_value(value)}"
        case Probe(name, table, keys):
            return f"probe {show_name(name)} in {_record(table, keys)}"
        case Turn(name, t):
            return f"turn {show_name(name)} : {show_type(t)}"
        case RangeSum(name, r, only):
            which = f" only {show_columns(only, 'p')}" if only else ""
            return f"sum {show_name(name)} of {_range(r)}{which}"
        case _:
            assert_never(s)


def _scope(s: Scope) -> str:
    match s:
        case If(tests, _, seldom):
            return f"if {'seldom ' * seldom}{_tests(tests)}"
        case Unless(tests):
            return f"unless {_tests(tests)}"
        case Find(name, value, t):
            return f"find {show_name(name)} : {show_type(t)} = {show_value(value)}"
        case Batch(row, relation, _, tests, in_turn, _, preaggregated):
            where = f" where {_tests(tests)}" if tests else ""
            way = " in turn" * in_turn + " preaggregated" * preaggregated
            return f"batch {show_name(row)} of {show_name(relation)}{where}{way}"
        case Times(sign, row, event):
            return f"times {event} {show_name(row)}" + (f" as {show_name(sign)}" if sign else "")
        case At(row, table, keys):
            return f"at {show_name(row)} in {_record(table, keys)}"
        case Group():
            return "group"
        case _:
            return _access(s)


def _access(
    s: Get | Slice | Scan | Walk | EachGroup | FirstRows | FirstOfGroups,
) -> str:
    row = show_name(s.row)
    match s:
        case Get(_, table, keys, _, probe):
            known = f" from {show_name(probe)}" if probe else ""
            return f"get {row} in {_record(table, keys)}{known}"
        case Slice(_, table, columns, keys):
            return f"slice {row} in {show_name(table)} by {_by(columns, keys)}"
        case Scan(_, table, changed=changed):
            return f"scan {row} in {show_name(table)}" + (f" as it {changed}" if changed else "")
        case Walk(_, r, grouped=grouped):
            return f"walk {row} of {_range(r)}{' grouped' * grouped}"
        case EachGroup(_, search, columns):
            return f"groups {row} by {show_columns(columns)} in {_search(search)}"
        case FirstRows():
            others = f" plus {show_name(s.others)} by {show_columns(s.wanted)}" if s.others else ""
            nulls = f" nulls {s.nulls}" if s.nulls != "as_sorted" else ""
            count = f"first {s.limit} of p{s.payload}{' once' * s.once}"
            end = f"{' backward' * s.descending}{nulls}{others}"
            begins = f" from {_tests(s.ends)}" if s.ends else ""
            return f"{count} {row} in {_search(s.search)}{end}{begins}"
        case FirstOfGroups(_, table, groups, order, limit):
            by = f" by {show_columns(groups)}" if groups else ""
            ordered = f" sorted {', '.join(map(_order, order))}" if order else ""
            return f"choose {limit} {row} in {show_name(table)}{by}{ordered}"
        case _:
            assert_never(s)


def _effect(s: Effect) -> str:
    match s:
        case Yield(keys, weight):
            return f"yield [{_list(keys)}] += {_weight(weight)}"
        case Tally(weight):
            return f"tally {_weight(weight)}"
        case Gain(row, _, payload, weight):
            return f"gain {show_name(f'{row}.p{payload}')} += {_weight(weight)}"
        case Assign(row, _, payload, weight):
            return f"assign {show_name(f'{row}.p{payload}')} := {_weight(weight)}"
        case Answer():
            return "answer"
        case Clear(table):
            return f"clear {show_name(table)}"
        case Stale(maps, late):
            return f"{'late' if late else 'stale'} {show_names(maps)}"
        case Release():
            return "release"
        case Call(function):
            return f"call {show_name(function)}"
        case Output(query, columns, types, weight):
            pairs = zip(columns, types, strict=True)
            row = ", ".join(f"{show_value(e)} : {show_type(t)}" for e, t in pairs)
            return f"output {show_name(query)}({row}) += {_weight(weight)}"
        case Touch(query, keys):
            return f"touch {_record(query, keys)}"
        case _:
            assert_never(s)
