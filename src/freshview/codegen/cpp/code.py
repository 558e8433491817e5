"""C++ under construction: nested scopes that statements with a common beginning share.

Statements are emitted one after the other into the same tree. A scope or a local constant is
known by what it does (its key), so a second statement that begins with the same loop, look-up or
test goes on inside the one that is there: common subexpressions are found while writing.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

INDENT = "  "


@dataclass
class Scope:
    """An opening line, what stands inside, a closing line; or a local with what computes it."""

    key: Hashable
    opener: str
    closer: str
    inside: Block
    name: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    """Locals to load first, if anything inside mentions them: name, and the whole line."""
    prefetches: dict[str, None] = field(default_factory=dict)
    """What is fetched for a row some turns before its own."""
    later: str = ""
    """The test under which it is, if the opening line does not do it itself."""


@dataclass
class Block:
    """The inside of a scope; `level` numbers its locals, `family` keeps nested numberings apart."""

    level: int = 0
    family: str = ""
    items: list[str | Scope] = field(default_factory=list)

    def fresh(self, kind: str) -> str:
        """A local name that nothing visible here has."""
        self.level += 1
        return f"{kind}{self.family}{self.level}"

    def named(self, name: str) -> Scope:
        """The scope that introduces a name."""
        return next(x for x in self.items if isinstance(x, Scope) and x.name == name)


@dataclass(frozen=True)
class Spot:
    """Where code goes next: a block, and the item after which it must stand."""

    block: Block
    after: int = 0

    def line(self, text: str) -> None:
        """One more line."""
        self.block.items.append(text)

    def open(
        self,
        key: Hashable,
        kind: str,
        opener: str,
        closer: str = "}",
        columns: tuple[tuple[str, str], ...] = (),
    ) -> tuple[str, Spot]:
        """Inside the scope of this key: the one that is there, or a new one.

        `@` in the texts stands for the name of the local that the scope introduces.
        """
        for item in self.block.items[self.after :]:
            if isinstance(item, Scope) and item.key == key:
                return item.name, Spot(item.inside)
        name = self.block.fresh(kind)
        inside = Block(self.block.level, self.block.family)
        self.block.items.append(
            Scope(
                key,
                opener.replace("@", name),
                closer.replace("@", name),
                inside,
                name,
                tuple((n.replace("@", name), t.replace("@", name)) for n, t in columns),
            )
        )
        return name, Spot(inside)

    def let(self, key: Hashable, kind: str, text: str) -> tuple[str, Spot]:
        """A local constant: the one of this key, or a new one; and the spot after it."""
        local = self._local(key)
        if local is not None:
            return local
        name = self.block.fresh(kind)
        self.block.items.append(Scope(key, text.replace("@", name), "", Block(), name))
        return name, Spot(self.block, len(self.block.items) - 1)

    def computed(self, kind: str, opener: str, inside: Block) -> tuple[str, Spot]:
        """A local that a block computes; one that is computed alike is used again."""
        key = ("computed", opener, "\n".join(render(inside)))
        local = self._local(key)
        if local is not None:
            return local
        name = self.block.fresh(kind)
        _rename(inside, name)
        self.block.items.append(Scope(key, opener.replace("@", name), "", inside, name))
        return name, Spot(self.block, len(self.block.items) - 1)

    def _local(self, key: Hashable) -> tuple[str, Spot] | None:
        for i, item in enumerate(self.block.items):
            if isinstance(item, Scope) and item.key == key:
                return item.name, Spot(self.block, max(i, self.after))
        return None


def detached(spot: Spot) -> Block:
    """A block for what computes a local: its names do not depend on where it will stand."""
    depth = spot.block.family.count("_") + 1
    return Block(0, "_" * depth)


def _rename(block: Block, name: str) -> None:
    """Put the name of the local in the place of `@` everywhere inside."""
    for i, item in enumerate(block.items):
        if isinstance(item, str):
            block.items[i] = item.replace("@", name)
        else:
            item.opener = item.opener.replace("@", name)
            item.closer = item.closer.replace("@", name)
            _rename(item.inside, name)


def render(block: Block, depth: int = 0) -> list[str]:
    """The lines of a block."""
    pad = INDENT * depth
    out: list[str] = []
    for item in block.items:
        if isinstance(item, str):
            out.extend(pad + line for line in item.split("\n"))
            continue
        out.append(pad + item.opener)
        if item.later:
            deeper = pad + INDENT
            out.append(f"{deeper}{item.later} {{")
            out.extend(f"{deeper}{INDENT}{line}" for line in item.prefetches)
            out.append(f"{deeper}}}")
        body = render(item.inside, depth + 1)
        if item.columns:
            words = set(re.findall(r"\w+", "\n".join(body)))
            out.extend(pad + INDENT + load for name, load in item.columns if name in words)
        if item.closer:
            out.extend(body)
            out.append(pad + item.closer)
        elif body:
            out.append(pad + "{")
            out.extend(body)
            out.append(pad + "}")
    return out


def join(lines: Sequence[str]) -> str:
    """Lines as text."""
    return "\n".join(lines) + "\n"


def function(name: str, parameters: str, body: Sequence[str], often: bool = False) -> str:
    """A function of a kernel: what it needs of its surroundings, and its body.

    With what does not run `often`, as reading and starting, the compiler need not take pains.
    """
    text = "\n".join(body)
    cold = "" if often else "__attribute__((cold)) "
    lines = [f"{cold}static void {name}(Env& e, {parameters}) {{".replace(", )", ")")]
    lines += ["  State& s = *e.state;"] if re.search(r"\bs\.", text) else []
    checked = re.search(r"\bo\b", text) is not None
    lines += ["  bool o = false;"] if checked else []
    lines += ["  (void)e;"]
    if parameters.startswith("const Batch"):
        lines += ["  (void)b;"]
    scratch = ["  e.scratch.reset();"] if "e.scratch" in text else []
    report = ["  e.overflow |= o;"] if checked else []
    if "Made<" in text:  # what such a local holds goes before the scratch memory is emptied
        body = ["  {", *body, "  }"]
    return join([*lines, *body, *report, *scratch, "}"])


def identifier(name: str) -> str:
    """A name of a program as one of C++: other names are other ones.

    >>> identifier("daily sales"), identifier("daily_U20_sales")
    ('daily_U20_sales', 'daily_U5f_U20_sales')
    """
    return re.sub(r"[^A-Za-z0-9_]|_(?=U)", lambda c: f"_U{ord(c.group()):x}_", name)


def comment(text: str) -> str:
    r"""Text behind // on one line, whatever it is: nothing in it ends the line, or joins the next.

    >>> comment("M[a] += 'x\\\ny'")
    "// M[a] += 'x<5c><a>y'"
    """
    odd = (c if " " <= c <= "~" and c != "\\" else f"<{ord(c):x}>" for c in text)
    return "// " + "".join(odd).replace("??/", "?<3f>/")
