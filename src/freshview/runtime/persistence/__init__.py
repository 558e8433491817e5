"""A database in a folder."""
