"""Loops: the functions of a kernel as data, between trigger programs and C++ text."""
