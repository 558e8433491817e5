"""Matrix programs maintained through factored deltas (LINVIEW and Lago)."""

from freshet.linear.evaluate import NotConverged, Singular
from freshet.linear.expression import (
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
from freshet.linear.intake import BadUpdate
from freshet.linear.labels import BadCell
from freshet.linear.library import (
    gradient_descent,
    ols,
    pagerank,
    power_iteration,
    reachability,
    ridge,
    shortest_paths,
)
from freshet.linear.meta import ShapeProblem
from freshet.linear.models import iteration, powers, sums_of_powers
from freshet.linear.options import Options
from freshet.linear.over import Linked, over
from freshet.linear.program import Program
from freshet.linear.report import Report
from freshet.linear.text import read_source

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
