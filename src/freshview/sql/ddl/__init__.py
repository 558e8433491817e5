"""Declarations: streams, tables, types, and where their rows come from."""
