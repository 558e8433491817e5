"""Programs on plain dictionaries: the oracle, and the engine that serves while kernels compile."""
