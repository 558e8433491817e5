"""Hybrid trees in words: the variable order, the view tree, which views are kept and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from freshview.calculus.terms import Add, Expr
from freshview.calculus.text import show
from freshview.factorized.hybrid import Hybrid
from freshview.factorized.order import VariableOrder
from freshview.factorized.terms import Leaf, Tree, TreeNode, relations, trees

T = TypeVar("T")


def branches(
    roots: Sequence[T], below: Callable[[T], Sequence[T]], words: Callable[[T], str]
) -> list[str]:
    """A tree as lines, with the branches drawn.

    >>> tree = {"A": "BC", "B": "", "C": ""}
    >>> branches("A", lambda v: tree[v], str)
    ['A', '├─ B', '└─ C']
    """

    def lines(t: T, first: str, rest: str) -> Iterator[str]:
        yield first + words(t)
        children = below(t)
        for i, child in enumerate(children):
            last = i + 1 == len(children)
            yield from lines(
                child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  ")
            )

    return [line for root in roots for line in lines(root, "", "")]


def show_tree_of_variables(order: VariableOrder) -> list[str]:
    """A variable order as a tree."""
    return branches(order.children[None], lambda v: order.children[v], str)


def title(t: Tree, *, delta: bool = False) -> str:
    """A view in one line of text: V_R,S@A[keys].

    >>> from freshview.calculus.terms import Rel
    >>> title(TreeNode("B", ("A",), (Leaf(Rel("R", ("A", "B")), ("A", "B")),)))
    'V_R@B[A]'
    """
    mark = "d" if delta else ""
    if isinstance(t, Leaf):
        return f"{mark}{t.atom.name}({', '.join(t.atom.vars)})"
    return f"{mark}V_{','.join(relations(t))}@{t.var or 'top'}[{', '.join(t.keys)}]"


def show_view_tree(h: Hybrid) -> list[str]:
    """The view tree, and beside each view what happens to it."""
    nodes = list(trees(h.tree))
    roots: list[Tree] = [h.tree]
    drawn = branches(roots, _children, title)
    width = max(map(len, drawn))
    return [
        f"{line:<{width}}   {_storage(t, h)}".rstrip() for line, t in zip(drawn, nodes, strict=True)
    ]


def _children(t: Tree) -> Sequence[Tree]:
    return t.children if isinstance(t, TreeNode) else ()


def _storage(t: Tree, h: Hybrid) -> str:
    if isinstance(t, Leaf):
        if t.atom.name in h.static:
            return "table"
        return f"stream, kept: {h.why(t)}" if h.is_kept(t) else "stream"
    word = "kept" if h.is_kept(t) else "not kept"
    return f"{word}: {h.why(t)}"


def show_function(f: Expr) -> str:
    """A function of variables as a factor, whole numbers without a point.

    >>> from freshview.calculus.text import read
    >>> show_function(read("h2 + 1.0e0")), show_function(read("1.5e0 * h3"))
    ('(h2 + 1)', '1.5 * h3')
    """
    text = re.sub(r"(\d+)(?:\.0|(\.\d+))e0\b", r"\1\2", show(f))
    return f"({text})" if isinstance(f, Add) else text


def show_functions(h: Hybrid) -> list[str]:
    """Which functions are applied at which view."""
    nodes = [(t, t.factors) for t in trees(h.tree) if isinstance(t, TreeNode) and t.factors]
    return [f"{title(t)}: {' * '.join(map(show_function, f))}" for t, f in nodes]


def show_merged(h: Hybrid) -> list[str]:
    """Which chains of views became one."""
    return [f"{', '.join(v)} in the view of {host}" for host, v in h.merged().items()]


def plural(count: int, word: str) -> str:
    """A number of things.

    >>> plural(1, "view"), plural(2, "query")
    ('1 view', '2 queries')
    """
    many = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{count} {word if count == 1 else many}"


def listed(names: Iterable[str]) -> str:
    """Names with commas, or `none`."""
    return ", ".join(names) or "none"
