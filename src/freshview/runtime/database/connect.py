"""A database with the settings that are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from freshview.plan.options import Strategy
from freshview.plan.switches import Switches, read_switches
from freshview.program.statistics import Statistics as Sizes
from freshview.runtime.database.database import Database
from freshview.runtime.settings import DatabaseSettings, EngineChoice, ModeChoice

if TYPE_CHECKING:
    from freshview.factorized.products import Groups


def connect(
    strategy: Strategy = "auto",
    mode: ModeChoice = "auto",
    *,
    engine: EngineChoice = "auto",
    keep_rows: bool = True,
    strict: bool = False,
    profile: bool = False,
    factorise: bool = False,
    statistics: Sizes | None = None,
    products: Groups | None = None,
    switches: Switches | Mapping[str, object] | None = None,
    share: bool = True,
) -> Database:
    """An empty database in this process.

    - `strategy` says how views are kept: `reeval`, `first-order`, `project`, `higher-order`,
      `factorized`, or `auto`, which chooses for each view.
    - `mode` says whether triggers take whole batches or single rows; `auto` takes what suits the
      engine and the view.
    - `engine` says what runs them: `native` compiles a kernel when a view is declared, `reference`
      works on Python dictionaries, and `auto` starts there, or with a kernel from the cache, and
      compiles one in the background once a view has seen 2,000 rows; a change of 50,000 rows or
      more waits for it.
    - `keep_rows=False` does not keep the rows of the streams: less memory and time, but views must
      be declared first, and deletions of what is not there are not noticed.
    - `strict` refuses a view that a change would make recompute, naming the node.
    - `profile` lets kernels count the rows that they look at and write.
    - `factorise` lets kernels multiply a view when it is read, where it is a join of maps that are
      kept anyway: changes cost less, and reads more.
    - `statistics`, as `freshview.Sizes(...)`, tells `auto` what to expect of the data.
    - `products` names streams that change by products, and the columns of each factor, such as
      `{"A": [("row", "value"), ("column", "value")]}`: views over them are kept in view trees,
      where that can be, and `apply` gives these the factors and not the rows.
    - `switches` tells the compiler more than a strategy does, as `{"depth": 2}` or
      `{"always_update": True}`: `freshview.plan.switches.Switches` names them all.
    - `share=False` gives every view a program and a kernel of its own, also where views that read
      common relations would share maps.
    """
    return Database(
        DatabaseSettings(
            strategy,
            mode,
            strict,
            engine,
            keep_rows,
            profile,
            factorise,
            statistics or Sizes(),
            products=products or {},
            switches=read_switches(switches),
            share=share,
        )
    )
