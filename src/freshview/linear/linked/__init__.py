"""Matrix programs whose inputs are views of a database."""
