"""A cursor over the tokens of one statement."""

from __future__ import annotations

from freshview.errors import SyntaxProblem
from freshview.sql.script import Token


class Cursor:
    """A place in the tokens of one statement."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.index = 0

    def peek(self) -> Token:
        """The token to come; behind the last one an empty one."""
        if self.index < len(self.tokens):
            return self.tokens[self.index]
        last = self.tokens[-1]
        return Token("end", "", last.start, last.at)

    def next(self) -> Token:
        """The token to come, taken."""
        token = self.peek()
        self.index += 1
        return token

    def accept(self, *words: str) -> bool:
        """Take the words if all of them come next."""
        ahead = self.tokens[self.index : self.index + len(words)]
        if [t.word for t in ahead] != list(words):
            return False
        self.index += len(words)
        return True

    def expect(self, word: str) -> Token:
        """Take a word that must come."""
        token = self.next()
        if token.word != word:
            raise SyntaxProblem(f"expected {word} but found {shown(token)}", at=token.at)
        return token

    def name(self) -> str:
        """Take a name."""
        token = self.next()
        if token.kind != "word":
            raise SyntaxProblem(f"expected a name but found {shown(token)}", at=token.at)
        return token.text

    def path(self) -> str:
        """Take a name with those of its schema and catalog before it, if they are written."""
        path = self.name()
        while self.accept("."):
            path = f"{path}.{self.name()}"
        return path

    def names(self) -> tuple[str, ...]:
        """Take (name, name, ...)."""
        self.expect("(")
        names = [self.name()]
        while self.accept(","):
            names.append(self.name())
        self.expect(")")
        return tuple(names)


def shown(token: Token) -> str:
    """A token as an error names it."""
    return f"'{token.text}'" if token.text else "the end of the statement"
