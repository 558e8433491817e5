"""New relations and views of a database: all of a declaration, or none of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freshview.calculus.schema import Query
from freshview.calculus.scope import relations
from freshview.errors import BadValue, FreshviewError, Place
from freshview.runtime.database.base import Base
from freshview.runtime.database.declarations import Declaration
from freshview.runtime.database.engines import Engines
from freshview.runtime.database.serve import AnyBase
from freshview.runtime.database.settings import Settings
from freshview.runtime.database.state import State
from freshview.runtime.database.stored_base import StatelessBase
from freshview.runtime.views.maintained import Maintained
from freshview.sql import Catalog


def declare(
    state: State,
    engines: Engines,
    declaration: Declaration,
    catalog: Catalog,
    queries: Iterable[tuple[Query, Settings]],
) -> list[Maintained]:
    """Add the relations of a catalog and views, filled with the data so far; gives the views."""
    bases = dict(state.bases)
    for relation in catalog.relations.values():
        base_kind = Base if state.settings.keep_rows else StatelessBase
        bases.setdefault(relation.name, base_kind(relation))
    new = {
        query.name.lower(): _maintained(state, query, catalog, bases, settings)
        for query, settings in queries
    }
    engines.equip(list(new.values()), bases)
    for view in new.values():
        try:
            view.start()  # now, so that a view that cannot be filled is not declared
        except BadValue as e:
            e.at = Place(f"view '{view.query.name}' over the rows that are there")
            raise
    # The views hold this very dictionary, where kernels take the places of dictionaries.
    for known in state.views.values():
        known.share(bases)
    state.catalog, state.bases = catalog, bases
    state.views.update(new)
    state.readers = {name: [v for v in state.views.values() if v.reads(name)] for name in bases}
    state.declarations.append(declaration)
    return list(new.values())


def _maintained(
    state: State,
    query: Query,
    catalog: Catalog,
    bases: Mapping[str, AnyBase],
    settings: Settings,
) -> Maintained:
    read = relations(query.term)
    used = [r for r in catalog.relations.values() if r.name in read]
    for r in used:
        if r.name in state.fed and isinstance(bases[r.name], StatelessBase):
            raise FreshviewError(
                f"'{query.name}' comes after rows of '{r.name}', which are not kept",
                instead="declare views before the first rows, or connect with keep_rows=True",
            )
    view = Maintained(query, used, bases, catalog.functions, settings)
    view.seen = sum(bases[r.name].size for r in used)
    return view
