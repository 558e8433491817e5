"""Look-ups shared: a record that several statements ask for by the row's columns is found once.

Statements share the scopes that they begin with; a nested sum is computed in a block of its own,
and would look up once more what another has found.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from freshview.codegen.cpp.code import Block, Scope

_BY_ROW = re.compile(r"\w+::\w+\{c\d+(, c\d+)*\}")
"""What a record is looked up by, if that is columns of the row alone."""


def share_lookups(block: Block, written: Collection[str]) -> None:
    """Move look-ups that happen anyway, and more than once, to the beginning of a block.

    In a table that is `written`, records may move.
    """
    scopes_by_lookup: dict[tuple[str, str], list[Scope]] = {}
    sure: set[tuple[str, str]] = set()
    _collect(block, True, scopes_by_lookup, sure)
    lines: list[str] = []
    for (storage, wanted), scopes in scopes_by_lookup.items():
        if len(scopes) > 1 and (storage, wanted) in sure and storage not in written:
            name = f"g{len(lines)}"
            [call] = re.findall(r"if \(const auto\* \w+ = (.+)\) \{", scopes[0].opener)
            lines.append(f"const auto* {name} = {call};")
            for scope in scopes:
                scope.opener = scope.opener.replace(call, name)
    block.items[:0] = lines


def _collect(
    block: Block,
    certain: bool,
    scopes_by_lookup: dict[tuple[str, str], list[Scope]],
    sure: set[tuple[str, str]],
) -> None:
    for item in block.items:
        if isinstance(item, str):
            continue
        match item.key:
            case ("get", str(storage), str(wanted)) if _BY_ROW.fullmatch(wanted):
                scopes_by_lookup.setdefault((storage, wanted), []).append(item)
                if certain:
                    sure.add((storage, wanted))
        # A block without condition is a group, or what computes a local.
        plain = item.opener == "{" or not item.closer
        _collect(item.inside, certain and plain, scopes_by_lookup, sure)
