"""Variable orders in files: the dtree format of Valeanu 2018, 4.2.

6 3                      numbers of variables and of relations
0 A int -1 {} 0          id, name, type, id of the variable above (-1: none), dep, cache hint
1 B double 0 {0} 0
...
R 5 A,B,F                relation, id of its lowest variable, its variables
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from freshview.calculus.terms import Rel
from freshview.errors import Place, SyntaxProblem
from freshview.factorized.order import OrderProblem, VariableOrder

_VARIABLE = re.compile(r"(\d+)\s+(\S+)\s+(\S+)\s+(-?\d+)\s+\{([\d,\s]*)\}\s+([01])")
_RELATION = re.compile(r"(\S+)\s+(\d+)\s+(\S+)")


@dataclass(frozen=True)
class DTree:
    """What a dtree file says: the order, types of variables, relations, and views to keep."""

    order: VariableOrder
    types: dict[str, str]
    relations: tuple[Rel, ...]
    cached: frozenset[str] = frozenset()


def read_dtree(text: str, file: str = "<text>") -> DTree:
    """A variable order from a dtree file; what it says of dependencies and leaves must be true."""
    lines = [(i, line.strip()) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
    counts = lines[0][1].split() if lines else []
    if len(counts) != 2 or not all(c.isdigit() for c in counts):
        raise SyntaxProblem(
            "a dtree file begins with the numbers of its variables and relations",
            at=Place(file, 1, 1),
        )
    variables, relations = int(counts[0]), int(counts[1])
    if len(lines) != 1 + variables + relations:
        raise SyntaxProblem(
            f"{variables} variables and {relations} relations are announced, "
            f"{len(lines) - 1} lines follow",
            at=Place(file, 1, 1),
        )
    reader = _Reader(file, [], {}, {}, [], set())
    for number, line in lines[1 : 1 + variables]:
        reader.variable(number, line)
    for number, line in lines[1 + variables :]:
        reader.relation(number, line)
    return reader.finish()


@dataclass
class _Reader:
    """What was read so far."""

    file: str
    above: list[tuple[str, str | None]]
    types: dict[str, str]
    deps: dict[str, tuple[int, frozenset[str]]]
    leaves: list[tuple[int, Rel, str]]
    cached: set[str]

    def variable(self, number: int, line: str) -> None:
        match = _VARIABLE.fullmatch(line)
        if match is None:
            raise self._bad(
                number, f"'{line}' is not a variable: id name type parent {{dep}} cache"
            )
        id_, name, type_, parent, dep, cache = match.groups()
        if int(id_) != len(self.above):
            raise self._bad(number, f"variable '{name}' has id {id_}, {len(self.above)} is next")
        above = None if parent == "-1" else self._named(number, int(parent))
        self.above.append((name, above))
        self.types[name] = type_
        ids = [int(i) for i in dep.split(",") if i.strip()]
        self.deps[name] = number, frozenset(self._named(number, i) for i in ids)
        if cache == "1":
            self.cached.add(name)

    def relation(self, number: int, line: str) -> None:
        match = _RELATION.fullmatch(line)
        if match is None:
            raise self._bad(number, f"'{line}' is not a relation: name lowest variables")
        name, lowest, columns = match.groups()
        atom = Rel(name, tuple(c.strip() for c in columns.split(",")))
        for v in atom.vars:
            if v not in self.types:
                raise self._bad(number, f"variable '{v}' of {name} is not among the variables")
        self.leaves.append((number, atom, self._named(number, int(lowest))))

    def finish(self) -> DTree:
        """The order, with what the file says of it checked."""
        order = VariableOrder(tuple(self.above))
        for number, atom, stated in self.leaves:
            try:
                lowest = order.lowest(atom)
            except OrderProblem as e:
                raise e.located(Place(self.file, number, 1)) from None
            if stated not in (lowest, *order.under(lowest)):
                raise self._bad(
                    number, f"{atom.name} hangs under '{stated}', its lowest variable is '{lowest}'"
                )
        atoms = tuple(atom for _, atom, _ in self.leaves)
        for name, (number, stated_deps) in self.deps.items():
            true = order.depends(name, atoms)
            if not true <= stated_deps:
                missing = ", ".join(sorted(true - stated_deps))
                raise self._bad(number, f"'{name}' depends on {missing}, which its set lacks")
        return DTree(order, self.types, atoms, frozenset(self.cached))

    def _named(self, number: int, id_: int) -> str:
        if id_ >= len(self.above):
            raise self._bad(number, f"there is no variable with id {id_} above this line")
        return self.above[id_][0]

    def _bad(self, number: int, what: str) -> OrderProblem:
        return OrderProblem(what, at=Place(self.file, number, 1))


def show_dtree(tree: DTree) -> str:
    r"""The file of a variable order.

    >>> text = "2 1\n0 A int -1 {} 0\n1 B int 0 {0} 0\nR 1 A,B\n"
    >>> show_dtree(read_dtree(text)) == text
    True
    """
    ids = {name: i for i, (name, _) in enumerate(tree.order.above)}
    lines = [f"{len(ids)} {len(tree.relations)}"]
    for name, parent in tree.order.above:
        dep = ",".join(str(i) for i in sorted(ids[v] for v in _deps(tree, name)))
        above = -1 if parent is None else ids[parent]
        cached = int(name in tree.cached)
        lines.append(f"{ids[name]} {name} {tree.types[name]} {above} {{{dep}}} {cached}")
    for atom in tree.relations:
        lines.append(f"{atom.name} {ids[tree.order.lowest(atom)]} {','.join(atom.vars)}")
    return "\n".join(lines) + "\n"


def _deps(tree: DTree, name: str) -> frozenset[str]:
    return tree.order.depends(name, tree.relations)
