"""Where the live page is, and who may see it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServeOptions:
    """The address of the page; without a token one is made up."""

    host: str = "127.0.0.1"
    port: int = 8080
    token: str = ""
    batch: int = 1000
    """Rows of a file in one change."""
