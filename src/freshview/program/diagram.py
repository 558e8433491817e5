"""A program drawn as a Mermaid flowchart: which change reaches which map, and what it reads."""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.schema import Relation
from freshview.calculus.scope import degree, relations, stored
from freshview.calculus.text import show
from freshview.program.terms import Map, Program

LABEL = 60


def diagram(program: Program) -> str:
    """Relations, maps by the degree of their definition, and queries; the same text every time.

    A thick arrow leads from a relation to the maps that its change updates, a dotted one from
    what is read on the way, a plain one from what a query shows.
    """
    lines = ["flowchart LR"]
    lines.extend(f"  {_id('r', r.name)}{_shape(r)}" for r in program.relations)
    for rank, maps in _ranks(program.maps):
        lines.append(f'  subgraph degree_{rank}["degree {rank}"]')
        lines.extend(f"    {_id('m', m.name)}[{_quoted(_label(m))}]" for m in maps)
        lines.append("  end")
    lines.extend(f"  {_id('q', q.name)}([{_quoted(q.name)}])" for q in program.queries)
    return "\n".join([*lines, *sorted(_edges(program))]) + "\n"


def _shape(r: Relation) -> str:
    """A stream leans; a static table is a drum."""
    return f"[({_quoted(r.name)})]" if r.static else f"[/{_quoted(r.name)}/]"


def _ranks(maps: Iterable[Map]) -> list[tuple[int, list[Map]]]:
    ranks: dict[int, list[Map]] = {}
    for m in maps:
        ranks.setdefault(degree(m.definition), []).append(m)
    return sorted(ranks.items(), key=lambda item: item[0])


def _edges(p: Program) -> set[str]:
    edges: set[str] = set()
    for t in p.triggers:
        for s in t.statements:
            target = _id("m", s.target.name)
            if t.relation:
                edges.add(f"  {_id('r', t.relation)} ==> {target}")
            read = {_id("m", name) for name in stored(s.term)}
            read |= {_id("r", name) for name in relations(s.term)}
            edges |= {f"  {source} -.-> {target}" for source in read - {target}}
    for m in p.maps:
        if m.fill is not None:
            edges |= {f"  {_id('m', name)} -.-> {_id('m', m.name)}" for name in stored(m.fill)}
    for q in p.queries:
        edges |= {f"  {_id('m', name)} --> {_id('q', q.name)}" for name in stored(q.term)}
        edges |= {f"  {_id('r', name)} --> {_id('q', q.name)}" for name in relations(q.term)}
    return edges


def _id(kind: str, name: str) -> str:
    """A name that Mermaid takes: signs that it does not know become their numbers.

    >>> _id("q", "top 3")
    'q_top_32_3'
    """
    plain = "".join(c if c.isalnum() or c == "_" else f"_{ord(c)}_" for c in name)
    return f"{kind}_{plain}"


def _label(m: Map) -> str:
    inputs = f"[{', '.join(c.name for c in m.inputs)}]" if m.inputs else ""
    definition = show(m.definition)
    short = definition if len(definition) <= LABEL else definition[: LABEL - 3] + "..."
    return f"{m.name}{inputs}[{', '.join(c.name for c in m.keys)}] := {short}"


def _quoted(text: str) -> str:
    """A label between quotes; Mermaid writes the signs that it would take for its own as codes."""
    return '"' + text.replace("&", "&amp;").replace('"', "#quot;").replace("<", "&lt;") + '"'
