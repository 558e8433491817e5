"""Views as code that stands by itself: a program, a library for C, and a package of Python."""
