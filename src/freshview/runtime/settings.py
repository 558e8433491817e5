"""What the user of a database may choose, as one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from freshview.codegen.library.compiler import Flags
from freshview.codegen.options import KernelPasses
from freshview.errors import FreshviewError
from freshview.plan.options import PlanOptions, Strategy
from freshview.plan.switches import Switches
from freshview.program.statistics import Statistics
from freshview.program.updates import Mode

if TYPE_CHECKING:
    from freshview.factorized.order import VariableOrder
    from freshview.factorized.products import Groups

EngineName = Literal["native", "reference"]
EngineChoice = Literal["auto", "native", "reference"]
ModeChoice = Literal["auto", "batch", "tuple"]


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """How a database keeps its views, rows and kernels; `connect` tells what each word means.

    >>> DatabaseSettings(engine="fast")
    Traceback (most recent call last):
        ...
    freshview.errors.FreshviewError: there is no engine 'fast'; use one of auto, native, reference
    """

    strategy: Strategy = "auto"
    mode: ModeChoice = "auto"
    strict: bool = False
    engine: EngineChoice = "auto"
    keep_rows: bool = True
    profile: bool = False
    factorise: bool = False
    statistics: Statistics = field(default_factory=Statistics)
    orders: Mapping[str, VariableOrder] = field(default_factory=dict)
    products: Groups = field(default_factory=dict)
    switches: Switches = field(default_factory=Switches)
    share: bool = True

    def __post_init__(self) -> None:
        known = get_args(ModeChoice)
        for name, value, words in (
            ("mode", self.mode, known),
            ("engine", self.engine, get_args(EngineChoice)),
        ):
            if value not in words:
                raise FreshviewError(
                    f"there is no {name} '{value}'", instead=f"use one of {', '.join(words)}"
                )
        if not isinstance(self.statistics, Statistics):
            raise FreshviewError(
                f"statistics cannot be {self.statistics!r}",
                instead="give freshview.Sizes(...)",
            )
        whole = isinstance(self.products, Mapping) and all(
            isinstance(groups, Sequence) and all(isinstance(g, Sequence) for g in groups)
            for groups in self.products.values()
        )
        if not whole:
            raise FreshviewError(
                f"products cannot be {self.products!r}",
                instead="give the groups of columns by stream, as {'r': [('k',), ('v',)]}",
            )
        self.planner_options("batch")  # it knows the strategies and switches

    def planner_options(self, mode: Mode, *, kernel: bool = False) -> PlanOptions:
        """The options of the planner, for triggers of a mode unless the user named one.

        A `kernel` has ordered indexes, and needs no view caches.
        """
        chosen = mode if self.mode == "auto" else self.mode
        return PlanOptions(
            strategy=self.strategy,
            mode=chosen,
            strict=self.strict,
            caches=not kernel,
            ordered=kernel,
            statistics=self.statistics,
            orders=self.orders,
            products=self.products,
            switches=self.switches,
        )

    @property
    def passes(self) -> KernelPasses:
        """What kernels are written with."""
        return KernelPasses(factorise=self.factorise)

    @property
    def flags(self) -> Flags:
        """What kernels are compiled for."""
        return Flags(count=self.profile)
