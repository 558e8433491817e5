"""Joins inside one joiner: columnar batches in, pairs of row numbers out."""
