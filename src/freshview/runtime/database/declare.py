"""New relations and views of a database: all of a declaration, or none of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from freshview.calculus.schema import Query, Relation
from freshview.calculus.scope import base_relations
from freshview.errors import BadRow, BadValue, FreshviewError, Place
from freshview.plan.options import Strategy
from freshview.plan.policies import check_policy
from freshview.plan.switches import Switches
from freshview.runtime.database.declarations import Declaration
from freshview.runtime.database.state import State
from freshview.runtime.database.tiering import Tiering
from freshview.runtime.relations.stored_base import AnyBase, WatermarkBase, is_lost
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.group import ViewGroup
from freshview.runtime.views.grouping import form_groups
from freshview.runtime.views.maintained import MaintainedView
from freshview.sql import Catalog

Planned: TypeAlias = Iterable[tuple[Query, DatabaseSettings]]
"""Queries, and how each is to be kept."""


def declare(
    state: State,
    tiering: Tiering,
    declaration: Declaration,
    catalog: Catalog,
    queries: Planned,
) -> list[MaintainedView]:
    """Add the relations of a catalog and views, filled with the data so far; gives the views."""
    queries = list(queries)
    gone = _retired(state, catalog, [query for query, _ in queries])
    bases = _bases(state, tiering, catalog)
    first = max((view.number for view in state.views.values()), default=-1) + 1
    new = {
        query.name.lower(): _maintained(state, query, catalog, bases, settings, first + i)
        for i, (query, settings) in enumerate(queries)
    }
    affected = [g for g in state.groups if any(v in gone for v in g.views)]
    others = [g for g in state.groups if g not in affected]
    groups = [*form_groups(new.values(), bases), *_without(affected, gone, bases)]
    for group in groups:
        group.rows_seen = sum(bases[r.name].size for r in group.relations)
    started: list[ViewGroup] = []
    for target, own in tiering.attach_kernels(groups, others, bases, state.fed):
        _start(target)  # now, so that a view that cannot be filled is not declared
        if target is not own and target.built is None:
            own.alone = True  # the others are not to lose their kernel
            tiering.build(own)
            _start(own)
        started.append(own if own.alone else target)
    # The views hold this very dictionary, where kernels take the places of dictionaries.
    for known in others:
        known.read_from(bases)
    for key, relation in state.catalog.relations.items():
        if catalog.relations.get(key) != relation:
            state.fed.discard(relation.name)
    state.catalog, state.bases = catalog, bases
    state.groups = others
    for view in gone:
        view.retire()
        del state.views[view.query.name.lower()]
    state.views.update(new)
    state.regroup(started)
    state.declarations.append(declaration)
    state.follow_progress()
    return list(new.values())


def settings_of(
    settings: DatabaseSettings, name: str, strategy: Strategy, order: str
) -> DatabaseSettings:
    """The settings of one view with a strategy of its own, and a variable order, if there is one.

    View trees have no switches; those of the database are for the other views.
    """
    from freshview.factorized.order import read_order

    orders = {name: read_order(order)} if order else {}
    switches = Switches() if strategy == "factorized" else settings.switches
    return replace(settings, strategy=strategy, orders=orders, switches=switches)


def under_policy(
    queries: Iterable[Query], policy: str, settings: DatabaseSettings
) -> list[tuple[Query, DatabaseSettings]]:
    """Queries with the policy of their script, where they have none of their own."""
    policy = check_policy(policy) if policy else ""
    return [(replace(q, policy=q.policy or policy), settings) for q in queries]


def _retired(state: State, catalog: Catalog, queries: Sequence[Query]) -> list[MaintainedView]:
    """The views that a catalog no longer has, or has another query for."""
    replaced = {query.name.lower() for query in queries}
    return [v for k, v in state.views.items() if k in replaced or k not in catalog.views]


def _bases(state: State, tiering: Tiering, catalog: Catalog) -> dict[str, AnyBase]:
    """Where the rows of all the relations are kept; those of new ones are empty."""
    bases = dict(state.bases)
    known = {r.name: r for r in state.catalog.relations.values()}
    for name in known.keys() - {r.name for r in catalog.relations.values()}:
        del bases[name]
    for relation in catalog.relations.values():
        if relation.name not in bases or known.get(relation.name, relation) != relation:
            bases[relation.name] = tiering.new_base(relation)
    return bases


def _without(
    groups: Iterable[ViewGroup], gone: Collection[MaintainedView], bases: Mapping[str, AnyBase]
) -> list[ViewGroup]:
    """The views of groups that stay where others go; their program is made anew."""
    left: list[ViewGroup] = []
    for group in groups:
        views = [v for v in group.views if v not in gone]
        if not views:
            continue
        if not group.can_recompute:
            raise FreshviewError(
                f"the view '{views[0].query.name}' shares its program with one that would go, and "
                "the rows that it is filled with anew are not kept",
                instead="connect with keep_rows=True, or with share=False",
            )
        group_of_rest = ViewGroup(views, bases)
        group_of_rest.alone, group_of_rest.wide = group.alone, group.wide
        left.append(group_of_rest)
    return left


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
