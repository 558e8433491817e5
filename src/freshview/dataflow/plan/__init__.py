"""Logical and physical plans: terms, checks, rewriting, estimates, components, text, pictures."""
