"""How to maintain: one frozen value that all passes of the compiler take."""

from __future__ import annotations

from dataclasses import dataclass

from freshview.program.updates import Mode


@dataclass(frozen=True, slots=True)
class DeltaOptions:
    """The choices of the compiler.

    - `mode`: triggers for single rows, or for batches.
    - `depth`: how often deltas are taken of deltas; 0 is naive re-evaluation, 1 is classical IVM
      over stored base relations, None goes on until nothing is left (DBToaster 2014, 8: REP, IVM).
    - `decompose`: parts of a product that share no variable become maps of their own; without it,
      the whole of a delta is one map (DBToaster 2014, 5.1 rule 1; CALC-NO-DECOMPOSITION).
    - `always_update`: maps are maintained by deltas, also where the rule of thumb says to
      recompute (DBToaster 2014, 5.1 and appendix C; HEURISTICS-ALWAYS-UPDATE). A delta past the
      budget of planning is still not taken.
    - `low_cardinality`: relations that are as good as a change in the domain of a nested query:
      rows that do not join with them are not looked at (Nikolic 2016, Fig. 3.5).
    - `project`: stored base relations keep only the columns that the query uses (IVM PROJECT).
    - `caches`: view caches for nested aggregates with input variables.
    - `ordered`: the rows that a LIMIT chooses from are one map, also where they are groups with
      their aggregates: an ordered index gives the first of them without a look at the others, and
      a change of a group moves its row. Sums of doubles are not kept so: what a change adds to one
      need not be what is read later, to the last bit, and its row would not be found again.
    - `cyclic`: a cyclic join keeps its base relations instead of acyclic parts of it, which can
      be much larger than its result (Nikolic 2016, 3.6.1).
    - `inline`: shapes of definitions that are not materialized as one map, but atom by atom.
    - `increment`: pairs of a map and a relation that is followed by deltas although the rule of
      thumb says to recompute (Nikolic 2016, 3.6).
    - `recompute`: pairs that are recomputed although the rule of thumb says to take deltas. The
      map of a pair is given by its name, if the user asks for it, and by the shape of its
      definition, if its cost does.
    """

    mode: Mode = "batch"
    depth: int | None = None
    project: bool = False
    caches: bool = False
    cyclic: bool = False
    inline: frozenset[str] = frozenset()
    increment: frozenset[tuple[str, str]] = frozenset()
    recompute: frozenset[tuple[str, str]] = frozenset()
    decompose: bool = True
    always_update: bool = False
    low_cardinality: frozenset[str] = frozenset()
    ordered: bool = False
