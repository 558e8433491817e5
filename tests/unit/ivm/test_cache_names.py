"""The keys of a view cache are not the parameters of a trigger, whatever their names."""

from __future__ import annotations

from freshview.calculus.check import Schema
from freshview.calculus.text import read, show
from freshview.calculus.types import INT
from freshview.ivm.maps import Maps


def test_keys_are_named_apart_from_parameters() -> None:
    """A row that came was taken for a row of the key d_a, only where both were equal."""
    schema = Schema(relations={"r": (INT, INT)}, maps={"m": ((INT, INT), INT)})
    maps = Maps(schema, params={"d_a", "d_b"})
    definition, fill = read("Sum[d_a](r(d_a, a) * {a < q})"), read("Sum[d_a](m[d_a, a] * {a < q})")
    view, cache = maps.cache(definition, {"q": INT}, fill, "cache", 1)
    assert cache is not None
    assert cache.fill is not None
    assert show(cache.definition) == "Sum[a_1](r(a_1, a) * {a < q})"
    assert show(cache.fill) == "Sum[a_1](m[a_1, a] * {a < q})"
    assert [k.name for k in cache.keys] == ["a_1"]
    assert (view.vars, view.inputs) == (("d_a",), ("q",))
