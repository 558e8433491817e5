"""Functions that have no C++, computed for all the rows of a batch before its trigger runs.

Such a call of columns of the batch is a column more: one call of Python gives the answers of 1,024
rows. Rows that fail the tests of the batch are left out; a row that has no answer is asked again by
itself, where its answer is used, and is refused there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from freshview.calculus.check import Schema
from freshview.calculus.schema import Relation
from freshview.calculus.terms import Apply, Const, Expr, Var
from freshview.calculus.walk import subterms
from freshview.codegen.cpp.functions import FUNCTIONS, host_arguments, host_result
from freshview.codegen.cpp.types import Cpp
from freshview.codegen.kernel.rows import load_columns
from freshview.codegen.kernel.text import Lines, indented
from freshview.codegen.kernel.values import ComputedColumn, CppScope
from freshview.codegen.loops.parts import Holds
from freshview.codegen.loops.terms import Batch, Block, If, Loops
from freshview.codegen.loops.walk import statements, values

PLAIN = frozenset(
    ("string", "double", "date", "timestamp", "substring", "trim", "length", "concat")
)
"""Functions of C++ that an argument may call: they have an answer for every value."""


@dataclass(frozen=True)
class HostCalls:
    """The functions that a kernel calls in Python: for a batch at once, or one by one."""

    batches: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()


NO_CALLS = HostCalls()


def host_calls(loops: Loops, schema: Schema) -> HostCalls:
    """The functions that loops call in Python."""
    batches: set[str] = set()
    alone: set[str] = set()
    for f in loops.functions:
        computed = set[Apply]()
        for s in statements(f.body):
            if isinstance(s, Batch):
                computed |= set(_computed(s, schema))
        called = {e for e in _calls(f.body, schema) if e not in computed}
        batches |= {e.fn for e in computed}
        alone |= {e.fn for e in called}
    return HostCalls(tuple(sorted(batches)), tuple(sorted(alone)))


def host_columns(s: Batch, scope: CppScope) -> tuple[Lines, CppScope]:
    """The lines that compute the columns, and the scope in which they are known."""
    tests = tuple(
        t
        for t in s.tests
        if isinstance(t, Holds) and not any(_calls((If((t,), ()),), scope.schema))
    )
    lines: Lines = []
    for e in _computed(s, scope.schema):
        written, scope = _column(e, s, tests, scope)
        lines += written
    return lines, scope


def _calls(block: Block, schema: Schema) -> Iterator[Apply]:
    """The calls in a block of functions that have no C++."""
    for part in statements(block):
        for value in values(part):
            for e in subterms(value):  # type: ignore[arg-type]
                if isinstance(e, Apply) and FUNCTIONS.is_hosted(e.fn, schema):
                    yield e


def _computed(s: Batch, schema: Schema) -> list[Apply]:
    """The calls of columns of a row, those that others take first."""
    calls = dict.fromkeys(e for e in _calls((s,), schema) if _is_computed(e, s.row, schema))
    return sorted(calls, key=lambda e: sum(1 for _ in subterms(e)))


def _is_computed(e: Apply, row: str, schema: Schema) -> bool:
    hosted = FUNCTIONS.is_hosted(e.fn, schema)
    return hosted and bool(e.args) and all(_is_argument(a, row, schema) for a in e.args)


def _is_argument(e: Expr, row: str, schema: Schema) -> bool:
    match e:
        case Const():
            return True
        case Var(name):
            head, _, column = name.partition(".")
            return head == row and column != "count" and column.startswith("c")
        case Apply(fn, args) if fn in PLAIN:
            return all(_is_argument(a, row, schema) for a in args)
        case Apply():
            return _is_computed(e, row, schema)
        case _:
            return False


def _column(
    e: Apply, s: Batch, tests: tuple[Holds, ...], scope: CppScope
) -> tuple[Lines, CppScope]:
    """One more column, and the scope that has it."""
    relation: Relation = scope.relations[s.relation]
    name = f"host_{len(scope.computed)}_{s.row}"
    alone = scope.value(e)
    args = [scope.value(a) for a in e.args]
    strict = scope.schema.functions[e.fn].strict
    missing = [f"is_null({a.text})" for a in args if strict and a.nullable]
    inner = [scope.computed[a].known for a in e.args if a in scope.computed]
    condition = scope.conditions(tests)
    kind, held, scale = host_result(alone)
    fill = [
        *load_columns((If((*tests, Holds(e)), ()),), s.row, relation.columns),
        *(f"if (!{known}) return false;" for known in inner),
        *([f"if (!({condition})) return false;"] if condition != "true" else []),
        *([f"if ({' || '.join(missing)}) return false;"] if missing else []),
        *(f"to[{i}] = {text};" for i, text in enumerate(host_arguments(args))),
        "return true;",
    ]
    lines = [
        f"const auto {name} = host_column<{kind}, {len(args)}>(",
        f'    e, b.size, "{e.fn}", {held}, {scale},',
        f"    [&](const i64 {s.row}, Arg* to) {{",
        *indented(fill, 3),
        "    });",
    ]
    known = f"{name}.has({s.row})"
    text = f"({known} ? {name}.value[{s.row}] : {alone.text})"
    column = ComputedColumn(known, Cpp(text, alone.type, alone.cpp_type))
    return lines, replace(scope, computed={**scope.computed, e: column})
