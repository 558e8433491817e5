"""An ordered index that is searched: which one it is, and what is known of the wanted entries."""

from __future__ import annotations

from dataclasses import dataclass, field

from freshview.calculus.terms import View
from freshview.calculus.types import Type
from freshview.codegen.cpp.code import Spot
from freshview.codegen.cpp.types import Cpp, cpp_type, digits_lost
from freshview.codegen.layout.storage import MapPlace, Sort
from freshview.codegen.terms.access import Access
from freshview.codegen.terms.context import Bound


@dataclass
class IndexSearch:
    """A search among the entries of a map that have given values in leading columns."""

    place: MapPlace
    atom: View
    fixed: tuple[str, ...]
    """Variables of the atom that are bound."""
    groups: tuple[str, ...]
    """Variables for each of whose values there is a search."""
    sorts: tuple[Sort, ...]
    """How entries of the same leading columns sort."""
    entry: str = ""
    tree: str = ""
    known: dict[int, str] = field(default_factory=dict)
    """Wanted values of leading columns."""
    tests: list[str] = field(default_factory=list)
    """What must hold so that there can be such values."""

    def __post_init__(self) -> None:
        storage = self.place.storage
        leading = tuple(Sort(self.column(v)) for v in (*self.fixed, *self.groups))
        number = storage.order(leading + self.sorts)
        self.entry, self.tree = f"Ord{number}_{storage.name}", f"s.{storage.name}_U_o{number}"

    def column(self, v: str) -> int:
        """The column of the record that a variable of the atom stands for."""
        return self.place.columns[self.atom.vars.index(v)]

    def value(self, entry: str, v: str) -> Cpp:
        """A variable of the atom, as an entry of the index has it."""
        t = self.type(v)
        return Cpp(f"{entry}.k{self.column(v)}", t, cpp_type(t))

    def type(self, v: str) -> Type:
        """The type of a variable of the atom."""
        return self.place.key_type(self.atom.vars.index(v))

    def begin(self, tables: Access, spot: Spot, env: Bound, among: bool = False) -> Spot:
        """Where the values of the bound variables are at hand.

        What no entry can have, text that the state does not know or more digits than the column
        has, finds none; `among` others, the search is not all, and `tests` tell.
        """
        look = tables.look if among else tables.seek
        for v in self.fixed:
            self.known[self.column(v)], spot = look(env[v], self.type(v), spot)
            if among and digits_lost(env[v].type, self.type(v)):
                self.tests.append(f"is_{self.known[self.column(v)]}")
        return spot

    def each_group(self, spot: Spot, env: Bound) -> tuple[Spot, Bound]:
        """A loop over the groups of the index, found one after the other by search."""
        lead = [self.column(v) for v in (*self.fixed, *self.groups)]
        later = " ".join(f"if (!same(a.k{i}, b.k{i})) return sorts(a.k{i}, b.k{i});" for i in lead)
        opener = (
            f"each_group(e.arena, {self.tree}, "
            f"[&](const {self.entry}& k) {{ {self.beyond('k')} return false; }}, "
            f"[&](const {self.entry}& k) {{ {self.beyond('k')} return true; }}, "
            f"[&](const {self.entry}& a, const {self.entry}& b) {{ {later} return false; }}, "
            f"[&](const {self.entry}& @) {{"
        )
        key = ("groups", self.tree, tuple(self.known.items()))
        g, spot = spot.open(key, "g", opener, "});")
        bound = dict(env)
        for v in self.groups:
            bound[v] = self.value(g, v)
            self.known[self.column(v)] = bound[v].text
        return spot, bound

    def beyond(self, entry: str) -> str:
        """Entries with other leading columns than the wanted ones stand before or behind them."""
        tests = [
            f"if (!same({entry}.k{i}, {x})) return sorts({entry}.k{i}, {x});"
            for i, x in self.known.items()
        ]
        return " ".join([f"(void){entry};", *tests])
