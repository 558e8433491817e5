"""Online theta joins that re-partition themselves (Squall)."""

from freshview.theta.controller import Policy
from freshview.theta.local.predicate import Band, Comparison, Function
from freshview.theta.metrics import Metrics, prometheus
from freshview.theta.operator.join import ThetaJoin
from freshview.theta.operator.output import Output
from freshview.theta.operator.source import Source
from freshview.theta.schemes import Dynamic, HybridByKey, Ranged, Static, SymmetricHash
from freshview.theta.terms import Mapping, Sizes

__all__ = [
    "Band",
    "Comparison",
    "Dynamic",
    "Function",
    "HybridByKey",
    "Mapping",
    "Metrics",
    "Output",
    "Policy",
    "Ranged",
    "Sizes",
    "Source",
    "Static",
    "SymmetricHash",
    "ThetaJoin",
    "prometheus",
]
