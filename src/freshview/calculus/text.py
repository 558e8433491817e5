"""The text of terms: `show` prints, `read` reads back, and read(show(e)) == e.

    Sum[ck](Orders(ck, ok) * M_LI[ok] * {ok < 10})     join, map access, comparison
    (x := Sum[](R(x1) * x1)) * {x > 3}                 assignment of a nested aggregate
    (DELTA R)(x, y)   Exists(...)   Top[g; x desc; 1](...)   {like(name, 'a%')}
    Sum[](R(x, y) * [f: Ring](x))                      a lifting function into a ring

Braces hold what is computed on values: comparisons and functions. A view cache M has its input
variables first: M[p][x, y].
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import assert_never

from freshview.calculus.build import MINUS_ONE, add, const, mul, neg, sub
from freshview.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Op,
    Order,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.tokens import NAMES, Tokens
from freshview.calculus.types import Value
from freshview.errors import SyntaxProblem
from freshview.lexer import LITERALS, unexpected

OPS: dict[str, Op] = {"=": "=", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def show_value(value: Value) -> str:
    """A constant as text.

    >>> show_value(Decimal("1.50")), show_value(2.0), show_value("it's")
    ('1.50', '2.0e0', "'it''s'")
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case float():
            text = repr(value)
            return text if "e" in text or "n" in text else text + "e0"
        case Decimal():
            text = format(value, "f")
            return text if "." in text else text + "."
        case datetime():
            return f"timestamp '{value.isoformat(sep=' ')}'"
        case date():
            return f"date '{value.isoformat()}'"
        case int():
            return str(value)


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9.$]*'?")
_WORDS = frozenset(("Exists", "Sum", "AggSum", "Top", "DELTA", "null", "true", "false"))


def show_name(name: str) -> str:
    """A name as terms have it: between backquotes if it is not a plain one.

    >>> show_name("total"), show_name("daily sales"), show_name("Sum")
    ('total', '`daily sales`', '`Sum`')
    """
    if _PLAIN.fullmatch(name) and name not in _WORDS:
        return name
    return "`" + name.replace("`", "``") + "`"


def show_names(names: Iterable[str]) -> str:
    """Names separated by commas; two dots stand for those that are left out."""
    return ", ".join(n if n == ".." else show_name(n) for n in names)


def show(e: Expr) -> str:
    """A term as text that `read` takes back."""
    return _show(e, 0, braced=False)


def show_factor(e: Expr) -> str:
    """A term as one factor of a product, which `read_factor` takes back.

    >>> from freshview.calculus.build import const
    >>> show_factor(add(Var("x"), Var("y"))), show_factor(const(-1))
    ('(x + y)', '(-1)')
    """
    return _show(e, _ATOM, braced=False)


_ADD, _MUL, _ATOM = 0, 1, 2


def _show(e: Expr, level: int, *, braced: bool) -> str:
    match e:
        case Const(value, _):
            text = show_value(value)
            return f"({text})" if text.startswith("-") and level > _ADD else text
        case Var(name):
            return show_name(name)
        case Rel(name, names):
            return f"{show_name(name)}({show_names(names)})"
        case Delta(name, names):
            return f"(DELTA {show_name(name)})({show_names(names)})"
        case View(name, names, inputs):
            cache = f"[{show_names(inputs)}]" if inputs else ""
            return f"{show_name(name)}{cache}[{show_names(names)}]"
        case Apply(fn, args, named):
            inside = ", ".join(_show(a, _ADD, braced=True) for a in args)
            if named:
                return f"[{fn}: {named}]({inside})"
            text = f"{fn}({inside})"
            return text if braced else "{" + text + "}"
        case Cmp(op, left, right):
            sides = (_show(s, _MUL, braced=True) for s in (left, right))
            text = f" {op} ".join(sides)
            return f"({text})" if braced else "{" + text + "}"
        case Add(terms):
            text = _show(terms[0], _ADD, braced=braced)
            for term in terms[1:]:
                if isinstance(term, Mul) and term.factors[0] == MINUS_ONE:
                    text += " - " + _show(mul(*term.factors[1:]), _MUL, braced=braced)
                else:
                    text += " + " + _show(term, _MUL, braced=braced)
            return f"({text})" if level > _ADD else text
        case Mul(factors) if factors[0] == MINUS_ONE and len(factors) > 1:
            text = "-" + _show(mul(*factors[1:]), _MUL, braced=braced)
            return f"({text})" if level > _ADD else text
        case Mul(factors):
            text = " * ".join(_show(f, _ATOM, braced=braced) for f in factors)
            return f"({text})" if level > _MUL else text
        case Sum(keys, body):
            return f"Sum[{show_names(keys)}]({_show(body, _ADD, braced=False)})"
        case Lift(var, body):
            return f"({show_name(var)} := {_show(body, _ADD, braced=False)})"
        case Exists(body):
            return f"Exists({_show(body, _ADD, braced=False)})"
        case Top(keys, order, limit, body):
            by = ", ".join(map(show_order, order))
            inside = _show(body, _ADD, braced=False)
            return f"Top[{show_names(keys)}; {by}; {limit}]({inside})"
        case _:
            assert_never(e)


def show_order(o: Order) -> str:
    """A variable that rows are ordered by."""
    return show_name(o.var) + " desc" * o.descending + " nulls first" * o.nulls_first


def read(text: str) -> Expr:
    """A term from its text.

    >>> show(read("Sum[a](R(a, b) * b * {b < 3})"))
    'Sum[a](R(a, b) * b * {b < 3})'
    """
    tokens = Tokens(text)
    e = read_term(tokens)
    if tokens.peek().kind != "end":
        extra = tokens.peek()
        raise SyntaxProblem(f"'{extra.text}' is left over after the term", at=extra.place)
    return e


