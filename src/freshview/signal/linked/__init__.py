"""Signal queries whose inputs are views of a database, and whose results are views again."""
