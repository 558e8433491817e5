"""A domain says nothing beside the change that it was taken from."""

from __future__ import annotations

from freshview.calculus.build import mul
from freshview.calculus.terms import Delta, Exists, Expr, Mul, Sum


def drop_implied(e: Expr) -> Expr | None:
    """dR(a,b) * Exists(Sum_[a](Exists(dR(a,c)))) => dR(a,b).

    >>> from freshview.calculus.text import read, show
    >>> show(drop_implied(read("(DELTA R)(a, b) * Exists(Sum[a](Exists((DELTA R)(a, c)))) * S(b)")))
    '(DELTA R)(a, b) * S(b)'
    """
    if not isinstance(e, Mul):
        return None
    changes = [f for f in e.factors if isinstance(f, Delta)]
    kept = [f for f in e.factors if not any(_is_implied(f, d) for d in changes)]
    return mul(*kept) if len(kept) < len(e.factors) else None


def _is_implied(f: Expr, change: Delta) -> bool:
    if not isinstance(f, Exists):
        return False
    keys: tuple[str, ...]
    match f.body:
        case Delta(name, names):
            keys = names
        case Sum(keys, Exists(Delta(name, names))):
            pass
        case _:
            return False
    local = [n for n in names if n not in keys]
    pairs = zip(names, change.vars, strict=True) if name == change.name else ()
    matches = name == change.name and all(n == v for n, v in pairs if n in keys)
    return matches and len(set(local)) == len(local)
