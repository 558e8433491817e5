"""M3 as the seeds print it: read_m3(show_m3(listing)) == listing.

    CREATE TYPE Ring FROM FILE 'ring.hpp';
    CREATE STREAM R(A int, B double);
    DECLARE MAP AGG_VIEW_B(Ring)[][A: int] := AggSum([A], (R(A, B) * [f_B: Ring](B)));
    DECLARE QUERY SUM := AGG_VIEW_A(Ring)[][];
    ON BATCH UPDATE OF R { AGG_VIEW_B(Ring)[][A] += DELTA_AGG_VIEW_B(Ring)[][A]; }

Statements run one after the other, each on what those before it have written: other than in the
programs of `terms.py`, a delta is a map of its own. Functions of values stand as [f](x).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from freshet.calculus.build import ZERO, add, const, is_zero, mul, neg, sub
from freshet.calculus.schema import Column, Relation
from freshet.calculus.scope import is_value
from freshet.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshet.calculus.text import OPS, Token, Tokens, read_constant, show_value
from freshet.calculus.types import DOUBLE, INT, Type, read_type, ring
from freshet.errors import ProgramProblem, SyntaxProblem
from freshet.program.terms import Event, Map, Statement, Trigger
from freshet.program.text import read_name, show_name

WIDTH = 100
STEP = 4
WORDS = {"int": INT, "long": INT, "short": INT, "char": INT, "float": DOUBLE, "double": DOUBLE}
"""The seed's names of numbers, and our types."""


@dataclass(frozen=True)
class Listing:
    """A program of statements that run in order; `queries` names the maps that are results."""

    types: tuple[tuple[str, str], ...]
    relations: tuple[Relation, ...]
    maps: tuple[Map, ...]
    queries: tuple[tuple[str, View], ...]
    triggers: tuple[Trigger, ...]

    def payloads(self) -> dict[str, Type]:
        """The types of the maps' payloads."""
        return {m.name: m.payload for m in self.maps}


def show_m3(p: Listing) -> str:
    """A listing as text."""
    known = p.payloads()
    sections = [
        ("TYPES", [f"CREATE TYPE {n} FROM FILE '{path}';" for n, path in p.types]),
        ("RELATIONS", [_show_relation(r) for r in p.relations]),
        ("MAPS", [_show_map(m, known) for m in p.maps]),
        (
            "QUERIES",
            [f"DECLARE QUERY {show_name(n)} := {show_term(v, known)};" for n, v in p.queries],
        ),
        ("TRIGGERS", [_show_trigger(t, known) for t in p.triggers]),
    ]
    shown = ["\n".join([_rule(title), *lines]) for title, lines in sections if lines]
    return "\n\n".join(shown) + "\n"


def _rule(title: str) -> str:
    return f"-- {title} ".ljust(WIDTH, "-")


def show_type(t: Type, *, payload: bool = False) -> str:
    """A type in the seed's words: rings by their names, counts as long.

    >>> show_type(INT), show_type(INT, payload=True), show_type(ring("Ring"))
    ('int', 'long', 'Ring')
    """
    if t.kind == "ring":
        return t.ring
    return "long" if payload and t == INT else str(t)


def _show_relation(r: Relation) -> str:
    columns = ", ".join(f"{show_name(c.name)} {show_type(c.type)}" for c in r.columns)
    return f"CREATE {'TABLE' if r.static else 'STREAM'} {r.name}({columns});"


def _show_map(m: Map, known: Mapping[str, Type]) -> str:
    keys = ", ".join(f"{c.name}: {show_type(c.type)}" for c in m.keys)
    head = f"DECLARE MAP {m.name}({show_type(m.payload, payload=True)})[][{keys}] :="
    if is_zero(m.definition):
        return f"{head} 0L;"
    return _after(head, m.definition, known, 0)


def _show_trigger(t: Trigger, known: Mapping[str, Type]) -> str:
    head = "ON SYSTEM READY" if t.event == "ready" else f"ON BATCH UPDATE OF {t.relation}"
    lines = [f"{' ' * STEP}{show_statement(s, known, STEP)}" for s in t.statements]
    return "\n".join([f"{head} {{", *lines, "}"])


