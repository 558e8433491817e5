"""Databases on both engines."""

from tests.unit.databases import cache, connect, engine, native

__all__ = ["cache", "connect", "engine", "native"]
