"""What categorical columns tell of each other: mutual information, and its Chow-Liu tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from freshview.algebra import Category
from freshview.algebra import Cofactor as Element
from freshview.errors import FreshviewError, TypeProblem
from freshview.models.cofactor import Cofactor
from freshview.models.live import Fitted, Live
from freshview.models.moments import Feature, Matrix, categories


@dataclass(frozen=True, eq=False)
class Information(Fitted):
    """Mutual information in nats at a version; the diagonal holds the entropies."""

    version: int
    names: tuple[str, ...]
    matrix_: Matrix

    def of(self, a: str, b: str) -> float:
        """The mutual information of two columns."""
        return float(self.matrix_[self.names.index(a), self.names.index(b)])


class MutualInformation(Live[Information]):
    """How much each categorical column of a join tells of each other one, in nats.

    `columns` are all the categorical ones of the cofactor unless they are named.

    >>> import freshview as fv
    >>> db = fv.connect()
    >>> _ = db.execute("CREATE STREAM r (a STRING NOT NULL, b STRING NOT NULL)")
    >>> cof = fv.models.Cofactor(db, "SELECT a, b FROM r", categorical=["a", "b"])
    >>> information = MutualInformation(cof)
    >>> db.insert("r", [("x", "u"), ("x", "u"), ("y", "v"), ("y", "v")])
    >>> bool(information.of("a", "b") == np.log(2))
    True
    """

    def __init__(self, cofactor: Cofactor, columns: Iterable[str] | None = None) -> None:
        super().__init__(cofactor)
        self.features = _categorical(cofactor, columns)

    @property
    def matrix_(self) -> Matrix:
        """A row and a column for each of `feature_names_in_`; entropies on the diagonal."""
        return self.now().matrix_

    def of(self, a: str, b: str) -> float:
        """The mutual information of two columns."""
        names = [self.cofactor.feature(x).name for x in (a, b)]
        for name in names:
            if name not in self.feature_names_in_:
                raise FreshviewError(
                    f"'{name}' is not among the columns", instead="add it to the columns"
                )
        return self.now().of(*names)

    def _fit(self, version: int, element: Element, last: Information | None) -> Information:
        return Information(
            version, tuple(f.name for f in self.features), information(element, self.features)
        )

    def __repr__(self) -> str:
        return f"<MutualInformation of {', '.join(f.name for f in self.features)}>"


@dataclass(frozen=True, eq=False)
class Tree(Fitted):
    """A Chow-Liu tree at a version: its edges, those of most information first."""

    version: int
    names: tuple[str, ...]
    edges_: tuple[tuple[str, str], ...]
    weights_: tuple[float, ...]

    def parents(self, root: str) -> dict[str, str | None]:
        """The column above each column if the tree hangs from `root`; parents come first."""
        above: dict[str, str | None] = {root: None}
        waiting = [root]
        while waiting:
            here = waiting.pop(0)
            for edge in self.edges_:
                for a, b in (edge, edge[::-1]):
                    if a == here and b not in above:
                        above[b] = here
                        waiting.append(b)
        return above


class ChowLiu(Live[Tree]):
    """The tree over categorical columns that keeps the most of what they tell of each other.

    A maximum spanning tree by mutual information: of all the distributions in which each column
    depends on one other, it has the one nearest to the data. Ties go to the columns that are
    selected first.

    >>> import freshview as fv
    >>> db = fv.connect()
    >>> _ = db.execute("CREATE STREAM r (a INT NOT NULL, b INT NOT NULL, c INT NOT NULL)")
    >>> tree = ChowLiu(fv.models.Cofactor(db, "SELECT * FROM r", categorical=["a", "b", "c"]))
    >>> db.insert("r", [(0, 0, 0), (0, 0, 0), (1, 1, 0), (1, 1, 1)])
    >>> tree.edges_, tree.now().parents("c")
    ((('a', 'b'), ('a', 'c')), {'c': None, 'a': 'c', 'b': 'a'})
    """

    def __init__(self, cofactor: Cofactor, columns: Iterable[str] | None = None) -> None:
        super().__init__(cofactor)
        self.features = _categorical(cofactor, columns)

    @property
    def edges_(self) -> tuple[tuple[str, str], ...]:
        """Pairs of columns, those of most information first."""
        return self.now().edges_

    @property
    def weights_(self) -> tuple[float, ...]:
        """The mutual information of each edge."""
        return self.now().weights_

    def parents(self, root: str) -> dict[str, str | None]:
        """The column above each column if the tree hangs from `root`."""
        return self.now().parents(self.cofactor.feature(root).name)

    def _fit(self, version: int, element: Element, last: Tree | None) -> Tree:
        names = tuple(f.name for f in self.features)
        edges = spanning_tree(information(element, self.features))
        pairs = tuple((names[i], names[j]) for i, j, _ in edges)
        return Tree(version, names, pairs, tuple(w for _, _, w in edges))

    def __repr__(self) -> str:
        return f"<ChowLiu tree of {', '.join(f.name for f in self.features)}>"


def information(element: Element, features: tuple[Feature, ...]) -> Matrix:
    """The matrix of mutual information: sum over x, y of p(x, y) log(p(x, y) / (p(x) p(y)))."""
    matrix = np.zeros((len(features), len(features)))
    values = [[Category(f.name, x) for x in categories(element, f.name)] for f in features]
    shares = [np.array([float(element.sums[s]) for s in slots]) / element.count for slots in values]
    for i, p in enumerate(shares):
        matrix[i, i] = max(-float(p @ np.log(p)), 0.0)
    for i, j in combinations(range(len(features)), 2):
        rows = [[float(element.product(a, b)) for b in values[j]] for a in values[i]]
        joint = np.array(rows) / element.count
        there = joint > 0
        ratio = joint[there] / np.outer(shares[i], shares[j])[there]
        matrix[i, j] = matrix[j, i] = max(float(joint[there] @ np.log(ratio)), 0.0)
    return matrix


def spanning_tree(weights: Matrix) -> list[tuple[int, int, float]]:
    """The edges of a maximum spanning tree, heaviest first (Kruskal).

    >>> spanning_tree(np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]]))
    [(0, 2, 3.0), (1, 2, 2.0)]
    """
    n = len(weights)
    part = list(range(n))
    edges: list[tuple[int, int, float]] = []
    for i, j in sorted(combinations(range(n), 2), key=lambda e: -weights[e]):
        if part[i] != part[j]:
            edges.append((i, j, float(weights[i, j])))
            part = [part[i] if p == part[j] else p for p in part]
    return edges


def _categorical(cofactor: Cofactor, columns: Iterable[str] | None) -> tuple[Feature, ...]:
    features = cofactor.features(cofactor.categorical if columns is None else columns)
    for f in features:
        if not f.categorical:
            raise TypeProblem(
                f"column '{f.name}' is not categorical",
                instead=f"declare the cofactor with categorical=['{f.name}']",
            )
    if len(features) < 2:
        raise FreshviewError(
            "mutual information needs two categorical columns, "
            f"'{cofactor.name}' has {len(features)}",
            instead="declare the cofactor with categorical=[...]",
        )
    return features
