"""Local joins in C++: predicates as generated text, and the stores that are compiled with them."""
