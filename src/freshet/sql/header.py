"""Rings of payloads in C++ headers, as seed 002 declares them: what a header offers.

struct RingAvg { ...; static RingAvg zero; RingAvg& operator+=(const RingAvg&); };
RingAvg operator*(const RingAvg&, const RingAvg&);
RingAvg operator*(int, const RingAvg&);
RingAvg f(int postcode) { ... }                     -- a lifting function of one column
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from freshet.errors import FreshetError, UnknownName

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DECLARED = re.compile(r"\b(?:struct|class|using)\s+(\w+)\s*(?:[:{]|=|final\b)")
_NEEDED = {
    "operator +=": re.compile(r"\boperator\s*\+="),
    "operator *": re.compile(r"\boperator\s*\*(?!=)"),
    "zero": re.compile(r"\bzero\b"),
}


@dataclass(frozen=True)
class Header:
    """A ring that a C++ header declares, and the functions that lift into it, with their arity."""

    name: str
    path: str
    functions: tuple[tuple[str, int], ...]

    def refuse(self, *_: object) -> NoReturn:
        """Say that the functions of a header run where the header is compiled."""
        raise FreshetError(
            f"the ring {self.name} is C++ of '{self.path}', which no engine of this process runs",
            instead="compile the view to M3 (freshet compile --strategy factorized), or write the"
            " ring as a Python class",
        )


def _find(path: str, script: str) -> Path:
    folder = Path(script).parent if Path(script).is_file() else Path()
    return folder / path


def read_header(path: str, name: str, script: str) -> Header:
    """What a header says of the ring of a name; its path is relative to the script."""
    try:
        text = _find(path, script).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise UnknownName(
            f"the header '{path}' of the type {name} cannot be read",
            instead="name a C++ header, relative to the script",
        ) from e
    return scan(text, name, path)


def scan(text: str, name: str, path: str = "ring.hpp") -> Header:
    """The ring of a name in the text of a header.

    >>> scan("struct P { static P zero; P& operator+=(P); }; P operator*(P, P); P f(int x) {}", "P")
    Header(name='P', path='ring.hpp', functions=(('f', 1),))
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
    found = re.findall(rf"\b{re.escape(name)}\s+(\w+)\s*\(([^()]*)\)\s*[{{;]", code)
    functions = {fn: len([p for p in args.split(",") if p.strip()]) for fn, args in found}
    return Header(name, path, tuple(functions.items()))
