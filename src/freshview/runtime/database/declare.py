"""New relations and views of a database: all of a declaration, or none of it."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping

from freshview.calculus.schema import Query, Relation
from freshview.calculus.scope import base_relations
from freshview.errors import AmbiguousName, BadRow, BadValue, FreshviewError, Place
from freshview.runtime.database.declarations import Declaration
from freshview.runtime.database.state import State
from freshview.runtime.database.tiering import Tiering
from freshview.runtime.relations.stored_base import AnyBase, WatermarkBase, is_lost
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.group import ViewGroup
from freshview.runtime.views.grouping import form_groups
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
    queries = list(queries)
    _refuse_replacements(state, [query for query, _ in queries])
    bases = dict(state.bases)
    for relation in catalog.relations.values():
        if relation.name not in bases:
            bases[relation.name] = tiering.new_base(relation)
    first = len(state.views)
    new = {
        query.name.lower(): _maintained(state, query, catalog, bases, settings, first + i)
        for i, (query, settings) in enumerate(queries)
    }
    groups = form_groups(new.values(), bases)
    for group in groups:
        group.rows_seen = sum(bases[r.name].size for r in group.relations)
    started: list[ViewGroup] = []
    for target, own in tiering.attach_kernels(groups, state.groups, bases, state.fed):
        _start(target)  # now, so that a view that cannot be filled is not declared
        if target is not own and target.built is None:
            own.alone = True  # the others are not to lose their kernel
            tiering.build(own)
            _start(own)
        started.append(own if own.alone else target)
    # The views hold this very dictionary, where kernels take the places of dictionaries.
    for known in state.groups:
        known.read_from(bases)
    state.catalog, state.bases = catalog, bases
    state.views.update(new)
    state.regroup(started)
    state.declarations.append(declaration)
    return list(new.values())


def _refuse_replacements(state: State, queries: Iterable[Query]) -> None:
    for query in queries:
        if query.name.lower() in state.views:
            raise AmbiguousName(
                f"the view '{query.name}' is kept already, and cannot be replaced",
                instead="choose another name, or declare it in a new database",
            )


def _start(group: ViewGroup) -> None:
    try:
        group.start()
    except BadValue as e:
        word = "view" if len(group.views) == 1 else "views"
        e.at = Place(f"{word} {group.name} over the rows that are there")
        raise


def _maintained(
    state: State,
    query: Query,
    catalog: Catalog,
    bases: MutableMapping[str, AnyBase],
    settings: DatabaseSettings,
    number: int,
) -> MaintainedView:
    read = base_relations(query)
    used = [r for r in catalog.relations.values() if r.name in read]
    if any(r.time is not None for r in used):
        from freshview.program.expiry import watermark_relation  # where a stream has event time

        marks = watermark_relation(used)
        assert marks is not None
        used.append(marks)
        bases.setdefault(marks.name, WatermarkBase(marks))
    for r in used:
        if r.name in state.fed and is_lost(bases[r.name]):
            raise FreshviewError(
                f"'{query.name}' comes after rows of '{r.name}', which are not kept",
                instead="declare views before the first rows, or connect with keep_rows=True",
            )
    return MaintainedView(query, used, catalog.functions, settings, number)


def static_table(state: State, name: str) -> Relation:
    """The static table of a name, while it may still be loaded."""
    table = state.catalog.relation(name)
    if not table.static:
        raise BadRow(f"'{table.name}' is a stream", instead="use insert")
    if state.has_changes and state.readers[table.name]:
        raise BadRow(
            f"'{table.name}' is a static table, and changes have arrived",
            instead="load it first, or declare it with CREATE STREAM",
        )
    return table
