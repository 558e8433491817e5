"""Rings of payloads in C++ headers, as Valeanu 2018 declares them: what a header offers.

struct RingAvg { int count, sum; static RingAvg zero; RingAvg& operator+=(const RingAvg&); };
RingAvg operator*(const RingAvg&, const RingAvg&);
RingAvg operator*(int, const RingAvg&);
RingAvg operator*(double, const RingAvg&);          -- where elements stand beside other numbers
RingAvg f(int postcode) { ... }                     -- a lifting function of one column
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from freshview.calculus.functions import CppRing
from freshview.calculus.types import DOUBLE, INT, Type
from freshview.errors import FreshviewError, UnknownName

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*$", re.MULTILINE)
_DECLARED = re.compile(r"\b(?:struct|class|using)\s+(\w+)\s*(?:[:{]|=|final\b)")
_NEEDED = {
    "operator +=": re.compile(r"\boperator\s*\+="),
    "operator *": re.compile(r"\boperator\s*\*(?!=)"),
    "zero": re.compile(r"\bzero\b"),
}
_WHOLE = r"(?:unsigned\s+|signed\s+)?(?:char|short|int|long|long\s+long|long\s+int)|bool|u?int\d+_t"
_MEMBER = re.compile(rf"(?:const\s+)?(?:std::)?({_WHOLE}|float|double)\s+([^()]+)", re.DOTALL)
_SCALED = re.compile(r"\boperator\s*\*\s*\(\s*(?:const\s+)?(?:double|float|auto|T)\b[^,()]*,")
_TURNED = re.compile(r"\bcommutative\s*(?:=|\{)\s*false\b")


@dataclass(frozen=True)
class Header:
    """A ring that a C++ header declares, and the functions that lift into it, with their arity."""

    ring: CppRing
    functions: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The name of the ring."""
        return self.ring.name

    @property
    def path(self) -> str:
        """The header, as the script names it."""
        return self.ring.path

    def refuse(self, *_: object) -> NoReturn:
        """Say that the functions of a header run where the header is compiled."""
        raise FreshviewError(
            f"the ring {self.name} is defined in C++ in '{self.path}', which only kernels run",
            instead="connect with engine='native', or write the ring as a Python class",
        )


def read_header(path: str, name: str, script: str) -> Header:
    """What a header says of the ring of a name; its path is relative to the script."""
    folder = Path(script).parent if Path(script).is_file() else Path()
    try:
        text = _whole(folder / path, set())
    except (OSError, UnicodeDecodeError) as e:
        raise UnknownName(
            f"the header '{path}' of the type {name} cannot be read",
            instead="name a C++ header, relative to the script; what it includes by quotes is read"
            " relative to it",
        ) from e
    return scan(text, name, path)


def _whole(path: Path, seen: set[Path]) -> str:
    """A header with the headers that it includes by quotes, each once: kernels are built apart."""
    seen.add(path.resolve())

    def included(include: re.Match[str]) -> str:
        other = path.parent / include[1]
        return "" if other.resolve() in seen else _whole(other, seen)

    return _INCLUDE.sub(included, _ONCE.sub("", path.read_text(encoding="utf-8")))


def scan(text: str, name: str, path: str = "ring.hpp") -> Header:
    """The ring of a name in the text of a header.

    >>> header = scan("struct P { int n; static P zero; P& operator+=(P); }; P operator*(P, P);"
    ...              "P f(int x) { return P{x}; }", "P")
    >>> header.functions, [m for m, _ in header.ring.members]
    ((('f', 1),), ['n'])
    """
    code = _COMMENT.sub(" ", text)
    declared = list(dict.fromkeys(_DECLARED.findall(code)))
    if name not in declared:
        there = f"it declares {', '.join(declared)}" if declared else "it declares no type"
        raise UnknownName(f"'{path}' declares no type {name}", instead=f"{there}: use that name")
    for what, pattern in _NEEDED.items():
        if not pattern.search(code):
            raise UnknownName(
                f"the type {name} of '{path}' has no {what}",
                instead="a ring needs zero, operator +=, ring * ring and int * ring",
            )
    declarations = re.findall(rf"\b{re.escape(name)}\s+(\w+)\s*\(([^()]*)\)\s*[{{;]", code)
    functions = {fn: len([p for p in args.split(",") if p.strip()]) for fn, args in declarations}
    ring = CppRing(
        name,
        path,
        text,
        _members(code, name),
        commutative=not _TURNED.search(code),
        scaled=bool(_SCALED.search(code)),
    )
    return Header(ring, tuple(functions.items()))


def _members(code: str, name: str) -> tuple[tuple[str, Type], ...]:
    """The numbers of a struct that anyone may read, in their order.

    >>> [m for m, _ in _members("struct P { long n; double a = 0, q[2]; P(int x) {} };", "P")]
    ['n', 'a', 'q[0]', 'q[1]']
    """
    opened = re.search(rf"\b(struct|class)\s+{re.escape(name)}\b[^;{{]*\{{", code)
    if opened is None:
        return ()
    out: list[tuple[str, Type]] = []
    public = opened[1] == "struct"
    for part in _outer(code[opened.end() :]):
        while label := re.match(r"\s*(public|private|protected)\s*:", part):
            public, part = label[1] == "public", part[label.end() :]
        declared = _MEMBER.fullmatch(part.strip()) if public else None
        if declared is None:
            continue
        t = DOUBLE if declared[1] in ("float", "double") else INT
        for one in declared[2].split(","):
            member = re.match(r"\s*(\w+)\s*(?:\[\s*(\d+)\s*\])?", one)
            if member and member[2]:
                out += [(f"{member[1]}[{i}]", t) for i in range(int(member[2]))]
            elif member:
                out.append((member[1], t))
    return tuple(out)


def _outer(code: str) -> list[str]:
    """The declarations of a struct's body, without what stands in their braces."""
    parts, depth = [""], 1
    for c in code:
        depth += (c == "{") - (c == "}")
        if depth == 0:
            break
        if depth == 1 and c in ";}":
            parts.append("")
        elif depth == 1:
            parts[-1] += c
    return parts
