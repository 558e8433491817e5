"""Simulations: the asynchronous protocol message by message, and large grids by counts alone."""
