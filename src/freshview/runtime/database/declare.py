"""New relations and views of a database: all of a declaration, or none of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freshview.calculus.schema import Query
from freshview.calculus.scope import relations
from freshview.errors import BadValue, FreshviewError, Place
from freshview.runtime.database.declarations import Declaration
from freshview.runtime.database.state import State
from freshview.runtime.database.tiering import Tiering
from freshview.runtime.relations.stored_base import AnyBase, StatelessBase
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.maintained import MaintainedView
from freshview.sql import Catalog


def declare(
    state: State,
    tiering: Tiering,
    declaration: Declaration,
    catalog: Catalog,
    queries: Iterable[tuple[Query, DatabaseSettings]],
) -> list[MaintainedView]:
    """Add the relations of a catalog and views, filled with the data so far; gives the views."""
    bases = dict(state.bases)
    for relation in catalog.relations.values():
        if relation.name not in bases:
            bases[relation.name] = tiering.new_base(relation)
    new = {
        query.name.lower(): _maintained(state, query, catalog, bases, settings)
        for query, settings in queries
    }
    tiering.equip(list(new.values()), bases)
    for view in new.values():
        try:
            view.start()  # now, so that a view that cannot be filled is not declared
        except BadValue as e:
            e.at = Place(f"view '{view.query.name}' over the rows that are there")
            raise
    # The views hold this very dictionary, where kernels take the places of dictionaries.
    for known in state.views.values():
        known.read_from(bases)
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
    settings: DatabaseSettings,
) -> MaintainedView:
    read = relations(query.term)
    used = [r for r in catalog.relations.values() if r.name in read]
    for r in used:
        if r.name in state.fed and isinstance(bases[r.name], StatelessBase):
            raise FreshviewError(
                f"'{query.name}' comes after rows of '{r.name}', which are not kept",
                instead="declare views before the first rows, or connect with keep_rows=True",
            )
    view = MaintainedView(query, used, bases, catalog.functions, settings)
    view.rows_seen = sum(bases[r.name].size for r in used)
    return view
