"""The SQL tree as terms of the calculus.

A scalar expression is a `Val` (values/), a condition is a term that is 1 where it holds
(conditions/), a SELECT is a term whose outputs are its columns (select.py). They nest in one
another and meet in the `Env` that is passed along; translate.py puts them together.
"""
