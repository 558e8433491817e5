"""Passes over batches: which rows and columns are checked, logged, and computed with."""
