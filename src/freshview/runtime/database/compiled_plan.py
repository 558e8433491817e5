"""What a view's kernel is made from, and a memory of it: planning takes longer than loading."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from freshview.calculus.functions import BUILTINS, CppRing, Functions
from freshview.calculus.schema import Query, Relation
from freshview.calculus.terms import Apply, Expr
from freshview.calculus.walk import distinct_subterms
from freshview.codegen.kernel.source import Source, write
from freshview.codegen.library.cache import user_cache
from freshview.codegen.library.private_files import NotPrivate, private_folder, read_own
from freshview.codegen.options import KernelPasses
from freshview.depth import deep
from freshview.errors import NotNative
from freshview.ivm.options import Mode
from freshview.plan.compile import compile_queries
from freshview.program.terms import Program
from freshview.program.text import read_program, show_program, show_statement
from freshview.runtime.database.settings import Settings
from freshview.runtime.database.stored_base import base_program

PACKAGE = Path(__file__).resolve().parent.parent
COMPILER_ROOMS = (
    *("algebra", "calculus", "codegen", "factorized", "ivm", "plan", "program", "runtime"),
    "simplify",
)


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """The C++ text of a kernel, the program that it runs, and what is worth telling about both."""

    source: str
    text: str
    notes: tuple[str, ...] = ()
    scans: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()

    @property
    def program(self) -> Program:
        """The trigger program."""
        return replace(read_program(self.text), notes=self.notes)


def recipe(
    query: Query,
    relations: Sequence[Relation],
    settings: Settings,
    functions: Functions,
    wide: bool = False,
) -> CompiledPlan:
    """The recipe of a view, remembered or thought out; NotNative where Python is needed.

    Triggers for single rows are taken, unless one of their statements walks through all the
    data, or a number is an element of a ring, which costs more to multiply than rows to group:
    then the work is shared by the rows of a batch. `wide` makes room for decimals of all digits.
    """
    python = python_functions(query, functions)
    if python:
        raise NotNative(f"the function '{python[0]}' is Python code")
    passes = replace(settings.passes, wide=wide)
    key = _key(query, relations, settings, functions, passes)
    known = _recall(key)
    if known is not None:
        return known
    options = settings.plan(suiting(query), caches=False)
    program = compile_queries([query], relations, options, functions)
    source = write(program, functions, passes)
    if options.mode == "tuple" and source.scans and settings.mode == "auto":
        options = settings.plan("batch", caches=False)
        program = compile_queries([query], relations, options, functions)
        source = write(program, functions, passes)
    made = _made(program, source)
    _remember(key, made)
    return made


def suiting(query: Query) -> Mode:
    """The triggers that suit a query, as far as its columns tell."""
    return "batch" if any(c.type.kind == "ring" for c in query.columns) else "tuple"


def python_functions(query: Query, functions: Functions) -> list[str]:
    """The functions of a query that a user has registered, if they are Python."""
    known = BUILTINS.known
    return sorted(
        n
        for n in _applied(query.term)
        if known.get(n) is not functions.known.get(n)
        and functions.known[n].ring not in functions.headers
    )


def _applied(term: Expr) -> set[str]:
    return {e.fn for e in distinct_subterms(term) if isinstance(e, Apply)}


def remembered(
    query: Query,
    relations: Sequence[Relation],
    settings: Settings,
    functions: Functions,
    wide: bool = False,
) -> CompiledPlan | None:
    """The recipe of a view, if it was thought out before by this very compiler."""
    if python_functions(query, functions):
        return None
    passes = replace(settings.passes, wide=wide)
    return _recall(_key(query, relations, settings, functions, passes))


def base_recipe(relation: Relation, wide: bool = False) -> CompiledPlan:
    """The recipe of the kernel that keeps a relation's rows."""
    program = base_program(relation)
    return _made(program, write(program, passes=KernelPasses(wide=wide)))


def _made(program: Program, source: Source) -> CompiledPlan:
    return CompiledPlan(
        source.text,
        show_program(program),
        program.notes,
        tuple(show_statement(s) for s in source.scans),
        source.deferred,
    )


def headers_of(query: Query, functions: Functions) -> list[CppRing]:
    """The rings of C++ headers that a query lifts into."""
    used = {functions.known[n].ring for n in _applied(query.term) if n in functions.known}
    return [ring for name, ring in sorted(functions.headers.items()) if name in used]


@deep
def _key(
    query: Query,
    relations: Sequence[Relation],
    settings: Settings,
    functions: Functions,
    passes: KernelPasses,
) -> str:
    orders = sorted((name, str(order)) for name, order in settings.orders.items())
    options: tuple[object, ...]
    options = (settings.strategy, settings.mode, settings.strict, settings.statistics, orders)
    options += ([(n, [list(g) for g in groups]) for n, groups in settings.products.items()],)
    headers = headers_of(query, functions)
    whole = repr((query, tuple(relations), options, passes, headers, _compiler()))
    return hashlib.sha256(whole.encode()).hexdigest()


@cache
def _compiler() -> str:
    """A hash of all the source that plans and emits: another compiler may think otherwise."""
    whole = hashlib.sha256()
    for room in COMPILER_ROOMS:
        for path in sorted((PACKAGE / room).glob("*.py")):
            whole.update(path.name.encode() + path.read_bytes())
    return whole.hexdigest()


def _file(key: str) -> Path:
    return user_cache().parent / "recipes" / f"{key}.json"


def _recall(key: str) -> CompiledPlan | None:
    try:
        path = _file(key)
        private_folder(path.parent)
        whole = json.loads(read_own(path) or b"{}")
        if hashlib.sha256(whole["recipe"].encode()).hexdigest() != whole["sha256"]:
            return None
        told = json.loads(whole["recipe"])
        return CompiledPlan(
            told["source"],
            told["text"],
            tuple(told["notes"]),
            tuple(told["scans"]),
            tuple(told["deferred"]),
        )
    except (OSError, NotPrivate, ValueError, KeyError, TypeError, AttributeError):
        return None


def _remember(key: str, made: CompiledPlan) -> None:
    """Write the recipe down; where that fails, it is thought out again the next time."""
    path = _file(key)
    told = {name: getattr(made, name) for name in ("source", "text", "notes", "scans", "deferred")}
    text = json.dumps(told)
    whole = {"sha256": hashlib.sha256(text.encode()).hexdigest(), "recipe": text}
    with suppress(OSError, NotPrivate):
        private_folder(path.parent)
        fd, name = tempfile.mkstemp(prefix=".recipe-", dir=path.parent)
        with os.fdopen(fd, "w", encoding="utf-8") as out:
            json.dump(whole, out)
        os.replace(name, path)
