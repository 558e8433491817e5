"""The meaning of terms and of programs, on plain dictionaries: the oracle of all the engines."""
