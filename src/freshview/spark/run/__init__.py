"""Distributed programs on Spark: nodes with their state, steps, jobs, and what drives them."""
