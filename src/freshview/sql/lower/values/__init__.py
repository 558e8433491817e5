"""Scalar expressions as values."""
