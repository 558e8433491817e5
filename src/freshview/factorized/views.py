"""The views of a program under construction; two equal definitions share one map."""

from __future__ import annotations

from dataclasses import dataclass, field

from freshview.calculus.alpha_equivalence import alike, shape
from freshview.calculus.check import Schema, infer
from freshview.calculus.schema import Column
from freshview.calculus.terms import Expr, View
from freshview.program.terms import Map


@dataclass
class Views:
    """Identical views are stored once (F-IVM 2018, 4), whatever their variables are called."""

    schema: Schema
    declared: list[Map] = field(default_factory=list)
    _by_shape: dict[str, list[Map]] = field(default_factory=dict)

    def view(
        self, definition: Expr, keys: tuple[str, ...], hint: str, *, commutes: bool = True
    ) -> tuple[View, Map | None]:
        """The access to a map of this definition; also the map itself if it is new."""
        for known in self._by_shape.get(shape(definition), ()):
            # Alike terms may differ in the order of their factors.
            same = commutes or known.definition is definition
            names = alike(known.definition, definition) if same else None
            if names is not None and {names[k.name] for k in known.keys} == set(keys):
                return View(known.name, tuple(names[k.name] for k in known.keys)), None
        payload, types = infer(definition, self.schema)
        columns = tuple(Column(k, types[k]) for k in keys)
        new = Map(self._name(hint), columns, payload, definition)
        self.declared.append(new)
        self._by_shape.setdefault(shape(definition), []).append(new)
        return View(new.name, keys), new

    def _name(self, hint: str) -> str:
        used = {m.name for m in self.declared}
        n, name = 1, hint
        while name in used:
            n, name = n + 1, f"{hint}_{n + 1}"
        return name
