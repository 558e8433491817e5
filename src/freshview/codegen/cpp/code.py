"""Names, comments and lines that are safe in C++ text."""

from __future__ import annotations

import re
from collections.abc import Sequence

INDENT = "  "
_ODD = re.compile(r"[^ -~]|\\")


def join(lines: Sequence[str]) -> str:
    """Lines as text."""
    return "\n".join(lines) + "\n"


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
    plain = _ODD.sub(lambda c: f"<{ord(c.group()):x}>", text)
    return "// " + plain.replace("??/", "?<3f>/")
