"""The choice of a strategy for a query, and the words that explain it."""
