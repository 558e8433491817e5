"""What can be wrong with a model at some version of the data."""

from __future__ import annotations

from freshview.errors import FreshviewError, FreshviewWarning


class EmptyJoin(FreshviewError):
    """The join, or a group of it, has too few rows for what is asked."""


class SingularSystem(FreshviewError):
    """Some features are linear combinations of others: many models fit equally well."""


class DigitsLost(FreshviewWarning):
    """Few digits of a column's variance are left, and with it of the models of it."""


class NoDigits(FreshviewError):
    """No digit of a column's variance is left."""


class NotConverged(FreshviewWarning):
    """Gradient descent stopped before the gradient was small enough."""