def read_term(tokens: Tokens, *, braced: bool = False) -> Expr:
    """Sums of products."""
    if tokens.accept("-"):
        e = neg(_product(tokens, braced))
    else:
        e = _product(tokens, braced)
    while True:
        if tokens.accept("+"):
            e = add(e, _product(tokens, braced))
        elif tokens.accept("-"):
            e = sub(e, _product(tokens, braced))
        else:
            return e


def read_factor(tokens: Tokens) -> Expr:
    """One factor of a product: a sum or a product only between parentheses."""
    return _atom(tokens, braced=False)


def _product(tokens: Tokens, braced: bool) -> Expr:
    parts = [_atom(tokens, braced)]
    while tokens.accept("*"):
        parts.append(_atom(tokens, braced))
    return mul(*parts) if len(parts) > 1 else parts[0]


def _comparison(tokens: Tokens) -> Expr:
    """Inside braces: a value, or two values and what compares them."""
    left = read_term(tokens, braced=True)
    op = OPS.get(tokens.peek().text)
    if op is None or tokens.peek().kind in LITERALS:
        return left
    tokens.next()
    return Cmp(op, left, read_term(tokens, braced=True))


def _atom(tokens: Tokens, braced: bool) -> Expr:
    token = tokens.peek()
    if token.kind == "number" or token.kind == "string":
        return const(read_constant(tokens))
    if tokens.accept("{"):
        e = _comparison(tokens)
        tokens.expect("}")
        return e
    if tokens.accept("("):
        return _parenthesis(tokens, braced)
    if tokens.accept("["):
        return _lifting(tokens)
    if token.kind not in NAMES:
        raise unexpected(token, "a term")
    word = token.text if token.kind == "name" else ""
    if word in ("null", "true", "false") or (
        word in ("date", "timestamp") and tokens.peek(1).kind == "string"
    ):
        return const(read_constant(tokens))
    name = tokens.name()
    if tokens.peek().text == "(" and tokens.peek().kind == "sign":
        return _call(tokens, name, word, braced)
    if tokens.peek().text == "[" and tokens.peek().kind == "sign":
        return _bracket(tokens, name, word)
    return Var(name)


def _parenthesis(tokens: Tokens, braced: bool) -> Expr:
    here, following = tokens.peek(), tokens.peek(1)
    if (here.kind, here.text) == ("name", "DELTA") and following.kind in NAMES:
        tokens.next()
        name = tokens.name()
        tokens.expect(")")
        tokens.expect("(")
        return Delta(name, tokens.names(")"))
    if here.kind in NAMES and (following.kind, following.text) == ("sign", ":="):
        var = tokens.name()
        tokens.expect(":=")
        body = read_term(tokens)
        tokens.expect(")")
        return Lift(var, body)
    e = _comparison(tokens) if braced else read_term(tokens)
    tokens.expect(")")
    return e


def _call(tokens: Tokens, name: str, word: str, braced: bool) -> Expr:
    tokens.expect("(")
    if word == "Exists" and not braced:
        body = read_term(tokens)
        tokens.expect(")")
        return Exists(body)
    if not braced:
        return Rel(name, tokens.names(")"))
    return Apply(name, _arguments(tokens))


def _arguments(tokens: Tokens) -> tuple[Expr, ...]:
    return tokens.list_of(_comparison, ")")


def _lifting(tokens: Tokens) -> Expr:
    """[f: Ring](x, y), the opening bracket taken."""
    name = tokens.name()
    tokens.expect(":")
    ring = tokens.name()
    tokens.expect("]")
    tokens.expect("(")
    return Apply(name, _arguments(tokens), ring)


def _bracket(tokens: Tokens, name: str, word: str) -> Expr:
    tokens.expect("[")
    if word == "Top":
        return _top(tokens)
    keys = tokens.names("]")
    if word == "Sum":
        tokens.expect("(")
        body = read_term(tokens)
        tokens.expect(")")
        return Sum(keys, body)
    if tokens.accept("["):
        return View(name, tokens.names("]"), keys)
    return View(name, keys)


def _top(tokens: Tokens) -> Expr:
    keys = tokens.names(";")
    order = tokens.list_of(read_order, ";")
    limit = int(tokens.next().text)
    tokens.expect("]")
    tokens.expect("(")
    body = read_term(tokens)
    tokens.expect(")")
    return Top(keys, order, limit, body)


def read_order(tokens: Tokens) -> Order:
    """Take a variable that rows are ordered by."""
    var = tokens.name()
    descending = tokens.accept("desc")
    nulls_first = tokens.accept("nulls")
    if nulls_first:
        tokens.expect("first")
    return Order(var, descending, nulls_first)


def read_constant(tokens: Tokens) -> Value:
    """A literal: 1, 1.50, 1.5e0, 'text', date '...', timestamp '...', true, false, null."""
    if tokens.accept("-"):
        value = read_constant(tokens)
        assert isinstance(value, int | float | Decimal)
        return -value
    token = tokens.next()
    text = token.text
    if token.kind == "string":
        return text[1:-1].replace("''", "'")
    if token.kind == "number":
        if "e" in text or "E" in text:
            return float(text)
        return Decimal(text) if "." in text else int(text)
    words: dict[str, Value] = {"null": None, "true": True, "false": False}
    if text in words:
        return words[text]
    if text in ("date", "timestamp"):
        literal = tokens.next().text[1:-1]
        return date.fromisoformat(literal) if text == "date" else datetime.fromisoformat(literal)
    raise SyntaxProblem(f"expected a constant but found '{text}'", at=token.place)
