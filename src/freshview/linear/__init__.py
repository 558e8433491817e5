"""Matrix programs maintained through factored deltas (LINVIEW and Lago)."""

from freshview.linear.compile.options import MatrixOptions
from freshview.linear.execute.evaluate import NotConverged, Singular
from freshview.linear.execute.intake import BadUpdate
from freshview.linear.execute.program import Program
from freshview.linear.execute.report import Report
from freshview.linear.language.expression import (
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
from freshview.linear.language.meta import ShapeProblem
from freshview.linear.language.text import read_source
from freshview.linear.library.iteration import iteration, powers, sums_of_powers
from freshview.linear.library.programs import (
    gradient_descent,
    ols,
    pagerank,
    power_iteration,
    reachability,
    ridge,
    shortest_paths,
)
from freshview.linear.linked.labels import BadCell
from freshview.linear.linked.over import Linked, over

__all__ = [
    "BadCell",
    "BadUpdate",
    "Linked",
    "Matrix",
    "MatrixOptions",
    "NotConverged",
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
