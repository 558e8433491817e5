"""How many examples a law is tried on."""

from __future__ import annotations

from hypothesis import settings


def examples(count: int) -> settings:
    """So many in the run that explores; a fifth in the one that draws the same ones every time."""
    exploring = settings.get_current_profile_name() == "explore"
    return settings(max_examples=count if exploring else -(-count // 5))
