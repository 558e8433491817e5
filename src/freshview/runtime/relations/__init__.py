"""The rows of streams and tables: in dictionaries, in kernels, or not kept."""
