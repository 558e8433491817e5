"""Batches on their way to the log: checked, narrowed, and split by worker."""
