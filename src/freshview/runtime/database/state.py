"""What a database holds: everything that a snapshot saves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from freshview.calculus.schema import Relation
from freshview.errors import BadRow, UnknownName
from freshview.runtime.database.declarations import Declaration
from freshview.runtime.database.serve import AnyBase
from freshview.runtime.database.settings import Settings
from freshview.runtime.views.maintained import Maintained
from freshview.sql import Catalog


@dataclass
class State:
    """Declarations, rows, views and the version; whoever uses it has the lock of the database."""

    settings: Settings
    catalog: Catalog = field(default_factory=Catalog)
    declarations: list[Declaration] = field(default_factory=list)
    bases: dict[str, AnyBase] = field(default_factory=dict)
    views: dict[str, Maintained] = field(default_factory=dict)
    readers: dict[str, list[Maintained]] = field(default_factory=dict)
    """The views that read a relation, by its name."""
    version: int = 0
    has_changes: bool = False
    """Whether rows of a stream have arrived, after which static tables take no more."""
    fed: set[str] = field(default_factory=set)
    """The relations that rows have reached."""

    def view(self, name: str) -> Maintained:
        """The view of a name."""
        view = self.views.get(name.lower())
        if view is None:
            known = ", ".join(v.query.name for v in self.views.values()) or "none yet"
            raise UnknownName(f"there is no view '{name}'", instead=f"the views are: {known}")
        return view

    def stream(self, name: str) -> Relation:
        """The stream of a name; a static table is refused."""
        relation = self.catalog.relation(name)
        if relation.static:
            raise BadRow(
                f"'{relation.name}' is a static table",
                instead="load it before the first change, or declare it with CREATE STREAM",
            )
        return relation

    def count_rows(self, rows: int, relations: Iterable[str]) -> None:
        """Count rows that came one by one, each a version, through kernels of these relations."""
        self.version += rows
        if rows:
            self.has_changes = True
            self.fed.update(relations)
