"""Models over joins that stay fresh: regression, principal components, mutual information."""

from freshview.models.cofactor import Cofactor
from freshview.models.information import ChowLiu, MutualInformation
from freshview.models.pca import PCA
from freshview.models.problems import DigitsLost, EmptyJoin, NoDigits, NotConverged, SingularSystem
from freshview.models.regression import LinearRegression, Ridge

__all__ = [
    "PCA",
    "ChowLiu",
    "Cofactor",
    "DigitsLost",
    "EmptyJoin",
    "LinearRegression",
    "MutualInformation",
    "NoDigits",
    "NotConverged",
    "Ridge",
    "SingularSystem",
]
