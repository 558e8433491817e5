"""The engine over plain dictionaries that serves a view while its kernel compiles."""
