"""C++ text as a library of this process: compiled, cached, loaded and called."""