def show_statement(s: Statement, known: Mapping[str, Type], indent: int = 0) -> str:
    """One statement, over several lines if it is long."""
    return _after(f"{show_term(s.target, known)} {s.op}", s.term, known, indent)


def _after(head: str, term: Expr, known: Mapping[str, Type], indent: int) -> str:
    used = indent + len(head) + len(" ;")
    return f"{head} {_broken(term, known, indent, used)};"


def _broken(e: Expr, known: Mapping[str, Type], indent: int, used: int) -> str:
    """A term over several lines, `used` of the first: what a sum adds up stands on its own."""
    flat = show_term(e, known)
    if used + len(flat) <= WIDTH:
        return flat
    inner = indent + STEP
    match e:
        case Sum(keys, body):
            lines = _broken(body, known, inner, inner)
            return f"AggSum([{', '.join(keys)}],\n{' ' * inner}{lines}\n{' ' * indent})"
        case Mul(parts):
            first = _broken(parts[0], known, indent, indent + 1)
            shown = [first, *(_broken(f, known, inner, inner + 2) for f in parts[1:])]
            lines = f"\n{' ' * inner}* ".join(shown)
            return f"({lines})"
        case _:
            return flat


def show_term(e: Expr, known: Mapping[str, Type]) -> str:
    """A term on one line: products in twos, as the seed writes them.

    >>> from freshet.calculus.text import read
    >>> show_term(read("Sum[A](V[A, B] * [f: Ring](A) * [g: Ring](B))"), {"V": INT})
    'AggSum([A], (V(long)[][A, B] * ([f: Ring](A) * [g: Ring](B))))'
    """

    def shown(x: Expr) -> str:
        return show_term(x, known)

    match e:
        case Const(value, _):
            return show_value(value)
        case Var(name):
            return name
        case Rel(name, names):
            return f"{name}({', '.join(names)})"
        case Delta(name, names):
            return f"(DELTA {name})({', '.join(names)})"
        case View(name, names):
            return f"{name}({show_type(known[name], payload=True)})[][{', '.join(names)}]"
        case Apply(fn, args, into):
            title = f"[{fn}: {into}]" if into else f"[{fn}]"
            return f"{title}({', '.join(map(shown, args))})"
        case Cmp(op, left, right):
            return f"{{{shown(left)} {op} {shown(right)}}}"
        case Add(terms):
            return f"({' + '.join(map(shown, terms))})"
        case Mul(parts):
            return _product(parts, known)
        case Sum(keys, body):
            return f"AggSum([{', '.join(keys)}], {shown(body)})"
        case Lift(var, body):
            return f"({var} := {shown(body)})"
        case Exists(body):
            return f"Exists({shown(body)})"
        case Top():
            raise ProgramProblem("M3 has no first rows", instead="use another strategy")
        case _:
            assert_never(e)


def _product(parts: tuple[Expr, ...], known: Mapping[str, Type]) -> str:
    """Data before functions, each in twos from the left; a number goes with the functions."""
    number = [f for f in parts[:1] if isinstance(f, Const)]
    rest = parts[len(number) :]
    data = [f for f in rest if not is_value(f)]
    if not data or any(is_value(f) for f in rest[: len(data)]):
        return _in_twos([show_term(f, known) for f in parts])
    functions = [show_term(f, known) for f in (*number, *rest[len(data) :])]
    first = _in_twos([show_term(f, known) for f in data])
    return f"({first} * {_in_twos(functions)})" if functions else first


def _in_twos(texts: list[str]) -> str:
    out = texts[0]
    for text in texts[1:]:
        out = f"({out} * {text})"
    return out


def read_m3(text: str, file: str = "<text>") -> Listing:
    """A listing from its text; what is wrong with it is told with its place."""
    return _Reader(Tokens(text, file)).listing()


