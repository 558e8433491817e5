"""Passes over loops and layouts, each a function of its own name."""
