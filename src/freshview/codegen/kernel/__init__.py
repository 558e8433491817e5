"""A whole kernel: the triggers, statements and queries of a program as functions of one file."""
