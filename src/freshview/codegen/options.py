"""Which passes a kernel is written with: each can be left out, to measure what it gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KernelPasses:
    """Switches of the passes, all on but four, and the names of passes to leave out.

    - `derive`: maps that only say which rows another one has are not kept.
    - `factorise`: a view that is a join of maps which are kept anyway is multiplied when it is
      read. Changes cost less, and reads more.
    - `fuse`: maps over the same rows share a record.
    - `directories`: records lie in the heads of another table's hash index with the same key.
    - `share`: statements with a common beginning share its loops, tests and look-ups; maps with
      common records are recomputed in one walk.
    - `signs`: rows that come and rows that go run through one code, where it differs in signs.
    - `stage`: changes that several statements of a batch need are computed once, where they are
      elements of a ring; and so are sums whose rows would meet other rows one by one.
    - `hoist`: tests run as soon as what they read is bound.
    - `guard`: a factor that is a sum of chosen rows of one table is computed first, and what it is
      multiplied by only where some row was chosen.
    - `select`: tests that all the statements of a trigger share choose the rows to go on with.
    - `preaggregate`: a block of rows that only add to records of one table is added up by key
      first, if it has few keys.
    - `ranges`: sums over ranges use ordered indexes.
    - `running_sums`: a search whose condition asks for the sums beyond an entry carries them along.
    - `prune_sums`: a sum over a range adds up only the payloads that are read.
    - `first_rows`: first rows (MIN, MAX, LIMIT) are read off ordered indexes.
    - `defer`: maps that only queries read, and that would be recomputed from all the data, are
      recomputed when they are read.
    - `listings`: an order that only reads search follows the groups that changed when it is read.
    - `prefetch`: the memory of look-ups by a row's columns is fetched some rows before its turn.
    - `one_write`: sums that are added to one record, each where it is there, are one write.
    - `changes`: a write says first which rows of a query it may change, for those who collect its
      changes. Nobody else pays more than a test for it.
    - `wide`: all decimals have 128 bits, also those with few digits after the point.
    - `parts`: sums of doubles in maps are put out in their parts, for another kernel to go on with.
    - `keys`: declared keys determine their rows. Only for input that is known to keep to them.
    - `skip`: passes to leave out, by their names in `codegen/pipeline.py`.
    """

    derive: bool = True
    factorise: bool = False
    fuse: bool = True
    directories: bool = True
    share: bool = True
    signs: bool = True
    stage: bool = True
    hoist: bool = True
    guard: bool = True
    select: bool = True
    preaggregate: bool = True
    ranges: bool = True
    running_sums: bool = True
    prune_sums: bool = True
    first_rows: bool = True
    defer: bool = True
    listings: bool = True
    prefetch: bool = True
    one_write: bool = True
    changes: bool = True
    wide: bool = False
    parts: bool = False
    keys: bool = False
    skip: frozenset[str] = frozenset()


USUAL_PASSES = KernelPasses()
