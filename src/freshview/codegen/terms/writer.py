"""What the parts of a term's code are written with: values, conditions, types and totals.

The recursion over nodes is abstract here: a node that needs the code of its body asks the writer
for it, and `term.py` dispatches on the nodes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from freshview.calculus.build import addends
from freshview.calculus.check import infer
from freshview.calculus.scope import ins
from freshview.calculus.terms import Cmp, Expr, Sum
from freshview.calculus.types import Type
from freshview.codegen.cpp.code import Spot, detached
from freshview.codegen.cpp.compare import compare
from freshview.codegen.cpp.ring_elements import SEEN
from freshview.codegen.cpp.ring_types import CofactorType, RingType, cofactors, header_type
from freshview.codegen.cpp.scalar import scalar
from freshview.codegen.cpp.types import Cpp, cpp_payload_type, gain
from freshview.codegen.terms.access import Access
from freshview.codegen.terms.context import ONE, Bound, Next


class TermWriter(Access, ABC):
    """What writes terms, as the code of a single node sees it."""

    copies = 1
    """How often the code at hand is written."""

    @abstractmethod
    def emit(self, e: Expr, spot: Spot, env: Bound, m: Cpp, k: Next, last: bool = False) -> None:
        """Code that runs `k` for every row of `e`; `last` when `k` does nothing but write."""

    @abstractmethod
    def product(
        self, factors: list[Expr], spot: Spot, env: Bound, m: Cpp, k: Next, last: bool
    ) -> None:
        """Code that runs `k` for every row of a product, factor by factor."""

    @abstractmethod
    def plain_sum(self, e: Sum, spot: Spot, env: Bound, m: Cpp, k: Next, last: bool) -> None:
        """A sum by loops: as a local if its keys are bound, else row by row."""

    def value(self, e: Expr, env: Bound) -> Cpp:
        """A scalar term."""
        return scalar(e, env.__getitem__, self.schema)

    def condition(self, e: Expr, env: Bound) -> str:
        """A scalar term as a C++ condition."""
        if isinstance(e, Cmp):
            return compare(e.op, self.value(e.left, env), self.value(e.right, env))
        return f"truth({self.value(e, env).text})"

    def inside(self, keys: tuple[str, ...], body: Expr, env: Bound) -> Bound:
        """What is bound inside a grouping: its other variables are its own."""
        shared = {*keys, *ins(body)}
        return {v: x for v, x in env.items() if v in shared}

    def total(self, e: Expr, spot: Spot, env: Bound) -> tuple[Cpp, Spot]:
        """The sum of all multiplicities of a term, in a local."""
        t = self.payload(e, env)
        kind = cpp_payload_type(t)
        inside = detached(spot)

        def collect(s: Spot, _: Bound, m: Cpp) -> None:
            s.line(gain("@", t, m))

        for part in addends(e):
            self.emit(part, Spot(inside), env, ONE, collect, last=True)
        if isinstance(t, CofactorType) and t.categories:
            name, spot = spot.computed("t", f"Made<{t.mask}> @(e.scratch);", inside)
            return Cpp(name, t, SEEN), spot
        start = f"{kind} @{t.zero};" if isinstance(t, RingType) else f"{kind} @{{}};"
        name, spot = spot.computed("t", start, inside)
        return Cpp(name, t, kind), spot

    def payload(self, e: Expr, env: Bound) -> Type:
        """The type of a term's multiplicities."""
        t = infer(e, self.schema, {v: x.type for v, x in env.items()})[0]
        if t.kind != "ring":
            return t
        if t.ring in self.schema.functions.headers:
            return header_type(self.schema.functions.headers[t.ring])
        places, bound = self.places, env
        return cofactors(e, lambda name: places[name].payload_type, lambda name: bound[name].type)
