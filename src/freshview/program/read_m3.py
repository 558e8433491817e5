"""M3 read back: read_m3(show_m3(listing)) == listing."""

from __future__ import annotations

from freshview.calculus.build import ZERO, add, const, mul, neg, sub
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Apply, Cmp, Delta, Exists, Expr, Lift, Rel, Sum, Var, View
from freshview.calculus.text import OPS, read_constant
from freshview.calculus.tokens import NAMES, Tokens
from freshview.calculus.types import Type, read_type, ring
from freshview.errors import ProgramProblem
from freshview.lexer import unexpected
from freshview.program.listing import WORDS, Listing
from freshview.program.terms import Event, Map, Statement, Trigger
from freshview.program.text import expect_all, read_name


def read_m3(text: str, file: str = "<text>") -> Listing:
    """A listing from its text; an error names its place."""
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
                    raise unexpected(token, "CREATE, DECLARE MAP, DECLARE QUERY or ON")
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
            raise unexpected(path, "the path of a header")
        self.types.append((name, path.text[1:-1]))
        self.tokens.expect(";")

    def _relation(self) -> None:
        kind = self.tokens.next()
        if kind.text not in ("STREAM", "TABLE"):
            raise unexpected(kind, "TYPE, STREAM or TABLE")
        name = self.tokens.name()
        self.tokens.expect("(")
        columns = self.tokens.list_of(lambda t: Column(read_name(t), self._read_type()), ")")
        self.tokens.expect(";")
        self.relations.append(Relation(name, columns, kind.text == "TABLE"))

    def _map(self) -> None:
        self._words("MAP")
        name = self.tokens.name()
        self.tokens.expect("(")
        payload = self._read_type()
        self._words(") [ ] [")
        keys = self.tokens.list_of(self._key, "]")
        self.tokens.expect(":=")
        if self.tokens.peek().text == "0" and self.tokens.peek(1).text == "L":
            self._words("0 L")
            definition: Expr = ZERO
        else:
            definition = self._term()
        self.tokens.expect(";")
        self.maps.append(Map(name, keys, payload, definition))

    def _key(self, tokens: Tokens) -> Column:
        name = tokens.name()
        tokens.expect(":")
        return Column(name, self._read_type())

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
            raise unexpected(word, "BATCH UPDATE OF or SYSTEM READY")
        self.tokens.expect("{")
        statements: list[Statement] = []
        while not self.tokens.accept("}"):
            target = self._access(self.tokens.name())
            op = self.tokens.next()
            if op.text not in ("+=", ":="):
                raise unexpected(op, "+= or :=")
            term = self._term()
            self.tokens.expect(";")
            statements.append(Statement(target, "+=" if op.text == "+=" else ":=", term))
        self.triggers.append(Trigger(event, relation, (), tuple(statements)))

    def _words(self, words: str) -> None:
        expect_all(self.tokens, words)

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
        word = token.text if token.kind == "name" else ""
        literal = word in ("null", "true", "false") or (
            word in ("date", "timestamp") and self.tokens.peek(1).kind == "string"
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
        if token.kind not in NAMES:
            raise unexpected(token, "a term")
        return self._named(self.tokens.name(), word)

    def _comparison(self) -> Expr:
        left = self._term()
        op = self.tokens.next()
        if op.text not in OPS:
            raise unexpected(op, "a comparison")
        right = self._term()
        self.tokens.expect("}")
        return Cmp(OPS[op.text], left, right)

    def _parenthesis(self) -> Expr:
        here, following = self.tokens.peek(), self.tokens.peek(1)
        if (here.kind, here.text) == ("name", "DELTA") and following.kind in NAMES:
            self._words("DELTA")
            name = self.tokens.name()
            self._words(") (")
            return Delta(name, self.tokens.names(")"))
        if here.kind in NAMES and (following.kind, following.text) == ("sign", ":="):
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
        return Apply(fn, self.tokens.list_of(lambda _: self._term(), ")"), into)

    def _named(self, name: str, word: str) -> Expr:
        if word == "AggSum":
            self._words("( [")
            keys = self.tokens.names("]")
            self._words(",")
            body = self._term()
            self._words(")")
            return Sum(keys, body)
        if word == "Exists" and self.tokens.accept("("):
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
            if token.kind == "sign":
                depth += (token.text == "(") - (token.text == ")")
            ahead += 1
            if depth == 0:
                return self.tokens.peek(ahead).text == "["
        return False
