"""`freshview explain`: the stages of views in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from freshview.calculus.functions import Functions
from freshview.calculus.schema import Query, Relation
from freshview.calculus.scope import base_relations
from freshview.cli.script import read_script, read_text
from freshview.codegen.explain import show_passes
from freshview.distributed.explain import explain as spread
from freshview.errors import NotNative, UnknownName
from freshview.plan.compile import compile_queries
from freshview.program.text import show_program
from freshview.runtime.compile.compile_view import compile_view, headers_of
from freshview.runtime.database.tiering import TIER_UP_ROWS
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.explain import explain
from freshview.runtime.views.grouping import form_groups
from freshview.runtime.views.joins import joins
from freshview.runtime.views.maintained import MaintainedView
from freshview.sql.load import load

FIRST_ROWS = f"the reference engine runs the same program for the first {TIER_UP_ROWS:,} rows"
"""What `connect()` does before there is a kernel."""

PLACED = (
    "scheme: as the maps are placed: a worker has the keys of its hash, or, of a map that is "
    "replicated, all of it"
)


def explain_script(
    script: Path, name: str, settings: DatabaseSettings, *, verbose: bool = False
) -> Iterator[str]:
    """What there is to say about the view of a name, or about all; no kernel is compiled for it.

    It is the plan that a database of these settings follows, each view by itself, as `--passes` has
    it; and the names of the views that share its program.
    """
    if settings.engine == "reference":
        db = read_script(script, settings)
        for view in [db.view(name)] if name else db.views:
            yield view.explain(verbose=verbose)
        return
    views = [
        MaintainedView(query, used, functions, settings, number)
        for number, (query, used, functions) in enumerate(_wanted(script, ""))
    ]
    groups = [[v.query.name for v in g.views] for g in form_groups(views, {})]
    for query, used, functions in _wanted(script, name):
        others = [n for g in groups if query.name in g for n in g if n != query.name]
        try:
            plan = compile_view(query, used, settings, functions)
        except NotNative as why:
            if settings.engine == "native":
                raise
            program = compile_queries([query], used, settings.planner_options("batch"), functions)
            yield explain(query, program, str(why), verbose=verbose)
            continue
        in_python = settings.engine == "auto" and _starts_in_python(query, functions)
        arrival = FIRST_ROWS if in_python else ""
        yield explain(
            query, plan.program, plan=plan, arrival=arrival, others=others, verbose=verbose
        )


def _starts_in_python(query: Query, functions: Functions) -> bool:
    """Whether the reference engine runs the program of a view before there is a kernel."""
    return not (query.factorized or headers_of(query, functions))


def explain_passes(
    script: Path, name: str, settings: DatabaseSettings, check: bool
) -> Iterator[str]:
    """The kernel of the views after every pass: program, layout, loops; `check` each of them."""
    for query, used, functions in _wanted(script, name):
        program = compile_view(query, used, settings, functions).program
        shown = show_passes(program, functions, settings.passes, check)
        yield f"== view {query.name}\n\n== program\n{show_program(program)}\n" + shown


def explain_on_spark(script: Path, name: str, settings: DatabaseSettings) -> Iterator[str]:
    """The choice, and how views are spread over workers: placement, every pass, jobs and stages."""
    for query, used, functions in _wanted(script, name):
        options = settings.planner_options("batch", kernel=True)
        program = compile_queries([query], used, options, functions)
        choice = "\n".join(["== choice", *program.notes])
        ways = joins(program, ordered=True, scheme=PLACED)
        parts = [choice, *(["\n".join(["== joins", *ways])] if ways else [])]
        parts.append(spread(program, functions=functions))
        yield "\n\n".join([f"== view {query.name}", *parts])


def _wanted(script: Path, name: str) -> Iterator[tuple[Query, list[Relation], Functions]]:
    """The view of a name, or all, each with the relations that it reads."""
    catalog, queries = load(read_text(script), str(script))
    wanted = [q for q in queries if name.lower() in ("", q.name.lower())]
    if name and not wanted:
        known = ", ".join(q.name for q in queries) or "none yet"
        raise UnknownName(f"there is no view '{name}'", instead=f"the views are: {known}")
    for query in wanted:
        read = base_relations(query)
        used = [r for r in catalog.relations.values() if r.name in read]
        yield query, used, catalog.functions
