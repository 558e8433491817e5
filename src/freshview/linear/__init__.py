"""Matrix programs maintained through factored deltas (LINVIEW and Lago)."""

from freshview.linear.evaluate import NotConverged, Singular
from freshview.linear.expression import (
    Matrix,
    above,
    beside,
    diag,
    fill,
    identity,
    inverse,
    iterate,
    matrix,
    ones,
    until,
    zeros,
)
from freshview.linear.intake import BadUpdate
from freshview.linear.labels import BadCell
from freshview.linear.library import (
    gradient_descent,
    ols,
    pagerank,
    power_iteration,
    reachability,
    ridge,
    shortest_paths,
)
from freshview.linear.meta import ShapeProblem
from freshview.linear.models import iteration, powers, sums_of_powers
from freshview.linear.options import Options
from freshview.linear.over import Linked, over
from freshview.linear.program import Program
from freshview.linear.report import Report
from freshview.linear.text import read_source

__all__ = [
    "BadCell",
    "BadUpdate",
    "Linked",
    "Matrix",
    "NotConverged",
    "Options",
    "Program",
    "Report",
    "ShapeProblem",
    "Singular",
    "above",
    "beside",
    "diag",
    "fill",
    "gradient_descent",
    "identity",
    "inverse",
    "iterate",
    "iteration",
    "matrix",
    "ols",
    "ones",
    "over",
    "pagerank",
    "power_iteration",
    "powers",
    "reachability",
    "read_source",
    "ridge",
    "shortest_paths",
    "sums_of_powers",
    "until",
    "zeros",
]
