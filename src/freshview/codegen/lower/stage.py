"""Deltas that several statements need are computed once, level by level up a view tree.

The change of a view is part of the change of the view above it: dV is Sum[a, b](dR * V1), and dW
above it Sum[a](Sum[a, b](dR * V1) * V2). What stands in several statements becomes a table of the
batch, and each level works on the rows of the level below it, which are fewer than those that came.

A sum over a join that stands beside a factor with variables of its own becomes one as well, also
where it stands once: row by row, all the rows that it adds up would meet all those of that factor.

Tables of the batch are filled before the first statement. So a sum that reads a map which an
earlier statement writes stays in its place: the statements of a node on Spark read what those
before them have computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from freshview.calculus.alpha_equivalence import alike
from freshview.calculus.build import factors
from freshview.calculus.scope import ins, is_value, outs, reads_delta
from freshview.calculus.terms import Expr, Mul, Sum, View
from freshview.calculus.walk import map_children, subterms
from freshview.program.terms import Statement


@dataclass(frozen=True)
class LevelOfBatch:
    """A table of the batch: what it is called, its keys, and what it holds."""

    name: str
    term: Sum

    @property
    def keys(self) -> tuple[str, ...]:
        """The variables of its rows."""
        return self.term.keys


def stage(
    statements: Sequence[Statement], *, shared: bool = True
) -> tuple[list[LevelOfBatch], list[Statement]]:
    """Tables of the batch, each after what it reads; and the statements that read them.

    They hold the sums that meet rows of their own, and, if `shared`, those that stand in more than
    one place.
    """
    adding = [(s.term, written) for s, written in _after(statements) if s.op == "+="]
    sums = _distinct(
        [e for term, written in adding for e in _crossed(term) if not _reads(e, written)]
    )
    if shared:
        sums += [e for e in _shared(adding) if all(_match(k, e) is None for k in sums)]
    sums.sort(key=lambda e: sum(1 for _ in subterms(e)))
    whole = [LevelOfBatch(f"level{n}", e) for n, e in enumerate(sums)]
    tables = [
        replace(x, term=replace(x.term, body=_with(x.term.body, whole[:n], frozenset())))
        for n, x in enumerate(whole)
    ]
    return tables, [
        replace(s, term=_with(s.term, whole, written)) if s.op == "+=" else s
        for s, written in _after(statements)
    ]


def _after(statements: Sequence[Statement]) -> Iterator[tuple[Statement, frozenset[str]]]:
    """Each statement, and the maps that those before it write."""
    written: frozenset[str] = frozenset()
    for s in statements:
        yield s, written
        written |= {s.target.name}


def _reads(e: Expr, maps: frozenset[str]) -> bool:
    """Whether a term reads one of these maps."""
    return bool(maps) and any(isinstance(part, View) and part.name in maps for part in subterms(e))


def _crossed(e: Expr) -> Iterator[Sum]:
    """The sums over joins beside factors whose rows multiply with theirs.

    One that reads nothing of the batch is among them if it has no variable in common with what
    stands beside it: any other is looked up by what the batch brings.

    >>> from freshview.calculus.text import read, show
    >>> change = read("Sum[a, d](Sum[a, c]((DELTA R)(a, b) * S[b, c]) * T[c, d])")
    >>> [show(part) for part in _crossed(change)]
    ['Sum[a, c]((DELTA R)(a, b) * S[b, c])']
    """
    for part in (p for p in subterms(e) if isinstance(p, Mul)):
        for f in part.factors:
            if not isinstance(f, Sum) or not f.keys or ins(f) or not _adds_up_join(f):
                continue
            others = frozenset().union(*(outs(g) for g in part.factors if g is not f))
            if others - set(f.keys) and (reads_delta(f) or not others & set(f.keys)):
                yield f


def _adds_up_join(e: Sum) -> bool:
    """Whether a sum makes fewer rows of those of a join."""
    rows = [f for f in factors(e.body) if not is_value(f) and outs(f)]
    return len(rows) > 1 and not outs(e.body) <= set(e.keys)


def _distinct(sums: Sequence[Sum]) -> list[Sum]:
    """One of each kind."""
    distinct: list[Sum] = []
    for e in sums:
        if all(_match(known, e) is None for known in distinct):
            distinct.append(e)
    return distinct


def _shared(terms: Sequence[tuple[Expr, frozenset[str]]]) -> list[Sum]:
    """The sums over the batch that stand in more than one place, each once."""
    kinds: list[tuple[Sum, int]] = []
    for e, written in ((part, written) for term, written in terms for part in subterms(term)):
        if not (isinstance(e, Sum) and reads_delta(e)) or ins(e) or _reads(e, written):
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


def _with(e: Expr, known: Sequence[LevelOfBatch], written: frozenset[str]) -> Expr:
    """A term that reads tables of the batch, the largest ones first."""
    if isinstance(e, Sum) and not ins(e) and not _reads(e, written):
        for level in reversed(known):
            names = _match(level.term, e)
            if names is not None:
                return View(level.name, names)
    return map_children(e, lambda part: _with(part, known, written))
