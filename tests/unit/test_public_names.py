"""The names that users import stay what they are, whatever is imported beside them."""

from __future__ import annotations

import pkgutil

import freshview


def test_no_room_takes_the_place_of_a_public_name() -> None:
    rooms = {m.name for m in pkgutil.iter_modules(freshview.__path__)}
    assert rooms & set(freshview.__all__) == {"dataflow", "linear", "models", "signal", "theta"}


def test_every_public_name_is_there() -> None:
    for name in freshview.__all__:
        assert getattr(freshview, name) is getattr(freshview, name)
