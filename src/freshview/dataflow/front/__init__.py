"""The ways to write a plan: functional Python, imperative components, SQL."""
