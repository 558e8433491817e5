"""Databases on both engines."""

from tests.unit.databases import connect, engine, native

__all__ = ["connect", "engine", "native"]
