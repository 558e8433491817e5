"""Sessions of rows, windows of joins, and rows that are final."""
