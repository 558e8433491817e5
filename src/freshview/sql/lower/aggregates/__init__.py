"""Aggregates of a group of rows, as assignments over copies of the rows."""
