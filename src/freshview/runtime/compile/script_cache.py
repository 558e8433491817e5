"""Scripts of SQL as they were translated before: to parse takes longer than to read the result.

An entry holds the relations and the terms of the views that a script declares, as text that reads
back. It is found by the script, what was declared before it, and the code that translates.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from freshview.calculus.functions import BUILTINS
from freshview.calculus.schema import Column, EventTime, Query, Relation
from freshview.calculus.terms import Const, Order
from freshview.calculus.text import read, show
from freshview.calculus.types import Value, read_type, type_of
from freshview.codegen.library.cache import cache_root, make_room
from freshview.codegen.library.private_files import NotPrivate, private_folder, read_own
from freshview.depth import deep
from freshview.files import write_whole
from freshview.runtime.compile.source_hash import hash_of, python_files
from freshview.sql.catalog import Catalog, Source

PACKAGE = Path(__file__).resolve().parents[2]
ROOMS = ("algebra", "calculus", "sql", "simplify", "temporal")
"""The folders of the package whose code decides what a script means."""

MAX_BYTES = 16 << 20
"""Bytes of all the scripts of a user together."""


@deep
def load_script(sql: str, file: str, catalog: Catalog) -> tuple[Catalog, list[Query]]:
    """What `sql.load` makes of a script, from the cache or translated now.

    Scripts beside functions and types of the user's own are translated each time.
    """
    known = _is_plain(catalog)
    key = _key(sql, file, catalog) if known else ""
    entry = _get(key) if known else None
    if entry is not None:
        return _declared(catalog, entry)
    from freshview.sql.load import load

    after, queries = load(sql, file, catalog)
    if known and _is_plain(after):
        entry = _entry(catalog, after, queries)
        if _declared(catalog, entry)[1] == queries:  # a text does not show how kernels hold numbers
            _put(key, entry)
    return after, queries


def _is_plain(catalog: Catalog) -> bool:
    """Whether a catalog has no functions and types of the user's own."""
    return catalog.functions is BUILTINS and not catalog.types and not catalog.sql_functions


def _entry(before: Catalog, after: Catalog, queries: list[Query]) -> dict[str, object]:
    """What a script has added to a catalog, as values that JSON holds."""
    new = [(key, r) for key, r in after.relations.items() if before.relations.get(key) != r]
    named = {q.name.lower() for q in queries}
    return {
        "dropped": [
            *(k for k in before.views if k in named or k not in after.views),
            *(k for k, r in before.relations.items() if after.relations.get(k) != r),
        ],
        "relations": [_show_relation(r, after.sources.get(key)) for key, r in new],
        "queries": [_show_query(q) for q in queries],
        "parts": [[_show_query(p) for p in _parts(q, after)] for q in queries],
    }


def _parts(q: Query, catalog: Catalog) -> list[Query]:
    """The derived relations of a view that are no views themselves."""
    return [p for p in q.over if p.name.lower() not in catalog.views]


def _show_relation(r: Relation, source: Source | None) -> list[object]:
    columns = _show_columns(r.columns)
    s = source
    origin = s and [s.kind, s.arguments, s.framing, s.format, s.options]
    time = r.time and [r.time.column, r.time.delay]
    defaults = [[name, show(Const(v, type_of(v)))] for name, v in r.defaults]
    return [r.name, columns, r.static, r.key, origin, time, r.notes, defaults, r.generation]


def _show_query(q: Query) -> list[object]:
    columns = _show_columns(q.columns)
    order = [[o.var, o.descending, o.nulls_first] for o in q.order]
    return [q.name, columns, q.vars, show(q.term), order, q.factorized, q.notes, q.policy]


def _declared(catalog: Catalog, entry: dict[str, Any]) -> tuple[Catalog, list[Query]]:
    """The catalog after a script, and its queries."""
    catalog = catalog.without(entry["dropped"])
    for name, columns, static, key, origin, time, notes, *rest in entry["relations"]:
        source = None
        if origin is not None:
            kind, arguments, framing, format_, options = origin
            pairs = tuple((str(k), v) for k, v in options)
            source = Source(kind, tuple(arguments), framing, format_, pairs)
        event_time = time and EventTime(*time)
        defaults, generation = rest
        values = tuple((column, _constant(text)) for column, text in defaults)
        details = (tuple(key), event_time, tuple(notes), values, generation)
        relation = Relation(name, _columns(columns), static, *details)
        catalog = catalog.with_relation(relation, source)
    queries = []
    for shown, parts in zip(entry["queries"], entry["parts"], strict=True):
        query = _query(*shown)
        known = catalog.with_parts(_query(*part) for part in parts)
        query = replace(query, over=known.views_read(query.term))
        queries.append(query)
        catalog = catalog.with_view(query)
    return catalog, queries


def _query(
    name: str,
    columns: list[tuple[str, str, bool, int, str]],
    vars: list[str],
    term: str,
    order: list[tuple[Any, ...]],
    factorized: bool,
    notes: list[str],
    policy: str,
) -> Query:
    keys = tuple(Order(*o) for o in order)
    rest = (keys, factorized, (), tuple(notes), policy)
    return Query(name, _columns(columns), tuple(vars), read(term), *rest)


def _show_columns(columns: tuple[Column, ...]) -> list[object]:
    return [[c.name, str(c.type), c.type.wide, c.size, c.type.span] for c in columns]


def _columns(values: list[tuple[str, str, bool, int, str]]) -> tuple[Column, ...]:
    return tuple(
        Column(name, replace(read_type(t), wide=wide, span=span), size)
        for name, t, wide, size, span in values
    )


def _constant(text: str) -> Value:
    constant = read(text)
    assert isinstance(constant, Const)
    return constant.value


def _key(sql: str, file: str, catalog: Catalog) -> str:
    declared = (catalog.relations, catalog.views, catalog.sources)
    whole = repr((sql, file, [sorted(m.items()) for m in declared], _translator()))
    return hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()


@cache
def _translator() -> str:
    """A hash of all the source that translates: another one may give other terms."""
    return hash_of(PACKAGE, translator_sources())


def translator_sources() -> list[str]:
    """The files of the package whose code decides what a script means."""
    top = [name for name in os.listdir(PACKAGE) if name.endswith(".py")]
    return [*top, *python_files(PACKAGE, *ROOMS), "runtime/compile/script_cache.py"]


def _folder() -> Path:
    return cache_root() / "scripts"


def _get(key: str) -> dict[str, Any] | None:
    """The entry of a key; None where there is none, or its file is damaged or not ours."""
    path = _folder() / f"{key}.json"
    try:
        private_folder(path.parent)
        stored = json.loads(read_own(path) or b"{}")
        if hashlib.sha256(stored["script"].encode()).hexdigest() != stored["sha256"]:
            return None
        entry: dict[str, Any] = json.loads(stored["script"])
    except (OSError, NotPrivate, ValueError, KeyError, TypeError, AttributeError):
        return None
    with suppress(OSError):
        os.utime(path)  # the time of its last use decides what is evicted
    return entry


def _put(key: str, entry: Mapping[str, object]) -> None:
    """Store the entry of a key; where that fails, the script is translated again."""
    text = json.dumps(entry)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    data = json.dumps({"sha256": sha256, "script": text}).encode()
    path = _folder() / f"{key}.json"
    if len(data) > MAX_BYTES:
        return
    with suppress(OSError, NotPrivate):
        private_folder(path.parent)
        write_whole(path, data, private=True)
        if key.startswith("0"):  # one in sixteen looks at all the others
            make_room(path.parent.iterdir(), MAX_BYTES, lambda other, _: other == path)