class _Reader:
    """A cursor over the text, and the types of the rings and maps that were declared."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.types: list[tuple[str, str]] = []
        self.relations: list[Relation] = []
        self.maps: list[Map] = []
        self.queries: list[tuple[str, View]] = []
        self.triggers: list[Trigger] = []

    def listing(self) -> Listing:
        while self.tokens.peek().kind != "end":
            token = self.tokens.next()
            match token.text, self.tokens.peek().text:
                case "CREATE", "TYPE":
                    self._type()
                case "CREATE", _:
                    self._relation()
                case "DECLARE", "MAP":
                    self._map()
                case "DECLARE", "QUERY":
                    self._query()
                case "ON", _:
                    self._trigger()
                case _:
                    raise _unexpected(token, "CREATE, DECLARE MAP, DECLARE QUERY or ON")
        parts = (self.types, self.relations, self.maps, self.queries, self.triggers)
        types, relations, maps, queries, triggers = parts
        self._check()
        return Listing(tuple(types), tuple(relations), tuple(maps), tuple(queries), tuple(triggers))

    def _check(self) -> None:
        """Whatever a statement or a query names must be declared."""
        known = {m.name for m in self.maps}
        targets = [s.target.name for t in self.triggers for s in t.statements]
        for name in (*targets, *(v.name for _, v in self.queries)):
            if name not in known:
                raise ProgramProblem(f"there is no map '{name}'", instead="declare it")

    def _type(self) -> None:
        self._words("TYPE")
        name = self.tokens.name()
        self._words("FROM FILE")
        path = self.tokens.next()
        if path.kind != "string":
            raise _unexpected(path, "the path of a header")
        self.types.append((name, path.text[1:-1]))
        self.tokens.expect(";")

    def _relation(self) -> None:
        kind = self.tokens.next()
        if kind.text not in ("STREAM", "TABLE"):
            raise _unexpected(kind, "TYPE, STREAM or TABLE")
        name = self.tokens.name()
        self.tokens.expect("(")
        columns: list[Column] = []
        while not self.tokens.accept(")"):
            if columns:
                self.tokens.expect(",")
            columns.append(Column(read_name(self.tokens), self._read_type()))
        self.tokens.expect(";")
        self.relations.append(Relation(name, tuple(columns), kind.text == "TABLE"))

    def _map(self) -> None:
        self._words("MAP")
        name = self.tokens.name()
        self.tokens.expect("(")
        payload = self._read_type()
        self._words(") [ ] [")
        keys: list[Column] = []
        while not self.tokens.accept("]"):
            if keys:
                self.tokens.expect(",")
            key = self.tokens.name()
            self.tokens.expect(":")
            keys.append(Column(key, self._read_type()))
        self.tokens.expect(":=")
        if self.tokens.peek().text == "0" and self.tokens.peek(1).text == "L":
            self._words("0 L")
            definition: Expr = ZERO
        else:
            definition = self._term()
        self.tokens.expect(";")
        self.maps.append(Map(name, tuple(keys), payload, definition))

    def _query(self) -> None:
        self._words("QUERY")
        name = read_name(self.tokens)
        self.tokens.expect(":=")
        self.queries.append((name, self._access(self.tokens.name())))
        self.tokens.expect(";")

    def _trigger(self) -> None:
        word = self.tokens.next()
        event: Event
        if word.text == "SYSTEM":
            self._words("READY")
            event, relation = "ready", ""
        elif word.text == "BATCH":
            self._words("UPDATE OF")
            event, relation = "batch", self.tokens.name()
        else:
            raise _unexpected(word, "BATCH UPDATE OF or SYSTEM READY")
        self.tokens.expect("{")
        statements: list[Statement] = []
        while not self.tokens.accept("}"):
            target = self._access(self.tokens.name())
            op = self.tokens.next()
            if op.text not in ("+=", ":="):
                raise _unexpected(op, "+= or :=")
            term = self._term()
            self.tokens.expect(";")
            statements.append(Statement(target, "+=" if op.text == "+=" else ":=", term))
        self.triggers.append(Trigger(event, relation, (), tuple(statements)))

    def _words(self, words: str) -> None:
        for word in words.split():
            self.tokens.expect(word)

    def _read_type(self) -> Type:
        word = self.tokens.name()
        if word in WORDS:
            return WORDS[word]
        if self.tokens.peek().text == "(":  # decimal(2)
            self._words("(")
            word += f"({self.tokens.next().text})"
            self._words(")")
            return read_type(word)
        known = ("date", "timestamp", "bool", "string")
        return read_type(word) if word in known else ring(word)

    def _access(self, name: str) -> View:
        """M(type)[][keys], the name taken."""
        self.tokens.expect("(")
        self._read_type()
        self._words(") [ ] [")
        return View(name, self.tokens.names("]"))

    def _term(self) -> Expr:
        """Sums of products."""
        e = self._product()
        while self.tokens.peek().text in ("+", "-"):
            plus = self.tokens.next().text == "+"
            right = self._product()
            e = add(e, right) if plus else sub(e, right)
        return e

    def _product(self) -> Expr:
        e = self._atom()
        while self.tokens.accept("*"):
            e = mul(e, self._atom())
        return e

    def _atom(self) -> Expr:
        token = self.tokens.peek()
        literal = token.text in ("null", "true", "false") or (
            token.text in ("date", "timestamp") and self.tokens.peek(1).kind == "string"
        )
        if token.kind in ("number", "string") or literal:
            return const(read_constant(self.tokens))
        if self.tokens.accept("-"):
            return neg(self._atom())
        if self.tokens.accept("{"):
            return self._comparison()
        if self.tokens.accept("("):
            return self._parenthesis()
        if self.tokens.accept("["):
            return self._function()
        if token.kind != "name":
            raise _unexpected(token, "a term")
        return self._named(self.tokens.name())

    def _comparison(self) -> Expr:
        left = self._term()
        op = self.tokens.next()
        if op.text not in OPS:
            raise _unexpected(op, "a comparison")
        right = self._term()
        self.tokens.expect("}")
        return Cmp(OPS[op.text], left, right)

    def _parenthesis(self) -> Expr:
        if self.tokens.peek().text == "DELTA" and self.tokens.peek(1).kind == "name":
            self._words("DELTA")
            name = self.tokens.name()
            self._words(") (")
            return Delta(name, self.tokens.names(")"))
        if self.tokens.peek().kind == "name" and self.tokens.peek(1).text == ":=":
            var = self.tokens.name()
            self._words(":=")
            e: Expr = Lift(var, self._term())
        else:
            e = self._term()
        self.tokens.expect(")")
        return e

    def _function(self) -> Expr:
        """[f: Ring](x, ...) or [f](x, ...), the bracket taken."""
        fn = self.tokens.name()
        into = self.tokens.name() if self.tokens.accept(":") else ""
        self._words("] (")
        args: list[Expr] = []
        while not self.tokens.accept(")"):
            if args:
                self.tokens.expect(",")
            args.append(self._term())
        return Apply(fn, tuple(args), into)

    def _named(self, name: str) -> Expr:
        if name == "AggSum":
            self._words("( [")
            keys = self.tokens.names("]")
            self._words(",")
            body = self._term()
            self._words(")")
            return Sum(keys, body)
        if name == "Exists" and self.tokens.accept("("):
            e: Expr = Exists(self._term())
            self._words(")")
            return e
        if self.tokens.peek().text != "(":
            return Var(name)
        if self._is_access():
            return self._access(name)
        self._words("(")
        return Rel(name, self.tokens.names(")"))

    def _is_access(self) -> bool:
        """Whether a bracket follows the parentheses to come: a map, not a relation."""
        depth = ahead = 0
        while (token := self.tokens.peek(ahead)).kind != "end":
            depth += (token.text == "(") - (token.text == ")")
            ahead += 1
            if depth == 0:
                return self.tokens.peek(ahead).text == "["
        return False


def _unexpected(token: Token, wanted: str) -> SyntaxProblem:
    return SyntaxProblem(f"expected {wanted} but found '{token.text}'", at=token.place)
