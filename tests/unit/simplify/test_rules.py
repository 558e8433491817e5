"""Every rewrite rule by examples: fixtures/RULE.txt, before and after, in the calculus's own text.

    # a comment, or an option: `# known: s, t` and `# bound: b` name variables bound outside
    Sum[](R(a) * (x := a) * S(x))
    => Sum[](R(a) * S(a))

Blank lines part the examples. One without `=>` is a term that the rule leaves as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from freshview import simplify
from freshview.calculus.text import read, show

FIXTURES = Path(__file__).parent / "fixtures"
OPTION = re.compile(r"# (known|bound): (.*)")


@dataclass(frozen=True)
class Example:
    rule: str
    before: str
    after: str
    bound: frozenset[str]


def examples() -> Iterator[Example]:
    for path in sorted(FIXTURES.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
            lines = block.splitlines()
            text = "\n".join(line for line in lines if not line.startswith("#"))
            before, _, after = text.partition("=>")
            options = [m[2] for m in map(OPTION.fullmatch, lines) if m]
            bound = frozenset(name.strip() for o in options for name in o.split(","))
            yield Example(path.stem, before.strip(), (after or before).strip(), bound)


@pytest.mark.parametrize("example", list(examples()), ids=lambda x: f"{x.rule}: {x.before}")
def test_a_rule_rewrites(example: Example) -> None:
    e = read(example.before)
    rule = getattr(simplify, example.rule)
    answer = rule(e, example.bound) if example.bound else rule(e)
    assert show(e if answer is None else answer) == example.after


def test_every_rule_has_examples() -> None:
    rules = {rule.__name__ for rule in (*simplify.RULES, *simplify.FINISH)}
    assert rules <= {path.stem for path in FIXTURES.glob("*.txt")}
