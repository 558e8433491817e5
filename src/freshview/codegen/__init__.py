"""Program to C++ text, C++ text to a shared library, the library into this process."""
