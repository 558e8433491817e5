"""`freshet explain`: the stages of views in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from freshet.calculus.scope import relations
from freshet.cli.script import read_script, read_text
from freshet.errors import UnknownName
from freshet.runtime.explain import explain
from freshet.runtime.recipe import recipe
from freshet.runtime.settings import Settings
from freshet.sql import load


def explain_script(script: Path, name: str, settings: Settings) -> Iterator[str]:
    """What is to be told about the view of a name, or about all; no kernel is compiled for it."""
    if settings.engine != "native":
        db = read_script(script, settings)
        for view in [db.view(name)] if name else db.views:
            yield view.explain()
        return
    catalog, queries = load(read_text(script), str(script))
    wanted = [q for q in queries if name.lower() in ("", q.name.lower())]
    if name and not wanted:
        known = ", ".join(q.name for q in queries) or "none yet"
        raise UnknownName(f"there is no view '{name}'", instead=f"the views are: {known}")
    for query in wanted:
        read = relations(query.term)
        used = [r for r in catalog.relations.values() if r.name in read]
        made = recipe(query, used, settings, catalog.functions)
        yield explain(query, made.program, recipe=made)
