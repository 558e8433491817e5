"""Triggers as functions of a kernel: what a batch of rows does, row by row or as a whole."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from freshview.calculus.build import neg
from freshview.calculus.schema import Relation
from freshview.calculus.types import INT
from freshview.codegen.cpp.code import Block, Spot, function, identifier, render
from freshview.codegen.cpp.types import Cpp, batch_type
from freshview.codegen.kernel.select import select_rows, shared_tests
from freshview.codegen.kernel.stage import stage
from freshview.codegen.kernel.statements import Statements
from freshview.codegen.layout.storage import MapPlace, Storage
from freshview.codegen.options import KernelPasses
from freshview.codegen.terms.context import ONE, Bound
from freshview.codegen.terms.prefetch import PREFETCH_DISTANCE
from freshview.codegen.terms.term import Terms
from freshview.program.signs import MOST, SIGN, both, multiplied
from freshview.program.terms import Program, Statement, Trigger


class Triggers:
    """What writes the triggers of a program.

    A statement on a `late` map runs once a batch, after its rows.
    """

    def __init__(
        self,
        program: Program,
        terms: Terms,
        statements: Statements,
        passes: KernelPasses,
        late: Mapping[str, Statement],
    ) -> None:
        self.program = program
        self.terms = terms
        self.statements = statements
        self.passes = passes
        self.late = late
        self.used: dict[str, set[int]] = {}
        """The columns of each relation that some statement reads."""
        self.after: dict[tuple[str, ...], tuple[str, str]] = {}
        """What recomputes late maps: a function, by its name and as text."""
        self.watched = False
        """Whether the kernel counts deleted rows, since it has cofactors."""

    def relation(self, r: Relation) -> str:
        """The function that takes a batch of a relation."""
        self.terms.trigger = r.name
        if r.static:
            body = self._fill(self.terms.places[r.name]) if r.name in self.terms.places else []
        else:
            body = self._stream(r)
        words = set(re.findall(r"\bcol\d+\b", "\n".join(body)))
        used = {j for j in range(len(r.columns)) if f"col{j}" in words}
        self.used[r.name] = used
        loads = [
            f"  const {t}* col{j} = static_cast<const {t}*>(b.column[{j}]);"
            for j, t in ((j, batch_type(r.types[j])) for j in sorted(used))
        ]
        if self.watched and not r.static:
            loads.append("  count_gone(s.gone, b);")
        return function(f"on_{identifier(r.name)}", "const Batch& b", [*loads, *body], often=True)

    def _fill(self, place: MapPlace) -> list[str]:
        """Rows of the batch added to a table that holds whole rows."""
        s = place.storage
        where = "e.scratch" if s.transient else "e.arena"
        table = s.name if s.transient else f"s.{s.name}"
        keys = ", ".join(
            f"put_text(e, col{j}[i])" if t.kind == "string" else f"col{j}[i]"
            for j, t in enumerate(s.keys)
        )
        return [
            "  for (i64 i = 0; i < b.size; i++) {",
            f"    auto* w = {table}.at({where}, {{{keys}}});",
            "    w->p0 += b.count[i];",
            f"    if (w->empty()) {table}.drop({where}, w);",
            "  }",
        ]

    def _stream(self, r: Relation) -> list[str]:
        triggers = {t.event: t for t in self.program.triggers if t.relation == r.name}
        if "batch" in triggers:
            return self._on_batch(triggers["batch"])
        if "insert" in triggers or "delete" in triggers:
            return self._on_rows(r, triggers.get("insert"), triggers.get("delete"))
        return []

    def _on_batch(self, t: Trigger) -> list[str]:
        self.terms.deltas.clear()
        body = Block()
        statements: Sequence[Statement] = t.statements
        levels: list[Storage] = []
        if self.passes.stage:
            # A number is quicker computed again than put into a table; an element is not.
            shared = any(self._is_of_ring(s) for s in statements)
            tables, statements = stage(statements, shared=shared)
            for local in tables:
                levels.append(self.statements.collect(local, Spot(body), statements))
        self.statements.emit(statements, Spot(body), {}, ONE, params=())
        lines = [f"  {level.table} {level.name}{{}};" for level in levels]
        for place in self.terms.deltas.values():
            lines.append(f"  {place.storage.table} {place.storage.name}{{}};")
            lines += self._fill(place)
        return [*lines, *render(body, 1)]

    def _is_of_ring(self, s: Statement) -> bool:
        return self.terms.places[s.target.name].payload_type.kind == "ring"

    def _on_rows(self, r: Relation, insert: Trigger | None, delete: Trigger | None) -> list[str]:
        loads = tuple(
            (f"c{j}", f"const {batch_type(t)} c{j} = col{j}[i];") for j, t in enumerate(r.types)
        )
        body = Block()
        self.terms.prefetches.clear()
        self.terms.assumed = self._shared_tests(r, [t for t in (insert, delete) if t is not None])
        if self.terms.assumed:
            row = select_rows(Spot(body), sorted(self.terms.assumed), loads)
            later = f"if (const i64 next = j + {PREFETCH_DISTANCE}; next < chosen) {{"
        else:
            _, row = Spot(body).open("row", "", "for (i64 i = 0; i < b.size; i++) {", "}", loads)
            later = f"if (const i64 later = i + {PREFETCH_DISTANCE}; later < b.size) {{"
        if self.passes.keys and r.key:
            row.line("if ((b.count[i] < 0) != deletions) continue;")
        _, fetch = row.open("prefetch", "", later)
        if self.terms.assumed:
            fetch.line("const i64 later = from + rows[next];")
        prefetch = row.block.items[-1]
        self._on_signs(r, insert, delete, row)
        if self.terms.prefetches:
            for line in self.terms.prefetches:
                fetch.line(line)
        else:
            row.block.items.remove(prefetch)
        self.terms.assumed = frozenset()
        lines = render(body, 1)
        after = self._after_rows(
            [*(insert.statements if insert else ()), *(delete.statements if delete else ())]
        )
        if self.passes.keys and r.key:
            # A key gets its new row after the old one is gone, in whatever order they came.
            lines = [
                "  bool some = false;",
                "  for (i64 i = 0; i < b.size; i++) some |= b.count[i] < 0;",
                "  for (bool deletions = some;; deletions = false) {",
                *("  " + line for line in lines),
                "    if (!deletions) break;",
                "  }",
            ]
        return [*lines, *after]

    def _on_signs(
        self, r: Relation, insert: Trigger | None, delete: Trigger | None, row: Spot
    ) -> None:
        """What a row does that comes, and one that goes: by one code if there is one for both."""
        ones, others = (self._now(t) for t in (insert, delete))
        alike = insert and delete and insert.params == delete.params
        together = both(ones, others) if self.passes.signs and alike else None
        if insert is None or together is None:
            self._refuse_many(row)
            for t, test, step in ((insert, "n > 0", "n--"), (delete, "n < 0", "n++")):
                if t is not None:
                    opener = f"for (i64 n = b.count[i]; {test}; {step}) {{"
                    _, inner = row.open(t.event, "", opener)
                    self._on_row(self._now(t), t.params, self._columns(r, t), inner, ONE)
            return
        env = self._columns(r, insert)
        sign = Cpp("sign", INT, "i64")
        reread = self.statements.reads(ones) & self.statements.writes(ones)
        if _opposite(ones, others) and not reread:
            # A program that reads none of what it writes can take a row's multiplicity at once.
            row.line("const i64 sign = b.count[i];")
            self._on_row(ones, insert.params, env, row, sign)
            return
        many = multiplied(ones, others, r.name, {m.name: m for m in self.program.maps})
        if many is not None:
            row.line("const i64 sign = b.count[i];")
            self._on_row(many, insert.params, {**env, SIGN: sign}, row, ONE)
            return
        self._refuse_many(row)
        row.line("const i64 sign = b.count[i] < 0 ? -1 : 1;")
        _, inner = row.open("times", "", "for (i64 n = b.count[i]; n; n -= sign) {")
        self._on_row(together, insert.params, {**env, SIGN: sign}, inner, ONE)

    def _refuse_many(self, row: Spot) -> None:
        """Leave out a row that comes more often than a trigger can run."""
        row.line(f"if (b.count[i] > {MOST} || b.count[i] < -{MOST}) {{ e.many = true; continue; }}")

    def _now(self, t: Trigger | None) -> list[Statement]:
        """The statements that run with each row."""
        return [s for s in t.statements if s.target.name not in self.late] if t else []

    def _shared_tests(self, r: Relation, triggers: Sequence[Trigger]) -> frozenset[str]:
        """The conditions on a row without which no statement does anything."""
        conditions: list[frozenset[str]] = []
        for t in triggers:
            now = [s for s in t.statements if not self._is_put_off(s)]
            if not self.passes.select or any(s.op == ":=" for s in now):
                return frozenset()
            env = self._columns(r, t)
            tests = shared_tests([s.term for s in now], frozenset(t.params))
            conditions.append(frozenset(self.terms.condition(e, env) for e in tests))
        return frozenset.intersection(*conditions) - {"true"}

    def _is_put_off(self, s: Statement) -> bool:
        """Whether a statement is not run with each row; it depends on what the others do."""
        return s.target.name in self.late or s.target.name in self.statements.deferred

    def _after_rows(self, statements: Sequence[Statement]) -> list[str]:
        """Recompute, once a batch, what an index recomputes and only queries read."""
        names = tuple(
            dict.fromkeys(s.target.name for s in statements if s.target.name in self.late)
        )
        if not names:
            return []
        if names not in self.after:
            body = Block()
            self.statements.emit([self.late[name] for name in names], Spot(body), {}, ONE, ())
            name = f"after_{len(self.after)}"
            self.after[names] = name, function(name, "", render(body, 1), often=True)
        return [f"  {self.after[names][0]}(e);"]

    def _on_row(
        self,
        statements: Sequence[Statement],
        params: tuple[str, ...],
        env: Bound,
        spot: Spot,
        m: Cpp,
    ) -> None:
        before = len(self.terms.transients)
        self.statements.emit(statements, spot, env, m, params)
        if len(self.terms.transients) > before:
            spot.line("e.scratch.reset();")

    def _columns(self, r: Relation, t: Trigger) -> Bound:
        """The parameters of a trigger as columns of the row at hand."""
        return {p: Cpp(f"c{j}", r.types[j], batch_type(r.types[j])) for j, p in enumerate(t.params)}

    def ready(self) -> str:
        """The function that runs when the static tables are there."""
        body = Block()
        for t in self.program.triggers:
            if t.event == "ready":
                self.statements.emit(t.statements, Spot(body), {}, ONE, ())
        self.statements.scanning.clear()  # this happens once
        return function("ready", "", render(body, 1))

    def refresh(self) -> str:
        """Recompute what was put off, if anything changed since."""
        body = Block()
        deferred, self.statements.deferred = self.statements.deferred, {}
        if deferred:
            _, spot = Spot(body).open("stale", "", "if (s.stale) {")
            spot.line("s.stale = false;")
            self.statements.emit(list(deferred.values()), spot, {}, ONE, ())
        self.statements.deferred = deferred
        return function("refresh", "", render(body, 1)) if deferred else ""


def _opposite(ones: Sequence[Statement], others: Sequence[Statement]) -> bool:
    """Whether deletion does, row by row, what insertion does, with the sign turned."""
    return all(a.op == "+=" and b.term == neg(a.term) for a, b in zip(ones, others, strict=True))
