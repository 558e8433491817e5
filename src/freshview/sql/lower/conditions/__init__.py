"""Conditions as terms that are 1 where they hold."""
