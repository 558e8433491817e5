"""The language of matrix programs: terms, text, expressions, shapes."""
