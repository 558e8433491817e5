"""What a user holds of a view, by its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshview.errors import UnknownName
from freshview.runtime.views.maintained import MaintainedView
from freshview.runtime.views.view import ViewHandle, ViewHost

if TYPE_CHECKING:
    from freshview.runtime.views.factorized import FactorizedView


def handle(db: ViewHost, maintained: MaintainedView) -> ViewHandle:
    """What a user holds of a view."""
    factorized = maintained.query.factorized
    return factorized_handle(db, maintained) if factorized else ViewHandle(db, maintained)


def factorized_handle(db: ViewHost, maintained: MaintainedView) -> FactorizedView:
    """What a user holds of a factorized view; an ordinary one is refused."""
    from freshview.runtime.views.factorized import FactorizedView  # few databases have one

    if not maintained.query.factorized:
        raise UnknownName(
            f"'{maintained.query.name}' is an ordinary view",
            instead="read it with view(), or declare it with CREATE FACTORIZED VIEW",
        )
    return FactorizedView(db, maintained)
