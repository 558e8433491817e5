"""Text as the SQL tree, by way of the parser library."""
