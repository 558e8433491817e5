"""A program as users write it, whichever way: text, a source, or expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from freshview.errors import FreshviewError
from freshview.linear.language.expression import Matrix
from freshview.linear.language.terms import Input, Source, Statement
from freshview.linear.language.text import read_source


def source_of(what: str | Source | Matrix | Mapping[str, Matrix], ring: str) -> Source:
    """The program that is meant: a text, expressions by the names of their results, or one."""
    if isinstance(what, str | Source):
        source = read_source(what) if isinstance(what, str) else what
        if not source.statements:
            raise FreshviewError("a program has at least one result")
        return source if not ring else replace(source, semiring=ring)
    results = {"result": what} if isinstance(what, Matrix) else dict(what)
    if not results:
        raise FreshviewError("a program has at least one result")
    inputs: dict[str, Input] = {}
    statements = []
    for name, m in results.items():
        for n, i in m.inputs.items():
            if inputs.setdefault(n, i) != i:
                raise FreshviewError(f"{n} is declared twice, and differently")
        statements.append(Statement(name, m.term))
    for name in results:
        if name in inputs:
            raise FreshviewError(f"{name} is an input and a result", instead="rename one of them")
    return Source(tuple(inputs.values()), tuple(statements), tuple(results), ring or "real")
