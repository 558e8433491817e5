"""Queries that run: plans become operators, batches become changes of the result."""
