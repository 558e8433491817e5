"""Statements that collect how a batch changes a query, as rows of the driver.

Before a statement changes a map that the query reads, the keys of the query's rows that may change
with it are noted, and the rows of these keys as they are; at the end of the batch the rows are
computed once more:

    change[k] := delta of M;                           before M changes
    touched[k] := Exists(change[k]);
    before[k, s] := Exists(touched[k]) * query;
    M[k] += change[k];
    after[k, s] := Exists(touched[k]) * query;
    changed[k, s] := after[k, s] - before[k, s];       where the maps are
    changes[k, s] := Gather(changed[k, s]);

The keys are those variables of a map that the rows of the query share (`split.py`): all columns,
some, or none, if any row may change. What is noted once is not noted again in the batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from freshview.calculus.build import add, const, exists, mul, neg, sum_
from freshview.calculus.schema import Column, Query
from freshview.calculus.scope import free
from freshview.calculus.terms import Cmp, Expr, Lift, Var, View
from freshview.calculus.types import INT, Type
from freshview.calculus.walk import Names, bottom_up, freshen, rename
from freshview.distributed.changes.home import Atoms, Columns, Home, Placed, home_of
from freshview.distributed.changes.split import Split, visible_atoms
from freshview.distributed.terms import ChangePart, Local, Location, MapPlacement, rekeyed
from freshview.program.query_keys import NotCollected
from freshview.program.terms import Map, Program, Statement


@dataclass(frozen=True)
class Part:
    """A part of a query whose changes are collected, and where that happens."""

    change: ChangePart
    rows: Expr
    atoms: Atoms
    home: Home

    @property
    def columns(self) -> Columns:
        """Its columns."""
        return tuple(c.name for c in self.change.keys)

    def words(self) -> str:
        """How its changes are collected: where, and which rows are looked at."""
        keys = sorted({columns for _, columns in self.atoms if columns})
        whole = sorted({atom.name for atom, columns in self.atoms if not columns and atom.vars})
        total = sorted({atom.name for atom, columns in self.atoms if not columns and not atom.vars})
        words = [f"collected {self.home.words()}"]
        if keys:
            words.append("by " + " and by ".join(", ".join(k) for k in keys))
        if whole or (total and keys):
            words.append(f"all its rows when {' or '.join([*whole, *total])} changes")
        return ", ".join(words)


def part_of(
    query: Query, split: Split, name: str, types: Mapping[str, Type], placed: Placed
) -> Part:
    """A part of a query over placed maps; `name` is that of its rows on the driver."""
    columns = tuple(Column(c, types[c]) for c in split.columns)
    if any(c.type.kind == "ring" for c in columns):
        raise NotCollected("it is computed from elements of a ring")
    atoms = tuple(
        (atom, tuple(c for c in split.columns if c in names))
        for atom, names in visible_atoms(split.rows)
    )
    shown = sum_(tuple(dict.fromkeys(query.vars)), mul(View(name, split.columns), split.shown))
    change = ChangePart(query.name, name, columns, query.vars, shown)
    return Part(change, split.rows, atoms, home_of(atoms, placed))


@dataclass
class Collector:
    """The statements of one routine that collect the changes of a part, among the others."""

    program: Program
    part: Part
    names: Names
    """Of maps."""
    local: Names
    """Of variables."""
    temporaries: list[MapPlacement] = field(default_factory=list)
    touched: dict[Columns, str] = field(default_factory=dict)
    """The maps of the keys that were noted so far, by their columns."""
    rows: list[Expr] = field(default_factory=list)
    """The rows of these keys: as they are now, less those that they were."""

    # -- before a map changes ----------------------------------------------------------------------

    def note(self, statements: Iterable[Statement]) -> list[Statement]:
        """Note the keys that statements touch, and the rows of these."""
        terms: dict[Columns, list[Expr]] = {}
        for s in statements:
            same = [(a, c) for a, c in self.part.atoms if a.name == s.target.name]
            # By the variables of the statement that are the columns: once if they are the same.
            for at, columns in dict.fromkeys((_columns_in(s, a, c), c) for a, c in same):
                terms.setdefault(columns, []).append(self._touches(s, at, columns))
        done: list[Statement] = []
        noted: dict[Columns, str] = {}
        for columns in sorted(terms):
            old = self.touched.get(columns)
            new = () if old is None else (self._not_in(old, columns),)
            keys = mul(add(*terms[columns]), *new)
            name = self._keep(done, "touched", columns, sum_(columns, keys))
            others = [*self.touched.items(), *noted.items()]
            rows = self._rows(done, "before", columns, name, others)
            self.rows.append(neg(rows))
            noted[columns] = name
        for columns, name in noted.items():
            old = self.touched.get(columns)
            if old is not None:
                both = add(View(old, columns), View(name, columns))
                name = self._keep(done, "touched", columns, both)
            self.touched[columns] = name
        return done

    def _touches(self, s: Statement, at: Columns, columns: Columns) -> Expr:
        """The keys at which a statement changes a map, in the columns of the part."""
        change = s.term if s.op == "+=" else add(s.term, neg(s.target))
        keys = sum_(at, exists(change))
        own = freshen(keys, self.local, keep=free(keys))
        return rename(own, dict(zip(at, columns, strict=True)))

    def _not_in(self, touched: str, columns: Columns) -> Expr:
        """1 for the keys that were not noted."""
        n = self.local.fresh("n")
        return mul(Lift(n, View(touched, columns)), Cmp("=", Var(n), const(0)))

    # -- the rows of keys --------------------------------------------------------------------------

    def changes(self) -> list[Statement]:
        """The rows of all noted keys as they are now, and what changed."""
        done: list[Statement] = []
        others: list[tuple[Columns, str]] = []
        if not self.touched:
            return done
        for columns, name in sorted(self.touched.items()):
            self.rows.append(self._rows(done, "after", columns, name, others))
            others.append((columns, name))
        change, term, columns = self.part.change, add(*self.rows), self.part.columns
        if self.part.home.at != Local():  # rows that cancel out stay where they are
            term = View(self._keep(done, "changed", columns, term), columns)
        self.temporaries.append(MapPlacement(change.map, change.keys, INT, Local(), temporary=True))
        done.append(self._set(change.map, columns, term))
        return done

    def _rows(
        self,
        done: list[Statement],
        name: str,
        columns: Columns,
        touched: str,
        others: Iterable[tuple[Columns, str]],
    ) -> View:
        """The rows of some keys, without those that have others of these keys."""
        keys = View(touched, columns)
        apart = [self._not_in(n, k) for k, n in others if k != columns]
        near = self._near(done, keys)
        term = sum_(self.part.columns, mul(exists(keys), near, *apart))
        return View(self._keep(done, name, self.part.columns, term), self.part.columns)

    def _near(self, done: list[Statement], keys: View) -> Expr:
        """The part with its far maps brought near, as far as they have these keys."""
        near: dict[str, str] = {}
        for m in self.program.maps:
            if m.name in self.part.home.far:
                near[m.name] = self._brought(done, m, keys)

        def swap(e: Expr) -> Expr | None:
            return View(near[e.name], e.vars) if isinstance(e, View) and e.name in near else None

        return bottom_up(self.part.rows, swap) if near else self.part.rows

    def _brought(self, done: list[Statement], m: Map, keys: View) -> str:
        """A map at the home of the part: its rows of the given keys."""
        uses = [(a, c) for a, c in self.part.atoms if a.name == m.name]
        atom, shared = uses[0]
        if len(set(uses)) > 1 or len(set(atom.vars)) < len(atom.vars):
            atom = View(m.name, tuple(self.local.fresh(c.name) for c in m.keys))
            shared = ()
        wanted = tuple(c for c in keys.vars if c in shared)
        term = mul(exists(sum_(wanted, keys)), atom) if wanted else atom
        columns = tuple(c.name for c in m.keys)
        at = rekeyed(self.part.home.of(atom.vars), dict(zip(atom.vars, columns, strict=True)))
        name = self.names.fresh(f"{m.name} near")
        self.temporaries.append(MapPlacement(name, m.keys, m.payload, at, temporary=True))
        done.append(self._set(name, atom.vars, term))
        return name

    # -- temporary maps ----------------------------------------------------------------------------

    def _keep(self, done: list[Statement], hint: str, columns: Columns, term: Expr) -> str:
        """A temporary map of counts over some columns of the part, with its statement."""
        name = self.names.fresh(f"{hint} of {self.part.change.query}")
        keys = tuple(c for c in self.part.change.keys if c.name in columns)
        at: Location = self.part.home.of(columns)
        self.temporaries.append(MapPlacement(name, keys, INT, at, temporary=True))
        done.append(self._set(name, columns, term))
        return name

    @staticmethod
    def _set(name: str, columns: Columns, term: Expr) -> Statement:
        return Statement(View(name, columns), ":=", term)


def _columns_in(s: Statement, atom: View, columns: Columns) -> Columns:
    """The variables of a statement's target that are columns of a part."""
    return tuple(s.target.vars[atom.vars.index(c)] for c in columns)


