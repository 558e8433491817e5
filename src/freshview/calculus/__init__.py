"""The ring calculus: the language that every query and every delta is written in."""
