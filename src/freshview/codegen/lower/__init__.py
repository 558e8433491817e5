"""Lowering: terms and statements of a program to loops over the tables of a layout."""
