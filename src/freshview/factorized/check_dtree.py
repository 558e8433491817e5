"""Whether a dtree file and a query speak of the same join: relations, columns and types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freshview.calculus.schema import Relation
from freshview.calculus.terms import Rel
from freshview.errors import Place
from freshview.factorized.dtree import DTree, read_dtree
from freshview.factorized.order import OrderProblem
from freshview.program.listing import WORDS


@dataclass(frozen=True)
class DTreeFile:
    """A dtree file that was read, with its text, for the places of what it says."""

    tree: DTree
    file: str
    text: str

    def place(self, word: str, column: int) -> Place:
        """The line that has a word at a column, counted from 0; the first one if none has."""
        for number, line in enumerate(self.text.splitlines(), 1):
            words = line.split()
            if len(words) > 2 and words[column] == word:
                return Place(self.file, number, 1)
        return Place(self.file, 1, 1)


def read_dtree_file(text: str, file: str) -> DTreeFile:
    """A dtree file, checked in itself."""
    return DTreeFile(read_dtree(text, file), file, text)


def check_agrees(dtree: DTreeFile, atoms: Sequence[Rel], declared: Sequence[Relation]) -> None:
    """Refuse a dtree file that is not about this join, naming its line."""
    wanted = list(atoms)
    for listed in dtree.tree.relations:
        at = dtree.place(listed.name, 0)
        same = [a for a in wanted if a.name == listed.name]
        if not same:
            names = ", ".join(dict.fromkeys(a.name for a in atoms))
            raise OrderProblem(
                f"the query has no relation {listed.name}", instead=f"it joins {names}", at=at
            )
        fitting = [a for a in same if a.vars == listed.vars]
        if not fitting:
            raise OrderProblem(
                f"{listed.name} has the variables {','.join(listed.vars)} here, but"
                f" {','.join(same[0].vars)} in the query",
                instead="list its columns as they are declared",
                at=at,
            )
        wanted.remove(fitting[0])
    for atom in wanted:
        raise OrderProblem(
            f"the query joins {atom.name}, which the dtree file does not list",
            instead=f"add the line '{atom.name} id {','.join(atom.vars)}'",
            at=Place(dtree.file, 1, 1),
        )
    _check_types(dtree, declared)


def _check_types(dtree: DTreeFile, declared: Sequence[Relation]) -> None:
    named = {r.name: r for r in declared}
    for listed in dtree.tree.relations:
        for v, column in zip(listed.vars, named[listed.name].columns, strict=True):
            word = dtree.tree.types[v]
            kind = WORDS[word].kind if word in WORDS else word
            if kind != column.type.kind:
                raise OrderProblem(
                    f"variable '{v}' is {word} here, but {listed.name}.{column.name} is"
                    f" {column.type.kind}",
                    instead="give it the type of the column",
                    at=dtree.place(v, 1),
                )
