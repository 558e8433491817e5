"""How to maintain: one frozen value that all passes of the compiler take."""

from __future__ import annotations

from dataclasses import dataclass

from freshview.program.updates import Mode


@dataclass(frozen=True, slots=True)
class DeltaOptions:
    """The choices of the compiler.

    - `mode`: triggers for single rows, or for batches.
    - `depth`: how often deltas are taken of deltas; 0 re-evaluates, 1 is classical IVM over
      stored base relations, None goes on until nothing is left (higher-order).
    - `project`: stored base relations keep only the columns that the query uses (IVM PROJECT).
    - `caches`: view caches for nested aggregates with input variables.
    - `cyclic`: a cyclic join keeps its base relations instead of acyclic parts of it, which can
      be much larger than its result (Nikolic 2016, 3.6.1).
    - `inline`: shapes of definitions that are not materialized as one map, but atom by atom.
    - `increment`: (shape, relation) pairs that are maintained by deltas although the rule of
      thumb says to recompute.
    """

    mode: Mode = "batch"
    depth: int | None = None
    project: bool = False
    caches: bool = False
    cyclic: bool = False
    inline: frozenset[str] = frozenset()
    increment: frozenset[tuple[str, str]] = frozenset()
