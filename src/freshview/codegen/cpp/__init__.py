"""C++ text: the types of values, expressions of scalar terms, blocks of code."""
