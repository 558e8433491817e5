"""The maps of a program under construction; two equal definitions share one map."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from freshview.calculus.alpha_equivalence import alike, shape
from freshview.calculus.check import Schema, infer
from freshview.calculus.schema import Column
from freshview.calculus.scope import outs
from freshview.calculus.terms import Expr, View
from freshview.calculus.types import Type
from freshview.calculus.walk import rename, variables
from freshview.program.terms import Map

_SUFFIX = re.compile(r"(_\d+|_d)+$")
"""What copies of a term, and domains, add to the names of variables."""


@dataclass
class Maps:
    """A registry with duplicate view elimination up to renaming (DBToaster 2014, 5.1)."""

    schema: Schema
    params: set[str] = field(default_factory=set)
    """Names of trigger variables: a definition never uses them, so deltas cannot capture them."""
    declared: list[Map] = field(default_factory=list)
    level: dict[str, int] = field(default_factory=dict)
    _by_shape: dict[str, list[Map]] = field(default_factory=dict)

    def view(self, definition: Expr, hint: str, level: int) -> tuple[View, Map | None]:
        """The access to a map of this definition; also the map itself if it is new."""
        for known in self._by_shape.get(shape(definition), ()):
            renaming = alike(known.definition, definition)
            if renaming is not None and not known.inputs:
                return View(known.name, tuple(renaming[k.name] for k in known.keys)), None
        names = self._own_names(definition)
        owned = rename(definition, names)
        asked = {new: old for old, new in names.items()}
        payload, types = infer(owned, self.schema)
        keys = tuple(sorted(outs(owned)))
        new = Map(self._name(hint), tuple(Column(k, types[k]) for k in keys), payload, owned)
        self._register(new, level)
        return View(new.name, tuple(asked.get(k, k) for k in keys)), new

    def _own_names(self, definition: Expr) -> dict[str, str]:
        """Plain names for a definition: d_custkey and custkey_1 are custkey here."""
        names: dict[str, str] = {}
        used = set(self.params)
        for old in sorted(variables(definition)):
            plain = _of_param(old) if old in self.params else old
            names[old] = _unused(_SUFFIX.sub("", plain) or old, used)
        return {old: new for old, new in names.items() if old != new}

    def cache(
        self, definition: Expr, inputs: dict[str, Type], fill: Expr, hint: str, level: int
    ) -> tuple[View, Map | None]:
        """The access to a view cache: a map whose definition needs input variables."""
        for known in self._by_shape.get(shape(definition), ()):
            renaming = alike(known.definition, definition)
            if renaming is not None and known.inputs:
                arguments = tuple(renaming[k.name] for k in known.inputs)
                return View(
                    known.name, tuple(renaming[k.name] for k in known.keys), arguments
                ), None
        names = self._apart_from_params(definition, fill)
        asking = {new: old for old, new in names.items()}
        owned = rename(definition, names)
        payload, types = infer(owned, self.schema, inputs)
        keys = tuple(sorted(outs(owned)))
        columns = tuple(Column(k, types[k]) for k in keys)
        arguments = tuple(sorted(inputs))
        asked = tuple(Column(k, inputs[k]) for k in arguments)
        new = Map(self._name(hint), columns, payload, owned, asked, rename(fill, names))
        self._register(new, level)
        return View(new.name, tuple(asking.get(k, k) for k in keys), arguments), new

    def _apart_from_params(self, *terms: Expr) -> dict[str, str]:
        """New names for variables that are called as parameters of triggers: they are others."""
        own = set().union(*map(variables, terms))
        used = own | self.params
        return {old: _unused(_of_param(old), used) for old in sorted(own & self.params)}

    def redefine(self, name: str, definition: Expr) -> None:
        """Give a map an equal definition."""
        at = next(i for i, m in enumerate(self.declared) if m.name == name)
        self.declared[at] = replace(self.declared[at], definition=definition)

    def _register(self, new: Map, level: int) -> None:
        self.declared.append(new)
        self.level[new.name] = level
        self._by_shape.setdefault(shape(new.definition), []).append(new)

    def _name(self, hint: str) -> str:
        used = {m.name for m in self.declared}
        if hint not in used:
            return hint
        n = 2
        while f"{hint}_{n}" in used:
            n += 1
        return f"{hint}_{n}"


def _of_param(name: str) -> str:
    """What a trigger variable is called after."""
    return name.lstrip("_").removeprefix("d_")


def _unused(name: str, used: set[str]) -> str:
    """The name, or the next one by number, that is not used yet; from now on it is."""
    new, n = name, 0
    while new in used:
        n += 1
        new = f"{name}_{n}"
    used.add(new)
    return new
