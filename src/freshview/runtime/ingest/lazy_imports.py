"""Modules that are imported when they are first asked for something: Arrow takes a while."""

from __future__ import annotations

from importlib import import_module


class Later:
    """A module, imported with the first name that is taken from it.

    >>> Later("math").sqrt(9.0)
    3.0
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)  # found at once from now on
        return value


np = Later("numpy")
pa = Later("pyarrow")
pc = Later("pyarrow.compute")
