"""Passes over prepared programs: what of a batch is checked, written to the log, and computed."""
