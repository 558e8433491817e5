"""Deltas that several statements need are computed once, level by level up a view tree.

The change of a view is part of the change of the view above it: dV is Sum[a, b](dR * V1), and dW
above it Sum[a](Sum[a, b](dR * V1) * V2). What stands in several statements becomes a table of the
batch, and each level works on the rows of the level below it, which are fewer than those that came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from freshet.calculus.alike import alike
from freshet.calculus.scope import ins, reads_delta
from freshet.calculus.terms import Expr, Sum, View
from freshet.calculus.walk import map_children, subterms
from freshet.program.terms import Statement


@dataclass(frozen=True)
class Local:
    """A table of the batch: what it is called, its keys, and what it holds."""

    name: str
    term: Sum

    @property
    def keys(self) -> tuple[str, ...]:
        """The variables of its rows."""
        return self.term.keys


def stage(statements: Sequence[Statement]) -> tuple[list[Local], list[Statement]]:
    """What statements have in common, each after what it reads; and the statements that read it."""
    adding = [s.term for s in statements if s.op == "+="]
    shared = sorted(_shared(adding), key=lambda e: sum(1 for _ in subterms(e)))
    whole = [Local(f"level{n}", e) for n, e in enumerate(shared)]
    tables = [
        replace(x, term=replace(x.term, body=_with(x.term.body, whole[:n])))
        for n, x in enumerate(whole)
    ]
    return tables, [
        replace(s, term=_with(s.term, whole)) if s.op == "+=" else s for s in statements
    ]


def _shared(terms: Sequence[Expr]) -> list[Sum]:
    """The sums over the batch that stand in more than one place, each once."""
    kinds: list[tuple[Sum, int]] = []
    for e in (part for term in terms for part in subterms(term)):
        if not (isinstance(e, Sum) and reads_delta(e)) or ins(e):
            continue
        for i, (first, count) in enumerate(kinds):
            if _match(first, e) is not None:
                kinds[i] = first, count + 1
                break
        else:
            kinds.append((e, 1))
    return [e for e, count in kinds if count > 1]


def _match(first: Sum, e: Sum) -> tuple[str, ...] | None:
    """The variables of one sum that take the places of the keys of another, if they are alike."""
    if len(first.keys) != len(e.keys):
        return None
    renaming = alike(first, e)
    return None if renaming is None else tuple(renaming[k] for k in first.keys)


def _with(e: Expr, known: Sequence[Local]) -> Expr:
    """A term that reads tables of the batch, the largest ones first."""
    if isinstance(e, Sum) and reads_delta(e) and not ins(e):
        for local in reversed(known):
            found = _match(local.term, e)
            if found is not None:
                return View(local.name, found)
    return map_children(e, lambda part: _with(part, known))