@dataclass
class Collecting:
    """The statements of one routine, with those of collectors; `placed` are the program's maps."""

    program: Program
    collectors: Sequence[Collector]
    placed: Placed
    names: Names
    temporaries: list[MapPlacement] = field(default_factory=list)

    def run(self, triggers: Iterable[Sequence[Statement]]) -> tuple[Statement, ...]:
        """The statements of triggers, one after the other.

        Changes of derived views come first, and then all `+=`, which read the old maps.
        """
        maps = {m.name: m for m in self.program.maps}
        done: list[Statement] = []
        for statements in triggers:
            own = [s for s in statements if not maps[s.target.name].is_change]
            done += [s for s in statements if maps[s.target.name].is_change]
            added = [self._once(done, s, maps) for s in own if s.op == "+="]
            done += [*self._note(added), *added]
            for s in own:
                if s.op == ":=":
                    replaced = self._once(done, s, maps)
                    done += [*self._note([replaced]), replaced]
        return (*done, *(n for c in self.collectors for n in c.changes()))

    def _note(self, statements: Sequence[Statement]) -> list[Statement]:
        return [n for c in self.collectors for n in c.note(statements)]

    def _once(self, done: list[Statement], s: Statement, maps: Mapping[str, Map]) -> Statement:
        """A statement whose term is computed once, before, if somebody wants to know its keys.

        Not sums of doubles: they are exact only within their own map.
        """
        m = maps[s.target.name]
        wanted = any(a.name == m.name for c in self.collectors for a, _ in c.part.atoms)
        if not wanted or m.payload.kind in ("double", "ring"):
            return s
        name = self.names.fresh(f"change of {m.name}")
        columns, at = self.placed[m.name]
        assert columns == tuple(c.name for c in m.keys)
        self.temporaries.append(MapPlacement(name, m.keys, m.payload, at, temporary=True))
        value = View(name, s.target.vars)
        done.append(Statement(value, ":=", s.term))
        return Statement(s.target, s.op, value)
