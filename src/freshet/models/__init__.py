"""Models over joins that stay fresh: regression, principal components, mutual information."""

from freshet.models.cofactor import Cofactor
from freshet.models.information import ChowLiu, MutualInformation
from freshet.models.pca import PCA
from freshet.models.problems import DigitsLost, EmptyJoin, NoDigits, NotConverged, SingularSystem
from freshet.models.regression import LinearRegression, Ridge

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
