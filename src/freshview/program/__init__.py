"""Trigger programs: maps, statements, triggers; their text, checks, order, cost and diagram."""
