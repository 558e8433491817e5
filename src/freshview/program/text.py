"""The text of programs, in the manner of M3: read_program(show_program(p)) == p.

    CREATE STREAM R(a int, b decimal(2)?) KEY (a) WATERMARK a DELAY 5;
    DECLARE VIEW v(a int = a) := Sum[a](R(a, b));                  -- read as a relation by maps
    DECLARE MAP Q[a int] : decimal(2) := Sum[a](R(a, b) * b);
    DECLARE MAP C[p int][a int] : int := R(a, p) FILL M[a, p];     -- a view cache: inputs first
    DECLARE QUERY q(a int = a, total decimal(2) = t) := Exists(Q[a]) * (t := Q[a]) ORDER BY t desc;
    ON + R(r_a, r_b) { Q[r_a] += r_b; }
    ON BATCH UPDATE OF R { Q[a] += Sum[a]((DELTA R)(a, b) * b); }

A name that is not a plain one stands between quotes. Comments run from -- to the end of the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from freshview.calculus.pretty_print import WIDTH, after_head, show_term
from freshview.calculus.schema import Column, EventTime, Query, Relation
from freshview.calculus.terms import Expr, Order, View
from freshview.calculus.text import read_order, read_term, show, show_names, show_order
from freshview.calculus.text import show_name as in_term
from freshview.calculus.tokens import Tokens
from freshview.calculus.types import Type, read_type
from freshview.depth import deep
from freshview.lexer import unexpected
from freshview.program.terms import Event, Map, Program, Statement, Trigger

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9.$]*")


@deep
def show_program(p: Program) -> str:
    """A program as text: relations, maps, queries, triggers."""
    sections = [
        ("notes", [f"-- {line}" for note in _notes(p) for line in note.splitlines()]),
        ("relations", [_show_relation(r) for r in p.relations]),
        ("views", [_show_query(q, "VIEW") for q in p.derived]),
        ("maps", [_show_map(m) for m in p.maps]),
        ("queries", [_show_query(q) for q in p.queries]),
        ("triggers", [_show_trigger(t) for t in p.triggers]),
    ]
    return show_sections(sections)


def _notes(p: Program) -> list[str]:
    return [
        *p.notes,
        *(f"{name}: {note}" for name, notes in p.view_notes.items() for note in notes),
    ]


def show_sections(sections: Iterable[tuple[str, list[str]]]) -> str:
    """Sections that have lines, each below a line with its title."""
    shown = [
        "\n".join([f"-- {title} ".ljust(WIDTH, "-"), *lines]) for title, lines in sections if lines
    ]
    return "\n\n".join(shown) + "\n" if shown else ""


def show_name(name: str) -> str:
    """A name, between quotes if it is not a plain one.

    >>> show_name("total"), show_name("sum(x)")
    ('total', "'sum(x)'")
    """
    return name if _PLAIN.fullmatch(name) else "'" + name.replace("'", "''") + "'"


def _show_columns(columns: Iterable[Column]) -> str:
    return ", ".join(f"{show_name(c.name)} {c.type}" for c in columns)


def _show_relation(r: Relation) -> str:
    kind = "TABLE" if r.static else "STREAM"
    key = f" KEY ({', '.join(map(show_name, r.key))})" if r.key else ""
    time = f" WATERMARK {show_name(r.time.column)} DELAY {r.time.delay!r}" if r.time else ""
    return f"CREATE {kind} {show_name(r.name)}({_show_columns(r.columns)}){key}{time};"


def _show_map(m: Map) -> str:
    inputs = f"[{_show_columns(m.inputs)}]" if m.inputs else ""
    head = f"DECLARE MAP {in_term(m.name)}{inputs}[{_show_columns(m.keys)}] : {m.payload} :="
    fill = f"\n  FILL {show_term(m.fill, 7)}" if m.fill is not None else ""
    return f"{_after(head, m.definition, 0, 2)}{fill};"


def _show_query(q: Query, word: str = "QUERY") -> str:
    pairs = zip(q.columns, q.vars, strict=True)
    columns = ", ".join(f"{show_name(c.name)} {c.type} = {in_term(v)}" for c, v in pairs)
    order = f"\n  ORDER BY {', '.join(map(show_order, q.order))}" if q.order else ""
    head = f"DECLARE {word} {show_name(q.name)}({columns}) :="
    return f"{_after(head, q.term, 0, 2)}{order};"


def _show_trigger(t: Trigger) -> str:
    match t.event:
        case "insert" | "delete":
            sign = "+" if t.event == "insert" else "-"
            head = f"ON {sign} {show_name(t.relation)}({show_names(t.params)})"
        case "batch":
            head = f"ON BATCH UPDATE OF {show_name(t.relation)}"
        case "ready":
            head = "ON SYSTEM READY"
    return "\n".join([f"{head} {{", *(f"  {show_statement(s, 2)}" for s in t.statements), "}"])


def show_statement(s: Statement, indent: int = 0) -> str:
    """A statement, over several lines if it is long.

    >>> from freshview.calculus.text import read
    >>> show_statement(Statement(View("Q", ("a",)), "+=", read("b * M[b]")))
    'Q[a] += b * M[b];'
    """
    return _after(f"{show(s.target)} {s.op}", s.term, indent, indent + 2) + ";"


def _after(head: str, term: Expr, column: int, indent: int) -> str:
    return after_head(head, show(term), column, indent)


@deep
def read_program(text: str, file: str = "<text>") -> Program:
    """A program from its text; declarations and triggers may stand in any order."""
    tokens = Tokens(text, file)
    relations: list[Relation] = []
    maps: list[Map] = []
    queries: list[Query] = []
    derived: list[Query] = []
    triggers: list[Trigger] = []
    while tokens.peek().kind != "end":
        token = tokens.next()
        match token.text, tokens.peek().text:
            case "CREATE", _:
                relations.append(_read_relation(tokens))
            case "DECLARE", "MAP":
                maps.append(_read_map(tokens))
            case "DECLARE", "VIEW":
                derived.append(_read_query(tokens, "VIEW"))
            case "DECLARE", "QUERY":
                queries.append(_read_query(tokens, "QUERY"))
            case "ON", _:
                triggers.append(_read_trigger(tokens))
            case _:
                raise unexpected(token, "CREATE, DECLARE MAP, DECLARE VIEW, DECLARE QUERY or ON")
    return Program(
        tuple(relations), tuple(maps), tuple(triggers), tuple(queries), derived=tuple(derived)
    )


def expect_all(tokens: Tokens, words: str) -> None:
    """Take these tokens, one after the other."""
    for word in words.split():
        tokens.expect(word)


def read_name(tokens: Tokens) -> str:
    """Take a name, plain or between quotes."""
    if tokens.peek().kind == "string":
        return tokens.next().text[1:-1].replace("''", "'")
    return tokens.name()


def _read_type(tokens: Tokens) -> Type:
    text = tokens.name()
    if tokens.accept("("):
        text += f"({tokens.next().text})"
        tokens.expect(")")
    return read_type(text + "?" * tokens.accept("?"))


def _read_column(tokens: Tokens) -> Column:
    return Column(read_name(tokens), _read_type(tokens))


def _read_relation(tokens: Tokens) -> Relation:
    kind = tokens.next()
    if kind.text not in ("STREAM", "TABLE"):
        raise unexpected(kind, "STREAM or TABLE")
    name = read_name(tokens)
    tokens.expect("(")
    columns = tokens.list_of(_read_column, ")")
    key: tuple[str, ...] = ()
    if tokens.accept("KEY"):
        tokens.expect("(")
        key = tokens.list_of(read_name, ")")
    time = _read_event_time(tokens) if tokens.accept("WATERMARK") else None
    tokens.expect(";")
    return Relation(name, columns, kind.text == "TABLE", key, time)


def _read_event_time(tokens: Tokens) -> EventTime:
    column = read_name(tokens)
    tokens.expect("DELAY")
    delay = tokens.next().text
    return EventTime(column, int(delay) if delay.isdigit() else float(delay))


def _read_map(tokens: Tokens) -> Map:
    tokens.expect("MAP")
    name = tokens.name()
    tokens.expect("[")
    keys = tokens.list_of(_read_column, "]")
    inputs: tuple[Column, ...] = ()
    if tokens.accept("["):
        inputs, keys = keys, tokens.list_of(_read_column, "]")
    tokens.expect(":")
    payload = _read_type(tokens)
    tokens.expect(":=")
    definition = read_term(tokens)
    fill = read_term(tokens) if tokens.accept("FILL") else None
    tokens.expect(";")
    return Map(name, keys, payload, definition, inputs, fill)


def _read_query(tokens: Tokens, word: str) -> Query:
    tokens.expect(word)
    name = read_name(tokens)
    tokens.expect("(")
    pairs = tokens.list_of(_read_result, ")")
    tokens.expect(":=")
    term = read_term(tokens)
    order: tuple[Order, ...] = ()
    if tokens.accept("ORDER"):
        tokens.expect("BY")
        order = tokens.list_of(read_order, ";")
    else:
        tokens.expect(";")
    return Query(name, tuple(c for c, _ in pairs), tuple(v for _, v in pairs), term, order)


def _read_result(tokens: Tokens) -> tuple[Column, str]:
    column = _read_column(tokens)
    tokens.expect("=")
    return column, tokens.name()


def _read_trigger(tokens: Tokens) -> Trigger:
    sign = tokens.next()
    event: Event
    relation = ""
    params: tuple[str, ...] = ()
    match sign.text:
        case "+" | "-":
            event = "insert" if sign.text == "+" else "delete"
            relation = read_name(tokens)
            tokens.expect("(")
            params = tokens.names(")")
        case "BATCH":
            event = "batch"
            expect_all(tokens, "UPDATE OF")
            relation = read_name(tokens)
        case "SYSTEM":
            event = "ready"
            tokens.expect("READY")
        case _:
            raise unexpected(sign, "+, -, BATCH UPDATE OF or SYSTEM READY")
    tokens.expect("{")
    statements: list[Statement] = []
    while not tokens.accept("}"):
        statements.append(_read_statement(tokens))
    return Trigger(event, relation, params, tuple(statements))


def _read_statement(tokens: Tokens) -> Statement:
    name = tokens.name()
    tokens.expect("[")
    keys = tokens.names("]")
    inputs: tuple[str, ...] = ()
    if tokens.accept("["):
        inputs, keys = keys, tokens.names("]")
    op = tokens.next()
    if op.text not in ("+=", ":="):
        raise unexpected(op, "+= or :=")
    term = read_term(tokens)
    tokens.expect(";")
    return Statement(View(name, keys, inputs), "+=" if op.text == "+=" else ":=", term)
